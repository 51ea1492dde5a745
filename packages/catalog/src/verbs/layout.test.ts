import type { ColumnId, SchemaId, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { type DataFile, registerDataFile } from "./data-files.js";
import { clearPartitioning, setPartitioning } from "./partitioning.js";
import { clearSorting, setSorting } from "./sorting.js";
import { createTable, dropTable } from "./tables.js";

const main = 0n as SchemaId;
const a = 1n as ColumnId;
const b = 2n as ColumnId;

function start(): { session: Session; table: TableId } {
  const session = new Session();
  const columns = ["a", "b"].map((name) => ({ name, columnType: "BIGINT" }));
  return { session, table: session.commit((draft) => createTable(draft, { schema: main, name: "t", columns })) };
}

const file = (...partitionValues: string[]): DataFile => ({
  path: "f",
  recordCount: 1,
  fileSizeBytes: 1,
  footerSize: 1,
  partitionValues,
});

describe("partitioning", () => {
  it("reads back in declared order, and is absent before", () => {
    const { session, table } = start();
    expect(session.snapshot.partitioningOf(table)).toBeUndefined();
    const columns = [
      { column: b, transform: "bucket(4)" },
      { column: a, transform: "identity" },
    ];
    const id = session.commit((draft) => setPartitioning(draft, { table, columns }));
    expect(session.snapshot.partitioningOf(table)).toEqual({ id, columns });
    expect(session.snapshot.currentSnapshot.schemaVersion).toBe(2n);
  });

  it("keeps an earlier spec readable in the past", () => {
    const { session, table } = start();
    const first = session.commit((draft) =>
      setPartitioning(draft, { table, columns: [{ column: a, transform: "identity" }] }),
    );
    const second = session.commit((draft) =>
      setPartitioning(draft, { table, columns: [{ column: b, transform: "day" }] }),
    );
    expect(session.snapshot.partitioningOf(table)?.id).toBe(second);
    expect(session.at(2n).partitioningOf(table)?.id).toBe(first);
    session.commit((draft) => clearPartitioning(draft, { table }));
    expect(session.snapshot.partitioningOf(table)).toBeUndefined();
    expect(session.at(3n).partitioningOf(table)?.id).toBe(second);
    expect(codeOf(() => clearPartitioning(session.draft(), { table }))).toBe("not_found");
  });

  it("refuses an empty spec, a key twice and a stranger", () => {
    const { session, table } = start();
    const draft = session.draft();
    const key = { column: a, transform: "year" };
    expect(codeOf(() => setPartitioning(draft, { table, columns: [] }))).toBe("invalid_argument");
    expect(codeOf(() => setPartitioning(draft, { table, columns: [key, key] }))).toBe("invalid_argument");
    expect(
      codeOf(() => setPartitioning(draft, { table, columns: [{ column: 9n as ColumnId, transform: "year" }] })),
    ).toBe("not_found");
    expect(draft.isEmpty).toBe(true);
    expect(
      codeOf(() => setPartitioning(draft, { table, columns: [key, { ...key, transform: "month" }] })),
    ).toBeUndefined();
  });

  it("asks each file for one value per key, and an unpartitioned table for none", () => {
    const { session, table } = start();
    expect(codeOf(() => registerDataFile(session.draft(), { table, file: file("x") }))).toBe("constraint");
    const id = session.commit((draft) =>
      setPartitioning(draft, {
        table,
        columns: [
          { column: a, transform: "identity" },
          { column: b, transform: "identity" },
        ],
      }),
    );
    expect(codeOf(() => registerDataFile(session.draft(), { table, file: file("1") }))).toBe("constraint");
    expect(codeOf(() => registerDataFile(session.draft(), { table, file: file("1", "2", "3") }))).toBe("constraint");
    session.commit((draft) => registerDataFile(draft, { table, file: file("1", "2") }));
    session.commit((draft) => setPartitioning(draft, { table, columns: [{ column: a, transform: "identity" }] }));
    expect(session.snapshot.dataFilesOf(table)[0]).toMatchObject({ partitionId: id, partitionValues: ["1", "2"] });
  });

  it("goes with its table", () => {
    const { session, table } = start();
    session.commit((draft) => setPartitioning(draft, { table, columns: [{ column: a, transform: "identity" }] }));
    session.commit((draft) => dropTable(draft, { table }));
    expect(session.state.count("partition")).toBe(0);
  });
});

describe("sorting", () => {
  it("reads back in declared order, with defaults, and leaves the schema version alone", () => {
    const { session, table } = start();
    expect(session.snapshot.sortingOf(table)).toBeUndefined();
    const id = session.commit((draft) =>
      setSorting(draft, {
        table,
        keys: [{ expression: "no_such(column)", direction: "DESC", nullOrder: "NULLS_FIRST" }, { expression: "a" }],
      }),
    );
    expect(session.snapshot.sortingOf(table)).toEqual({
      id,
      keys: [
        { expression: "no_such(column)", dialect: "duckdb", direction: "DESC", nullOrder: "NULLS_FIRST" },
        { expression: "a", dialect: "duckdb", direction: "ASC", nullOrder: "NULLS_LAST" },
      ],
    });
    expect(session.snapshot.currentSnapshot.schemaVersion).toBe(1n);
    expect(session.state.head.changesMade).toBe(`altered_table:${table}`);
  });

  it("keeps the past when it is replaced or cleared", () => {
    const { session, table } = start();
    const first = session.commit((draft) => setSorting(draft, { table, keys: [{ expression: "a" }] }));
    session.commit((draft) => setSorting(draft, { table, keys: [{ expression: "b" }] }));
    session.commit((draft) => clearSorting(draft, { table }));
    expect(session.at(2n).sortingOf(table)?.id).toBe(first);
    expect(session.snapshot.sortingOf(table)).toBeUndefined();
    expect(codeOf(() => clearSorting(session.draft(), { table }))).toBe("not_found");
  });

  it("refuses an empty spec, an absent table and unknown words", () => {
    const { session, table } = start();
    const draft = session.draft();
    expect(codeOf(() => setSorting(draft, { table, keys: [] }))).toBe("invalid_argument");
    expect(codeOf(() => setSorting(draft, { table: 99n as TableId, keys: [{ expression: "a" }] }))).toBe("not_found");
    expect(codeOf(() => setSorting(draft, { table, keys: [{ expression: "a", direction: "down" as "DESC" }] }))).toBe(
      "invalid_argument",
    );
    expect(draft.isEmpty).toBe(true);
  });

  it("goes with its table", () => {
    const { session, table } = start();
    session.commit((draft) => setSorting(draft, { table, keys: [{ expression: "a" }] }));
    session.commit((draft) => dropTable(draft, { table }));
    expect(session.state.count("sort")).toBe(0);
  });
});
