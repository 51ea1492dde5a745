import type { IndexId, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import type { FileIndexEntry, PlainRow } from "../../src/index.js";
import { failureOf } from "../support/errors.js";
import { indexEntriesIn, indexWritesIn } from "../support/hooked-store.js";
import { storedEntries } from "../support/index-oracle.js";
import { Lake } from "../support/lake.js";

// The report's 60,000 rows in the long form; every internal window is crossed many times by fewer.
const largeFileRows = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 5_000 : 60_000;

describe("uniqueness inside one commit", () => {
  it("S01 a value inserted, deleted and inserted again belongs to the last row", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { id: "VARCHAR" });
    const unique = await lake.index(table, ["id"], { unique: true });
    const [first, second] = await lake.commit((tx) => {
      const before = tx.inlineInsert({ table, rows: [{ id: "Bob" }] });
      tx.inlineDelete({ table, rowId: before });
      return [before, tx.inlineInsert({ table, rows: [{ id: "Bob" }] })];
    });
    expect(second).toBe(first + 1n);
    expect(await lake.lookup(unique, "Bob")).toEqual([second]);
    expect(await lake.column(table, "id")).toEqual(["Bob"]);
    await lake.expectVerified(table);
  });

  it("S02 a value that an update gave up is free for an insert of the same commit", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { id: "BIGINT" });
    const unique = await lake.index(table, ["id"], { unique: true });
    const one = await lake.insert(table, { id: 1n });
    const [updated, inserted] = await lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: one });
      return [tx.inlineInsert({ table, rows: [{ id: 4n }] }), tx.inlineInsert({ table, rows: [{ id: 1n }] })];
    });
    expect(await lake.lookup(unique, 4n)).toEqual([updated]);
    expect(await lake.lookup(unique, 1n)).toEqual([inserted]);
    await lake.expectVerified(table);
  });

  it.each([511, 513, 1023, 1025, 2048, 2049, largeFileRows])(
    "S04 a commit that replaces all %i rows of a file by the same values keeps both indexes exact",
    async (count) => {
      const lake = await Lake.open();
      const table = await lake.table("lines", { linenumber: "INTEGER", orderkey: "BIGINT", part: "INTEGER" });
      const unique = await lake.index(table, ["linenumber", "orderkey"], { unique: true });
      const multi = await lake.index(table, ["part"]);
      const rows = Array.from({ length: count }, (_, i) => ({
        linenumber: (i % 7) + 1,
        orderkey: BigInt(Math.floor(i / 7)),
        part: i % 100,
      }));
      const old = await lake.register(table, rows);
      const file = await lake.writeFile(table, rows);
      const { rowIdStart } = await lake.commit((tx) => {
        tx.expireDataFile({ table, file: old.dataFileId, removals: "scoped-read" });
        return tx.registerDataFile({ table, file, entries: "scoped-read" });
      });
      expect(rowIdStart).toBe(BigInt(count));
      expect(await lake.lookup(unique, 1, 0n)).toEqual([rowIdStart]);
      expect((await lake.catalog.indexLookup({ index: multi, key: [7] })).at(0)).toBe(rowIdStart + 7n);
      await lake.expectVerified(table);
    },
  );

  it.each([513, 1025])("S04 the same with %i inline rows that are deleted one by one", async (count) => {
    const lake = await Lake.open();
    const table = await lake.table("lines", { linenumber: "INTEGER", orderkey: "BIGINT", part: "INTEGER" });
    await lake.index(table, ["linenumber", "orderkey"], { unique: true });
    await lake.index(table, ["part"]);
    const rows = Array.from({ length: count }, (_, i) => ({
      linenumber: (i % 7) + 1,
      orderkey: BigInt(Math.floor(i / 7)),
      part: i % 100,
    }));
    const first = await lake.insert(table, ...rows);
    const again = await lake.commit((tx) => {
      for (let i = 0n; i < count; i++) tx.inlineDelete({ table, rowId: first + i });
      return tx.inlineInsert({ table, rows });
    });
    expect((await lake.scan(table)).map(({ rowId }) => rowId)).toEqual(rows.map((_, i) => again + BigInt(i)));
    await lake.expectVerified(table);
  });

  it("S05 a delete before a column is added still frees its value for an insert after it", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { id: "BIGINT", n: "BIGINT" });
    const unique = await lake.index(table, ["id"], { unique: true });
    const first = await lake.insert(table, { id: 1n, n: 10n }, { id: 2n, n: 20n });
    const again = await lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: first });
      tx.addColumn({ table, definition: { name: "extra", columnType: "BIGINT" } });
      return tx.inlineInsert({ table, rows: [{ id: 1n, n: 30n, extra: 0n }] });
    });
    expect(await lake.lookup(unique, 1n)).toEqual([again]);
    expect(await lake.lookup(unique, 2n)).toEqual([first + 1n]);
    expect(await lake.column(table, "extra")).toEqual([null, 0n]);
    await lake.expectVerified(table);
  });

  it("S06 an update that changes only the second of two keys does not collide with itself, and what does not change is not written", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { a: "BIGINT", b: "BIGINT" });
    const a = await lake.index(table, ["a"], { unique: true });
    const b = await lake.index(table, ["b"], { unique: true });
    const old = await lake.insert(table, { a: 1n, b: 10n });
    const before = lake.store.writes;
    const updated = await lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: old });
      return tx.inlineInsert({ table, rows: [{ a: 1n, b: 20n }] });
    });
    // An update gives the row a new id here, so the entry of the unchanged key is put once over itself, and never deleted.
    const [batch] = lake.store.batches.slice(before);
    expect(indexWritesIn(batch, a)).toEqual({ puts: 1, deletes: 0 });
    expect(indexWritesIn(batch, b)).toEqual({ puts: 1, deletes: 1 });
    expect(await lake.lookup(a, 1n)).toEqual([updated]);
    expect(await lake.lookup(b, 10n)).toEqual([]);
    expect(await lake.lookup(b, 20n)).toEqual([updated]);
    await lake.expectVerified(table);
  });

  it("S06 rows that keep their ids cost no index write: a flush, a replaced delete file, a renamed column", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { a: "BIGINT", b: "BIGINT" });
    await lake.index(table, ["a"], { unique: true });
    await lake.index(table, ["b"]);
    await lake.insert(table, { a: 1n, b: 10n }, { a: 2n, b: 20n });
    const { dataFileId } = await lake.register(table, [
      { a: 3n, b: 30n },
      { a: 4n, b: 40n },
      { a: 5n, b: 50n },
    ]);
    const deleteFile = await lake.deleteRows(table, dataFileId, [1]);
    const again = await lake.writeDeleteFile(table, dataFileId, [1]);
    const before = lake.store.writes;
    await lake.catalog.flushInlined({ table });
    await lake.commit((tx) => {
      tx.expireDeleteFile({ table, file: deleteFile });
      tx.registerDeleteFile({ table, file: again, removals: "scoped-read" });
    });
    const column = await lake.columnId(table, "a");
    await lake.commit((tx) => tx.renameColumn({ table, column, name: "renamed" }));
    const batches = lake.store.batches.slice(before);
    expect(batches.length).toBe(3);
    expect(batches.flatMap((batch) => indexEntriesIn(batch))).toEqual([]);
    await lake.expectVerified(table);
  });

  it("S08 a key upserted twice in one commit has one row, that of the last statement", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", v: "VARCHAR" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const old = await lake.insert(table, { k: 1n, v: "old" });
    const last = await lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: old });
      const first = tx.inlineInsert({ table, rows: [{ k: 1n, v: "first" }] });
      tx.inlineDelete({ table, rowId: first });
      return tx.inlineInsert({ table, rows: [{ k: 1n, v: "second" }] });
    });
    expect(await lake.column(table, "v")).toEqual(["second"]);
    expect(await lake.lookup(unique, 1n)).toEqual([last]);
    await lake.expectVerified(table);
  });

  it("S08 one key twice in one batch of rows is refused, and the refusal names both rows and no value", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", v: "VARCHAR" });
    const unique = await lake.index(table, ["k"], { unique: true, name: "t_k" });
    const rows = [
      { k: 1n, v: "a" },
      { k: 770_077n, v: "b" },
      { k: 2n, v: "c" },
      { k: 770_077n, v: "d" },
    ];
    const failure = await failureOf(lake.insert(table, ...rows));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toContain(
      `index "t_k" (id ${unique}): row 3 claims a value that row 1 holds, an addition of this commit`,
    );
    expect(failure.message).not.toContain("770077");
    expect(await lake.scan(table)).toEqual([]);
    // The ids of the refused rows were never given out.
    expect(await lake.insert(table, { k: 770_077n, v: "e" })).toBe(0n);
  });

  it("S09 insert-or-ignore is a lookup and a filtered insert in one closure: the first row is kept, the second skipped and counted", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { a: "BIGINT", b: "BIGINT" });
    const indexes = [
      { index: await lake.index(table, ["a"], { unique: true }), column: "a" },
      { index: await lake.index(table, ["b"], { unique: true }), column: "b" },
    ];
    expect(
      await insertOrIgnore(lake, table, indexes, [
        { a: 1n, b: 1n },
        { a: 2n, b: 1n },
      ]),
    ).toEqual({ inserted: 1, skipped: 1 });
    expect(
      await insertOrIgnore(lake, table, indexes, [
        { a: 1n, b: 5n },
        { a: 3n, b: 3n },
        { a: 4n, b: 1n },
      ]),
    ).toEqual({ inserted: 1, skipped: 2 });
    expect(await insertOrIgnore(lake, table, indexes, [{ a: 3n, b: 1n }])).toEqual({ inserted: 0, skipped: 1 });
    expect(await lake.column(table, "a")).toEqual([1n, 3n]);
    await lake.expectVerified(table);
  });
});

interface UniqueColumn {
  readonly index: IndexId;
  readonly column: string;
}

/** How a caller does without the verb: ask for the keys that are taken, keep the first row of each key, insert what is left. */
async function insertOrIgnore(
  lake: Lake,
  table: TableId,
  indexes: readonly UniqueColumn[],
  rows: readonly PlainRow[],
): Promise<{ readonly inserted: number; readonly skipped: number }> {
  return await lake.commit(async (tx) => {
    const taken = new Map(indexes.map(({ column }) => [column, new Set<unknown>()]));
    for (const { index, column } of indexes) {
      for (const row of rows)
        if ((await lake.lookup(index, row[column])).length > 0) taken.get(column)!.add(row[column]);
    }
    const kept = rows.filter((row) => {
      if (indexes.some(({ column }) => taken.get(column)!.has(row[column]))) return false;
      for (const { column } of indexes) taken.get(column)!.add(row[column]);
      return true;
    });
    if (kept.length > 0) tx.inlineInsert({ table, rows: kept });
    return { inserted: kept.length, skipped: rows.length - kept.length };
  });
}

describe("a commit that an index refuses has no effect at all", () => {
  interface Refusal {
    readonly what: string;
    readonly row: PlainRow;
    readonly code: string;
    readonly says: RegExp;
  }
  const tooLong = "x".repeat(1025);
  const refusals: readonly Refusal[] = [
    { what: "the first index", row: { a: 10n, b: 99n, c: 99n, note: "n" }, code: "constraint", says: /index "a_u"/u },
    { what: "the second index", row: { a: 99n, b: 20n, c: 99n, note: "n" }, code: "constraint", says: /index "b_u"/u },
    { what: "the last index", row: { a: 99n, b: 99n, c: 20n, note: "n" }, code: "constraint", says: /index "c_u"/u },
    {
      what: "the encoder of the last column",
      row: { a: 99n, b: 99n, c: 99n, note: tooLong },
      code: "constraint",
      says: /1025.*1024/u,
    },
  ];

  async function openTable(): Promise<{ lake: Lake; table: TableId; indexes: IndexId[] }> {
    const lake = await Lake.open();
    const table = await lake.table("t", { a: "BIGINT", b: "BIGINT", c: "BIGINT", note: "VARCHAR" });
    const indexes: IndexId[] = [];
    for (const column of ["a", "b", "c"]) indexes.push(await lake.index(table, [column], { unique: true }));
    indexes.push(await lake.index(table, ["note"]));
    await lake.insert(table, { a: 10n, b: 10n, c: 10n, note: "first" }, { a: 20n, b: 20n, c: 20n, note: "second" });
    return { lake, table, indexes };
  }

  it.each(refusals)("S11 a refusal by $what leaves the indexes before it as they were", async ({ row, code, says }) => {
    const { lake, table, indexes } = await openTable();
    const before = { entries: await entriesOf(lake, indexes), head: await lake.head(), writes: lake.store.writes };
    // An update of row 0 whose new version is refused: what the delete took out of the other indexes must be back.
    const failure = await failureOf(
      lake.commit((tx) => {
        tx.inlineDelete({ table, rowId: 0n });
        tx.inlineInsert({ table, rows: [{ ...row, a: row["a"] === 10n ? 20n : row["a"] }] });
      }),
    );
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(says);
    expect({ entries: await entriesOf(lake, indexes), head: await lake.head(), writes: lake.store.writes }).toEqual(
      before,
    );
    await lake.expectVerified(table);
    // The same handle goes on working.
    const again = await lake.insert(table, { a: 30n, b: 30n, c: 30n, note: "third" });
    expect(again).toBe(2n);
    expect(await lake.lookup(indexes[0]!, 30n)).toEqual([again]);
    await lake.expectVerified(table);
  });

  it.each(refusals)("S11 a refusal by $what of rows in a data file", async ({ row, says }) => {
    const { lake, table, indexes } = await openTable();
    const file = await lake.writeFile(table, [{ a: 40n, b: 40n, c: 40n, note: "fourth" }, row]);
    const before = { entries: await entriesOf(lake, indexes), head: await lake.head(), writes: lake.store.writes };
    const supplied = indexes.flatMap((index, at): FileIndexEntry[] =>
      [{ a: 40n, b: 40n, c: 40n, note: "fourth" }, row].map((values, ordinal) => ({
        index,
        ordinal,
        values: [Object.values(values)[at]],
      })),
    );
    for (const entries of ["scoped-read", supplied] as const) {
      const failure = await failureOf(lake.commit((tx) => tx.registerDataFile({ table, file, entries })));
      expect(failure.code).toBe("constraint");
      expect(failure.message).toMatch(says);
      expect({ entries: await entriesOf(lake, indexes), head: await lake.head(), writes: lake.store.writes }).toEqual(
        before,
      );
    }
    await lake.expectVerified(table);
  });

  it("S11 a value that its column cannot hold is refused when the verb is called, and the closure can go on without it", async () => {
    const { lake, table } = await openTable();
    await lake.commit(async (tx) => {
      const failure = await failureOf(async () =>
        tx.inlineInsert({ table, rows: [{ a: 30n, b: 30n, c: 30n, note: 5 }] }),
      );
      expect(failure.code).toBe("invalid_argument");
      expect(failure.message).toMatch(/rows\[0\], column "note"/u);
      tx.inlineInsert({ table, rows: [{ a: 30n, b: 30n, c: 30n, note: "5" }] });
    });
    expect(await lake.column(table, "note")).toEqual(["first", "second", "5"]);
    await lake.expectVerified(table);
  });
});

async function entriesOf(lake: Lake, indexes: readonly IndexId[]): Promise<string[][]> {
  return await Promise.all(indexes.map((index) => storedEntries(lake.store.inner, index)));
}
