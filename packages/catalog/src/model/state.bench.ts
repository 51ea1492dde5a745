import type { SchemaId, TableId } from "@moraine/codec";
import { bench, describe } from "vitest";
import { Session } from "../testing/session.js";
import { registerDataFile } from "../verbs/data-files.js";
import { createTable } from "../verbs/tables.js";
import type { Draft } from "./draft.js";
import { stageCatalogRecords } from "./snapshot-record.js";

const filesOfLargeTable = 100_000;

/** A catalog with a table of many files, in memory only. */
function largeCatalog(): { session: Session; table: TableId } {
  const session = new Session();
  const table = session.commit((draft) =>
    createTable(draft, { schema: 0n as SchemaId, name: "t", columns: [{ name: "a", columnType: "BIGINT" }] }),
  );
  const draft = session.draft();
  for (let n = 0; n < filesOfLargeTable; n++) register(draft, table, n);
  session.land(draft);
  return { session, table };
}

function register(draft: Draft, table: TableId, n: number): void {
  registerDataFile(draft, {
    table,
    file: { path: `f${n}.parquet`, recordCount: 1_000, fileSizeBytes: 65_536, footerSize: 512 },
  });
}

const nowhere = { put: () => undefined, delete: () => undefined };

describe("a table of 100,000 files", () => {
  const { session, table } = largeCatalog();

  bench("commit that adds one file", () => {
    const draft = session.draft();
    register(draft, table, 0);
    stageCatalogRecords(draft, { timeMicros: 0n }, nowhere);
  });

  bench("draft that adds one file, without encoding", () => {
    const draft = session.draft();
    register(draft, table, 0);
    draft.toState(session.state.head, session.state.batchSeq);
  });

  bench("look one file up", () => {
    session.state.get("data_file", table, 54_321n);
  });

  bench("list all files", () => {
    session.state.list("data_file", table);
  });
});
