import { type ColumnId, fromIndexValue } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { Lake } from "../test/support/lake.js";
import { outcomeOf } from "../test/support/errors.js";

const types = {
  k: "BIGINT",
  s: "VARCHAR",
  d: "DECIMAL(10,2)",
  wide: "DECIMAL(38,3)",
  u: "UUID",
  b: "BLOB",
  f: "DOUBLE",
  flag: "BOOLEAN",
  day: "DATE",
} as const;

const rows = [
  {
    k: 1n,
    s: "a",
    d: "1.50",
    wide: "-12345678901234567890.125",
    u: "0191d6a5-1c0f-7b58-8a2e-3f5b6c7d8e9f",
    b: Uint8Array.of(0, 1),
    f: 0.5,
    flag: true,
    day: "2024-02-29",
  },
  { k: 2n, s: null, d: null, wide: null, u: null, b: null, f: null, flag: null, day: null },
  { k: 3n, s: "c", d: "-3.25", wide: "0.001", u: null, b: Uint8Array.of(), f: -1, flag: false, day: "1969-12-31" },
];

describe("entries derived from rows", () => {
  it("reads the same values out of a file and out of inline rows, dead rows left out", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", types);
    const columns: ColumnId[] = [];
    for (const name of Object.keys(types)) columns.push(await lake.columnId(table, name));
    const { dataFileId } = await lake.register(table, [...rows, ...rows]);
    await lake.deleteRows(table, dataFileId, [1]);
    await lake.delete(table, 3n, 4n, 5n);
    await lake.insert(table, ...rows);
    await lake.delete(table, 7n);

    const fromFiles = await lake.catalog.scopedBackfillEntries({ table, columns });
    const inline = await lake.catalog.inlineBackfillEntries({ table, columns });

    const values = rows.map((row) => Object.values(row));
    expect(fromFiles).toEqual([
      { rowId: 0n, values: values[0] },
      { rowId: 2n, values: values[2] },
    ]);
    expect(inline).toEqual([
      { rowId: 6n, values: values[0] },
      { rowId: 8n, values: values[2] },
    ]);
    expect(await lake.catalog.deletedFileRows({ table })).toMatchObject([
      { dataFileId, position: 3n },
      { dataFileId, position: 4n },
      { dataFileId, position: 5n },
    ]);
    // What was derived is what an index takes.
    const index = await lake.commit((tx) =>
      tx.createIndex({ table, name: "all", columns: columns.slice(0, 2), unique: false, backfill: "scoped-read" }),
    );
    expect(await lake.catalog.indexLookup({ index, key: [3n, "c"] })).toEqual([2n, 8n]);
  });

  it("gives the entries of a file before it is registered, in the form that a registration takes", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", types);
    const unique = await lake.index(table, ["k"], { unique: true });
    const text = await lake.index(table, ["s", "d"]);
    const file = await lake.writeFile(table, rows);
    const entries = await lake.catalog.scopedFileIndexEntries({ table, file });
    expect(entries.map(({ index }) => index)).toEqual([unique, text]);
    await lake.commit((tx) => tx.registerDataFile({ table, file, entries }));
    expect(await lake.catalog.indexLookup({ index: unique, key: [3n] })).toEqual([2n]);
    expect(await lake.catalog.indexLookup({ index: text, key: ["a", fromIndexValue("DECIMAL(10,2)", 150n)] })).toEqual([
      0n,
    ]);
    await lake.expectVerified(table);
  });

  it("needs a data path, and columns that are there", async () => {
    const lake = await Lake.open({ dataPath: null });
    const table = await lake.table("t", { k: "BIGINT" });
    const columns = [await lake.columnId(table, "k")];
    expect(await outcomeOf(lake.catalog.scopedBackfillEntries({ table, columns }))).toBe("configuration");
    expect(await lake.catalog.inlineBackfillEntries({ table, columns })).toEqual([]);
    expect(await outcomeOf(lake.catalog.inlineBackfillEntries({ table, columns: [9n as ColumnId] }))).toBe(
      "invalid_argument",
    );
    expect(await outcomeOf(lake.catalog.inlineBackfillEntries({ table, columns: [] }))).toBe("invalid_argument");
  });
});
