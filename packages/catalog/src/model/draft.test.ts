import { SchemaValue, TableStatsValue } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { Draft, type StagedOperation } from "./draft.js";

const schema = (schemaId: bigint, schemaName: string): SchemaValue => ({
  ...SchemaValue.defaults,
  schemaId,
  schemaName,
});
const stats = (tableId: bigint, recordCount: bigint): TableStatsValue => ({
  ...TableStatsValue.defaults,
  tableId,
  recordCount,
});

describe("a draft", () => {
  it("sees its own writes, and nobody else does", () => {
    const session = new Session();
    const [one, two] = [session.draft(), session.draft()];
    one.put("schema", [5n], schema(5n, "s"));
    expect(one.schemaByName("s")?.schemaId).toBe(5n);
    expect(two.schemaByName("s")).toBeUndefined();
    expect(session.state.schemaByName("s")).toBeUndefined();
  });

  it("tells net changes: several of one entity as one, by kind and id", () => {
    const draft = new Session().draft();
    draft.put("table_stats", [9n], stats(9n, 1n));
    draft.put("table_stats", [2n], stats(2n, 1n));
    draft.put("table_stats", [2n], stats(2n, 2n));
    draft.put("schema", [0n], schema(0n, "other"));
    expect(
      draft.entityChanges().map(({ kind, ids, before, after }) => [kind, ids, before !== undefined, after]),
    ).toEqual([
      ["schema", [0n], true, schema(0n, "other")],
      ["table_stats", [2n], false, stats(2n, 2n)],
      ["table_stats", [9n], false, stats(9n, 1n)],
    ]);
  });

  it("forgets what was made and removed, and what is equal to what was there", () => {
    const session = new Session();
    const draft = session.draft();
    draft.put("schema", [5n], schema(5n, "s"));
    draft.remove("schema", [5n]);
    const main = session.state.get("schema", 0n);
    if (main === undefined) throw new Error("no main");
    draft.put("schema", [0n], schema(0n, "x"));
    draft.put("schema", [0n], { ...main });
    expect(draft.entityChanges()).toEqual([]);
    expect(draft.isEmpty).toBe(true);
  });

  it("does not remove what is not there", () => {
    expect(codeOf(() => new Session().draft().remove("table", [1n]))).toBe("not_found");
  });

  it("is as it was when a verb of several steps fails", () => {
    const draft = new Session().draft();
    draft.put("schema", [5n], schema(5n, "kept"));
    draft.record({ op: "create_schema", name: "kept" });
    const failing = (): void =>
      draft.atomically(() => {
        draft.put("schema", [5n], schema(5n, "lost"));
        draft.put("schema", [draft.allocateCatalogId()], schema(1n, "new"));
        draft.putGcFile({ dataFileId: 1n, path: "f", pathIsRelative: true, scheduleStartMicros: 0n });
        draft.record({ op: "stats" });
        draft.inlineOps.push({ kind: "insert" });
        draft.indexOps.push({ kind: "entries" });
        throw new RangeError("stop");
      });
    expect(failing).toThrow(RangeError);
    expect(draft.list("schema").map((value) => value.schemaName)).toEqual(["main", "kept"]);
    expect(draft.changes.toText()).toBe('created_schema:"kept"');
    expect([draft.nextCatalogId, draft.inlineOps.length, draft.indexOps.length, draft.gcFiles().length]).toEqual([
      1n,
      0,
      0,
      0,
    ]);
    expect(draft.atomically(() => 7)).toBe(7);
  });

  it("counts as work when it holds operations for the engine alone", () => {
    interface Insert extends StagedOperation {
      readonly kind: "insert";
      readonly rows: number;
    }
    const draft = new Draft<Insert>(new Session().state, { newUuid: () => "u" });
    expect(draft.isEmpty).toBe(true);
    draft.inlineOps.push({ kind: "insert", rows: 3 });
    expect(draft.isEmpty).toBe(false);
  });

  it("makes no snapshot for scheduled deletions, and tells them net", () => {
    const session = new Session();
    const file = { dataFileId: 1n, path: "f", pathIsRelative: true, scheduleStartMicros: -5n };
    const draft = session.draft();
    draft.putGcFile(file);
    draft.putGcFile({ ...file, dataFileId: 2n });
    draft.removeGcFile(2n);
    expect(draft.gcChanges()).toEqual([{ dataFileId: 1n, before: undefined, after: file }]);
    expect(draft.mintsSnapshot).toBe(false);
    session.land(draft);
    expect(session.state.head.snapshotId).toBe(0n);
    expect(session.snapshot.scheduledDeletions()).toEqual([file]);
    session.commit((next) => next.removeGcFile(1n));
    expect(session.snapshot.scheduledDeletions()).toEqual([]);
    expect(session.records.head().gcFiles()).toEqual([]);
  });

  it("hands its row ids out one after the other", () => {
    const draft = new Session().draft();
    expect([draft.addRows(1n, 3n, 10n), draft.addRows(1n, 2n, 5n), draft.addRows(2n, 0n, 1n)]).toEqual([0n, 3n, 0n]);
    expect(draft.tableStats(1n)).toEqual({ tableId: 1n, recordCount: 5n, nextRowId: 5n, fileSizeBytes: 15n });
  });
});
