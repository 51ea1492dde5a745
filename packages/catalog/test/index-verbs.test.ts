import {
  type ColumnVector,
  type DataFileId,
  type IndexId,
  IndexKeyBuilder,
  type MoraineError,
  type RowId,
  type SnapshotId,
  type TableId,
} from "@moraine/codec";
import { BatchBuilder, openStore } from "@moraine/store";
import { describe, expect, it } from "vitest";
import type { FileEntries, FileIndexEntry, FileIndexRemoval, IndexEntry, PlainRow } from "../src/index.js";
import type { WrittenColumn } from "../src/testing/parquet-files.js";
import { failureOf } from "./support/errors.js";
import { Gate } from "./support/gate.js";
import { indexWritesIn } from "./support/hooked-store.js";
import { storedEntries } from "./support/index-oracle.js";
import { Lake, type LakeOptions, main } from "./support/lake.js";
import { plantIndexState, plantRecordCounts } from "./support/plant.js";

interface Fixture {
  readonly lake: Lake;
  readonly table: TableId;
}

/** A table `t(a BIGINT, b BIGINT)`. */
async function openTable(options: LakeOptions = {}): Promise<Fixture> {
  const lake = await Lake.open(options);
  return { lake, table: await lake.table("t", { a: "BIGINT", b: "BIGINT" }) };
}

/** Rows from values of `a`, or of `a` and `b`. */
function rowsOf(...values: (bigint | null | readonly [bigint | null, bigint | null])[]): PlainRow[] {
  return values.map((value) => {
    const [a, b] = typeof value === "bigint" || value === null ? [value, null] : value;
    return { a, b };
  });
}

/** The table with an index over `a` or `a, b`, and rows that stand in a file. */
async function indexedFile(
  columns: readonly string[],
  rows: readonly PlainRow[],
  options: Parameters<Lake["index"]>[2] = {},
): Promise<Fixture & { readonly index: IndexId; readonly dataFileId: DataFileId }> {
  const { lake, table } = await openTable();
  const index = await lake.index(table, columns, options);
  const { dataFileId } = await lake.register(table, rows);
  return { lake, table, index, dataFileId };
}

describe("createIndex", () => {
  it("makes a ready index with an entry for each row, and drops nothing when it is created last", async () => {
    const { lake, table } = await openTable();
    await lake.register(table, rowsOf(10n, 20n));
    const index = await lake.index(table, ["a"], { unique: true, name: "t_a" });
    const [info] = (await lake.catalog.snapshot()).indexesOf(table);
    expect(info).toMatchObject({
      id: index,
      name: "t_a",
      unique: true,
      state: "ready",
      columns: [1n],
      maintenance: "synchronous",
    });
    expect((await storedEntries(lake.store.inner, index)).length).toBe(2);
    expect((await lake.catalog.snapshot()).indexByName(table, "t_a")?.id).toBe(index);
    await lake.expectVerified(table);
  });

  it("refuses a deferred index that is to refuse duplicates, and takes one that is not", async () => {
    const { lake, table } = await openTable();
    const create = (unique: boolean): Promise<IndexId> =>
      lake.commit((tx) => tx.createIndex({ table, name: "d", columns: ["a"], unique, maintenance: "deferred" }));
    expect((await failureOf(create(true))).code).toBe("invalid_argument");
    const index = await create(false);
    expect((await lake.catalog.snapshot()).indexById(table, index)).toMatchObject({
      maintenance: "deferred",
      state: "ready",
    });
  });

  it.each([
    ["two rows of a file", [10n, 20n, 10n], []],
    ["two inline rows", [], [10n, 20n, 10n]],
    ["a row of a file and an inline one", [10n, 20n], [20n]],
  ] as const)(
    "that meets a duplicate in %s is aborted, and leaves no definition and no entry",
    async (_, inFile, inline) => {
      const { lake, table } = await openTable();
      if (inFile.length > 0) await lake.register(table, rowsOf(...inFile));
      if (inline.length > 0) await lake.insert(table, ...rowsOf(...inline));
      const writes = lake.store.writes;
      const failure = await failureOf(lake.index(table, ["a"], { unique: true }));
      expect(failure.code).toBe("constraint");
      expect(failure.message).toMatch(/row \d claims a value that row \d holds, an addition of this commit/u);
      expect(lake.store.writes).toBe(writes);
      expect((await lake.catalog.snapshot()).indexesOf(table)).toEqual([]);
      // An index that takes duplicates is fine over the same rows.
      const multi = await lake.index(table, ["a"]);
      expect((await lake.lookup(multi, 10n)).length + (await lake.lookup(multi, 20n)).length).toBe(3);
      await lake.expectVerified(table);
    },
  );

  it("covers inline rows of every schema version, rows of files from before a column came, and leaves dead ones out", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, ...rowsOf([1n, 1n], [2n, 2n]));
    await lake.register(table, rowsOf([3n, 3n], [4n, 4n]));
    const b = await lake.columnId(table, "b");
    await lake.commit((tx) => tx.renameColumn({ table, column: b, name: "c" }));
    await lake.commit((tx) => tx.addColumn({ table, definition: { name: "d", columnType: "VARCHAR" } }));
    await lake.insert(table, { a: 5n, c: 5n, d: "x" });
    await lake.delete(table, 1n, 3n);
    const onC = await lake.index(table, ["c"], { unique: true });
    const onD = await lake.index(table, ["d", "a"]);
    expect(await lake.catalog.indexRange({ index: onC })).toEqual([0n, 2n, 4n]);
    expect(await lake.catalog.indexNulls({ index: onD, prefix: [null] })).toEqual([0n, 2n]);
    await lake.expectVerified(table);
  });

  /** Where the entries of file rows come from, on a catalog that can and one that cannot read files. */
  describe.each([
    ["with a data path", undefined],
    ["without a data path", null],
  ] as const)("backfill %s", (_, dataPath) => {
    async function openWith(files: boolean, inline: boolean): Promise<Fixture> {
      const { lake, table } = await openTable(dataPath === null ? { dataPath: null } : {});
      if (files) {
        const file =
          dataPath === null
            ? { path: "out-of-reach.parquet", recordCount: 3, fileSizeBytes: 100, footerSize: 50 }
            : await lake.writeFile(table, rowsOf(1n, 2n, 3n));
        await lake.commit((tx) => tx.registerDataFile({ table, file }));
      }
      if (inline) await lake.insert(table, ...rowsOf(11n, 12n));
      return { lake, table };
    }
    const explicit = (rows: readonly (readonly [number, bigint])[]): IndexEntry[] =>
      rows.map(([rowId, value]) => ({ rowId: BigInt(rowId), values: [value] }));
    const complete = explicit([
      [2, 3n],
      [0, 1n],
      [1, 2n],
    ]);

    it.each([
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ])("with files: %s, with inline rows: %s", async (files, inline) => {
      const expected = [...(files ? [0n, 1n, 2n] : []), ...(inline ? (files ? [3n, 4n] : [0n, 1n]) : [])];
      const attempts: readonly (readonly [string, readonly IndexEntry[] | "scoped-read" | undefined, boolean])[] = [
        ["left out", undefined, files && dataPath === null],
        ["scoped-read", "scoped-read", files && dataPath === null],
        ["explicit", files ? complete : [], false],
      ];
      for (const [what, backfill, refused] of attempts) {
        const { lake, table } = await openWith(files, inline);
        const create = lake.commit((tx) =>
          tx.createIndex({
            table,
            name: "t_a",
            columns: ["a"],
            unique: true,
            ...(backfill === undefined ? {} : { backfill }),
          }),
        );
        if (refused) {
          expect((await failureOf(create)).code, what).toBe("constraint");
          expect((await lake.catalog.snapshot()).indexesOf(table)).toEqual([]);
        } else {
          expect(await lake.catalog.indexRange({ index: await create }), what).toEqual(expected);
        }
      }
    });

    it.each([
      [
        "a row too few",
        explicit([
          [0, 1n],
          [1, 2n],
        ]),
        "constraint",
        /2 entries were given, 3 are needed/u,
      ],
      [
        "a row twice",
        explicit([
          [0, 1n],
          [1, 2n],
          [1, 2n],
        ]),
        "constraint",
        /row 1 has two entries/u,
      ],
      [
        "a row of no file",
        explicit([
          [0, 1n],
          [1, 2n],
          [3, 11n],
        ]),
        "constraint",
        /no data file of the table holds/u,
      ],
      [
        "a row id that is none",
        [{ rowId: 0 as never, values: [1n] }],
        "constraint",
        /no data file of the table holds/u,
      ],
      [
        "a value of another type",
        explicit([
          [0, 1n],
          [1, 2n],
        ]).concat({ rowId: 2n, values: ["3"] }),
        "invalid_argument",
        /backfill\[2\]\.values\[0\] is no value of type BIGINT/u,
      ],
      [
        "too many values",
        explicit([
          [0, 1n],
          [1, 2n],
        ]).concat({ rowId: 2n, values: [3n, 3n] }),
        "invalid_argument",
        /another number of values/u,
      ],
    ])("refuses %s", async (__, backfill, code, says) => {
      const { lake, table } = await openWith(true, true);
      const failure = await failureOf(
        lake.commit((tx) => tx.createIndex({ table, name: "t_a", columns: ["a"], backfill })),
      );
      expect(failure.code).toBe(code);
      expect(failure.message).toMatch(says);
      expect((await lake.catalog.snapshot()).indexesOf(table)).toEqual([]);
    });

    it("refuses a backfill that is neither entries nor scoped-read", async () => {
      const { lake, table } = await openWith(true, false);
      for (const backfill of ["scoped", 5, {}, [null], ["x"]]) {
        const create = lake.commit((tx) =>
          tx.createIndex({ table, name: "t_a", columns: ["a"], backfill: backfill as never }),
        );
        expect((await failureOf(create)).code).toBe("invalid_argument");
      }
    });
  });

  it("takes entries for exactly the live rows of files: a dead row cannot stand in for one that is missing", async () => {
    const { lake, table } = await openTable();
    const { dataFileId } = await lake.register(table, rowsOf(1n, 2n, 3n));
    await lake.deleteRows(table, dataFileId, [1]);
    const create = (rows: readonly bigint[]): Promise<IndexId> =>
      lake.commit((tx) =>
        tx.createIndex({
          table,
          name: "t_a",
          columns: ["a"],
          backfill: rows.map((rowId) => ({ rowId, values: [rowId + 1n] })),
        }),
      );
    expect((await failureOf(create([0n, 1n]))).code).toBe("constraint");
    expect((await failureOf(create([0n, 1n, 2n]))).code).toBe("constraint");
    await create([0n, 2n]);
    await lake.expectVerified(table);
  });

  it("takes explicit entries for rows of a flushed file, whose ids have gaps", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, ...rowsOf(1n, 2n, 3n, 4n));
    await lake.delete(table, 1n, 2n);
    await lake.catalog.flushInlined({ table });
    const create = (rows: readonly bigint[]): Promise<IndexId> =>
      lake.commit((tx) =>
        tx.createIndex({
          table,
          name: "t_a",
          columns: ["a"],
          backfill: rows.map((rowId) => ({ rowId, values: [rowId + 1n] })),
        }),
      );
    expect((await failureOf(create([0n]))).code).toBe("constraint");
    await create([0n, 3n]);
    await lake.expectVerified(table);
  });

  it("in the commit that registers files and inlines rows covers those, too", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, ...rowsOf(1n));
    const [before, after] = [await lake.writeFile(table, rowsOf(2n)), await lake.writeFile(table, rowsOf(3n))];
    const index = await lake.commit((tx) => {
      tx.inlineInsert({ table, rows: rowsOf(4n) });
      tx.registerDataFile({ table, file: before, entries: "scoped-read" });
      const id = tx.createIndex({ table, name: "t_a", columns: ["a"], unique: true });
      tx.inlineInsert({ table, rows: rowsOf(5n) });
      tx.registerDataFile({ table, file: after, entries: "scoped-read" });
      tx.inlineDelete({ table, rowId: 0n });
      return id;
    });
    expect(await lake.catalog.indexRange({ index })).toEqual([2n, 4n, 1n, 3n]);
    await lake.expectVerified(table);
  });

  it("loses to a registration that lands while its closure waits, and the other way round", async () => {
    const { lake, table } = await openTable();
    const file = await lake.writeFile(table, rowsOf(1n));
    const gate = new Gate();
    const late = failureOf(
      lake.commit(async (tx) => {
        const id = tx.createIndex({ table, name: "t_a", columns: ["a"] });
        await gate.pass();
        return id;
      }),
    );
    await gate.reached;
    await lake.commit((tx) => tx.registerDataFile({ table, file }));
    gate.open();
    expect((await late).code).toBe("commit_conflict");
    const second = new Gate();
    const registration = failureOf(
      lake.commit(async (tx) => {
        const registered = tx.registerDataFile({ table, file });
        await second.pass();
        return registered;
      }),
    );
    await second.reached;
    await lake.index(table, ["a"]);
    second.open();
    expect((await registration).code).toBe("commit_conflict");
    await lake.expectVerified(table);
  });

  it("is refused for names that differ by case only, and the name is free again after a drop", async () => {
    const { lake, table } = await openTable();
    const other = await lake.table("u", { a: "BIGINT" });
    const index = await lake.index(table, ["a"], { name: "Idx" });
    expect((await failureOf(lake.index(other, ["a"], { name: "iDX" }))).code).toBe("already_exists");
    const schema = await lake.commit((tx) => tx.createSchema({ name: "s" }));
    const elsewhere = await lake.commit((tx) =>
      tx.createTable({ schema, name: "t", columns: [{ name: "a", columnType: "BIGINT" }] }),
    );
    await lake.index(elsewhere, ["a"], { name: "IDX" });
    const snapshot = await lake.catalog.snapshot();
    expect(snapshot.indexBySchemaName(main, "idx")?.id).toBe(index);
    expect(snapshot.indexBySchemaName(schema, "idx")?.tableId).toBe(elsewhere);
    await lake.commit((tx) => tx.dropIndex({ index }));
    await lake.index(other, ["a"], { name: "iDX" });
  });
});

describe("a table with indexes", () => {
  it("keeps its indexed columns: dropping one or changing its type is refused, renaming is free", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["a"], { unique: true });
    await lake.insert(table, ...rowsOf([1n, 1n]));
    const [a, b] = [await lake.columnId(table, "a"), await lake.columnId(table, "b")];
    expect((await failureOf(lake.commit((tx) => tx.dropColumn({ table, column: a })))).code).toBe("constraint");
    expect(
      (await failureOf(lake.commit((tx) => tx.alterColumn({ table, column: a, columnType: "DOUBLE" })))).code,
    ).toBe("constraint");
    await lake.commit((tx) => tx.renameColumn({ table, column: a, name: "renamed" }));
    await lake.commit((tx) => tx.alterColumn({ table, column: b, columnType: "DOUBLE" }));
    await lake.commit((tx) => tx.alterColumn({ table, column: a, nullsAllowed: false }));
    await lake.insert(table, { renamed: 2n, b: 0.5 });
    expect(await lake.catalog.indexLookupMany({ index, keys: [[1n], [2n]] })).toEqual([0n, 1n]);
    await lake.commit((tx) => tx.dropColumn({ table, column: b }));
    await lake.expectVerified(table);
    await lake.commit((tx) => tx.dropIndex({ index }));
    await lake
      .commit((tx) => tx.dropColumn({ table, column: a }))
      .catch((error: unknown) => expect((error as { code: string }).code).toBe("constraint"));
  });

  it("refuses a value that another commit has landed, and takes NULLs any number of times", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["a"], { unique: true });
    await lake.insert(table, ...rowsOf(1n, null, null));
    expect((await failureOf(lake.insert(table, ...rowsOf(1n)))).message).toContain(
      "row 3 claims a value that row 0 holds, a row already indexed",
    );
    await lake.insert(table, ...rowsOf(null, 2n));
    expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([1n, 2n, 3n]);
    await lake.expectVerified(table);
  });

  it("takes a bulk commit of 1,500 rows whole, refuses one that repeats a value whole, and takes a clean one after it", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["a"], { unique: true });
    const bulk = (first: number, count = 1500): PlainRow[] =>
      rowsOf(...Array.from({ length: count }, (_, i) => BigInt(first + i)));
    await lake.register(table, bulk(0));
    const failure = await failureOf(lake.register(table, [...bulk(2000), ...rowsOf(42n)]));
    expect(failure.message).toContain("row 3000 claims a value that row 42 holds, a row already indexed");
    expect((await lake.catalog.snapshot()).dataFilesOf(table).length).toBe(1);
    expect(await lake.lookup(index, 2000n)).toEqual([]);
    await lake.register(table, bulk(5000));
    await lake.expectVerified(table);
  });

  it("names the one index of two that refuses a bulk commit", async () => {
    const { lake, table } = await openTable();
    const [first, second] = [
      await lake.index(table, ["a"], { unique: true }),
      await lake.index(table, ["b"], { unique: true }),
    ];
    await lake.register(table, rowsOf([1n, 1n]));
    const rows = Array.from({ length: 300 }, (_, i) => [BigInt(10 + i), BigInt(i === 250 ? 1 : 10 + i)] as const);
    const { message } = await failureOf(lake.register(table, rowsOf(...rows)));
    expect(message).toContain(`(id ${second})`);
    expect(message).not.toContain(`(id ${first})`);
    await lake.expectVerified(table);
  });

  it("is dropped with its indexes, whose entries are reclaimed in batches, and ids are never given out again", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["a"], { unique: true });
    await lake.insert(table, ...rowsOf(1n, 2n, 3n));
    expect((await failureOf(lake.catalog.reclaimIndexEntries({ index, limit: 2 }))).code).toBe("constraint");
    await lake.commit((tx) => tx.dropIndex({ index }));
    expect((await failureOf(lake.lookup(index, 1n))).code).toBe("not_found");
    const head = await lake.head();
    expect(await lake.catalog.reclaimIndexEntries({ index, limit: 2 })).toBe(2);
    expect(await lake.catalog.reclaimIndexEntries({ index, limit: 2 })).toBe(1);
    expect(await lake.catalog.reclaimIndexEntries({ index, limit: 2 })).toBe(0);
    expect(await lake.head()).toBe(head);
    const again = await lake.index(table, ["a"], { unique: true });
    expect(again).toBe(index + 1n);
    await lake.insert(table, ...rowsOf(4n));
    await lake.commit((tx) => tx.dropTable({ table }));
    expect(await lake.catalog.maintain({ batchSize: 1 })).toEqual({
      indexesSwept: 1,
      indexEntriesReclaimed: 4,
      fileColumnStatsReclaimed: 0,
    });
    expect(await lake.catalog.maintain()).toEqual({
      indexesSwept: 0,
      indexEntriesReclaimed: 0,
      fileColumnStatsReclaimed: 0,
    });
    for (const batchSize of [0, -1, 1.5, Number.NaN]) {
      expect((await failureOf(lake.catalog.maintain({ batchSize }))).code).toBe("configuration");
    }
  });

  it("keeps live indexes through a sweep of the dropped ones between them, also while rows are written", async () => {
    const lake = await Lake.open();
    const tables: TableId[] = [];
    const indexes: IndexId[] = [];
    for (let i = 0; i < 6; i++) {
      const table = await lake.table(`t${i}`, { a: "BIGINT" });
      tables.push(table);
      indexes.push(await lake.index(table, ["a"], { unique: i % 2 === 0, name: `i${i}` }));
      await lake.insert(table, ...Array.from({ length: 10 }, (_, k) => ({ a: BigInt(k) })));
    }
    for (const i of [1, 2, 4]) await lake.commit((tx) => tx.dropIndex({ index: indexes[i]! }));
    const [report] = await Promise.all([
      lake.catalog.maintain({ batchSize: 3 }),
      ...Array.from({ length: 30 }, (_, i) => lake.insert(tables[i % 6]!, { a: BigInt(100 + i) })),
    ]);
    expect(report).toMatchObject({ indexesSwept: 3, indexEntriesReclaimed: 30 });
    for (const table of tables) await lake.expectVerified(table);
    expect((await storedEntries(lake.store.inner, indexes[1]!)).length).toBe(0);
  });
});

describe("registerDataFile on a table with indexes", () => {
  async function twoIndexes(): Promise<Fixture & { first: IndexId; second: IndexId }> {
    const { lake, table } = await openTable();
    const [first, second] = [await lake.index(table, ["a"], { unique: true }), await lake.index(table, ["b", "a"])];
    return { lake, table, first, second };
  }
  const rows = rowsOf([1n, 10n], [2n, null], [3n, 30n]);
  const entriesOf = (index: IndexId, columns: readonly ("a" | "b")[], ordinals = [0, 1, 2]): FileIndexEntry[] =>
    ordinals.map((ordinal) => ({ index, ordinal, values: columns.map((column) => rows[ordinal]?.[column]) }));

  it("maps entries by their position to the rows' ids, in any order, as values, as vectors and by a scoped read", async () => {
    const { lake, table, first, second } = await twoIndexes();
    const supplied = [...entriesOf(second, ["b", "a"], [2, 0, 1]), ...entriesOf(first, ["a"], [1, 2, 0])];
    const { rowIdStart } = await lake.register(table, rows, supplied);
    expect(await lake.lookup(first, 2n)).toEqual([rowIdStart + 1n]);
    expect(await lake.lookup(second, 30n, 3n)).toEqual([rowIdStart + 2n]);
    await lake.expectVerified(table);
    const bigint = (values: readonly (bigint | null)[]): ColumnVector => ({
      length: values.length,
      type: "int64",
      offsets: null,
      values: BigInt64Array.from(values, (value) => value ?? 0n),
      validity: Uint8Array.from(values, (value) => (value === null ? 0 : 1)),
    });
    const [a, b] = [bigint([4n, 5n]), bigint([40n, null])];
    await lake.register(table, rowsOf([4n, 40n], [5n, null]), [
      { index: first, columns: [a] },
      { index: second, columns: [b, a] },
    ]);
    await lake.register(table, rowsOf([6n, 60n]), "scoped-read");
    expect(await lake.catalog.indexRange({ index: first })).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    await lake.expectVerified(table);
  });

  it("refuses anything but one entry for each row and each index, and leaves the catalog as it was", async () => {
    const { lake, table, first, second } = await twoIndexes();
    const other = await lake.table("u", { a: "BIGINT" });
    const foreign = await lake.index(other, ["a"], { name: "foreign" });
    const file = await lake.writeFile(table, rows);
    const [a, ba] = [entriesOf(first, ["a"]), entriesOf(second, ["b", "a"])];
    const short: ColumnVector = {
      length: 2,
      type: "int64",
      offsets: null,
      values: new BigInt64Array(2),
      validity: null,
    };
    const refusals: readonly (readonly [string, FileEntries | undefined, string])[] = [
      ["no entries at all", undefined, "constraint"],
      ["an empty list", [], "constraint"],
      ["entries of one index only", a, "constraint"],
      ["entries of the other index only", ba, "constraint"],
      ["a row too few in the first index", [...a.slice(1), ...ba], "constraint"],
      ["a row too few in the second index", [...a, ...ba.slice(0, 2)], "constraint"],
      ["a row twice", [...a, ...ba, a[0]!], "constraint"],
      ["a row twice in place of another", [a[0]!, a[0]!, a[2]!, ...ba], "constraint"],
      ["a position behind the file", [...a, ...ba, { ...a[0]!, ordinal: 3 }], "constraint"],
      ["a negative position", [...a.slice(1), { ...a[0]!, ordinal: -1 }, ...ba], "constraint"],
      ["a position between rows", [...a.slice(1), { ...a[0]!, ordinal: 0.5 }, ...ba], "constraint"],
      ["an index of another table", [...a, ...ba, { index: foreign, ordinal: 0, values: [1n] }], "constraint"],
      ["an index that is none", [...a, ...ba, { index: 999n as IndexId, ordinal: 0, values: [1n] }], "constraint"],
      ["too many values", [{ ...a[0]!, values: [1n, 1n] }, ...a.slice(1), ...ba], "invalid_argument"],
      ["too few values", [...a, { ...ba[0]!, values: [10n] }, ...ba.slice(1)], "invalid_argument"],
      [
        "vectors of another length",
        [
          { index: first, columns: [short] },
          { index: second, columns: [short, short] },
        ],
        "constraint",
      ],
      [
        "too few vectors",
        [
          { index: first, columns: [] },
          { index: second, columns: [] },
        ],
        "constraint",
      ],
      ["something else", "scoped" as never, "invalid_argument"],
      ["a list of something else", [null] as never, "invalid_argument"],
      ["entries without values", [{ index: first, ordinal: 0 }] as never, "invalid_argument"],
    ];
    const writes = lake.store.writes;
    for (const [what, entries, code] of refusals) {
      const registration = lake.commit((tx) =>
        tx.registerDataFile({ table, file, ...(entries === undefined ? {} : { entries }) }),
      );
      expect((await failureOf(registration)).code, what).toBe(code);
    }
    expect(lake.store.writes).toBe(writes);
    expect((await lake.catalog.snapshot()).dataFilesOf(table)).toEqual([]);
    await lake.commit((tx) => tx.registerDataFile({ table, file, entries: [...a, ...ba] }));
    await lake.expectVerified(table);
  });

  it("needs no entries for a file without rows, nor on a table without indexes", async () => {
    const { lake, table } = await twoIndexes();
    const plain = await lake.table("plain", { a: "BIGINT" });
    await lake.commit((tx) =>
      tx.registerDataFile({ table, file: { path: "empty", recordCount: 0, fileSizeBytes: 0, footerSize: 0 } }),
    );
    await lake.commit((tx) =>
      tx.registerDataFile({ table: plain, file: { path: "f", recordCount: 5, fileSizeBytes: 0, footerSize: 0 } }),
    );
    expect(await lake.catalog.indexRange({ index: (await lake.catalog.snapshot()).indexesOf(table)[0]!.id })).toEqual(
      [],
    );
  });

  it("of a file that cannot be read, is another one, or embeds row ids leaves the catalog as it was", async () => {
    const { lake, table } = await twoIndexes();
    const file = await lake.writeFile(table, rows);
    const embedding = await lake.writeFile(table, rows, { rowIds: rows.map((_, position) => BigInt(2 * position)) });
    const writes = lake.store.writes;
    const register = (changed: Partial<typeof file>): Promise<unknown> =>
      lake.commit((tx) => tx.registerDataFile({ table, file: { ...file, ...changed }, entries: "scoped-read" }));
    expect((await failureOf(register({ path: "nowhere.parquet" }))).code).toBe("not_found");
    expect((await failureOf(register({ recordCount: 4 }))).code).toBe("corruption");
    expect((await failureOf(register({ fileSizeBytes: 10 }))).code).toBe("data_file");
    expect((await failureOf(register({ encryptionKey: "secret" }))).code).toBe("unsupported");
    const embedded = await failureOf(register(embedding));
    expect(embedded.code).toBe("constraint");
    expect(embedded.message).toMatch(/embeds row ids/u);
    expect(lake.store.writes).toBe(writes);
    await register({});
    await lake.expectVerified(table);
  });
});

describe("a refused claim says whether its holder is live", () => {
  async function withStale(
    stale: bigint,
    make: (lake: Lake, table: TableId) => Promise<unknown>,
  ): Promise<MoraineError> {
    const { lake: before, table } = await openTable();
    const index = await before.index(table, ["a"], { unique: true });
    await make(before, table);
    // A writer notices no entry that comes from elsewhere: the next one finds it.
    await before.catalog.close();
    const store = await openStore(before.location);
    const builder = new IndexKeyBuilder({
      indexId: index,
      unique: true,
      columns: [{ valueType: "int64", descending: false, nullsFirst: false }],
    });
    builder.append([7n], stale);
    const value = new Uint8Array(8);
    new DataView(value.buffer).setBigUint64(0, stale);
    const batch = new BatchBuilder();
    batch.put(builder.finish().data, value);
    await store.write(batch.finish());
    await store.close();
    const lake = await before.reopen();
    const failure = await failureOf(lake.insert(table, { a: 7n, b: 0n }));
    expect(failure.code).toBe("constraint");
    expect(failure.message).not.toMatch(/unique|conflict|concurrent|primary key/iu);
    return failure;
  }

  const dead: readonly (readonly [string, bigint, (lake: Lake, table: TableId) => Promise<unknown>])[] = [
    ["was never there", 99n, async () => undefined],
    [
      "was deleted inline",
      0n,
      async (lake, table) => {
        await lake.insert(table, { a: 1n, b: 0n });
        await lake.delete(table, 0n);
      },
    ],
    [
      "was deleted by a delete file",
      1n,
      async (lake, table) => {
        const { dataFileId } = await lake.register(table, rowsOf([1n, 0n], [2n, 0n]));
        await lake.deleteRows(table, dataFileId, [1]);
      },
    ],
    [
      "was deleted in its file one by one",
      1n,
      async (lake, table) => {
        await lake.register(table, rowsOf([1n, 0n], [2n, 0n]));
        await lake.delete(table, 1n);
      },
    ],
  ];

  it.each(dead)("a row that %s leaves a stale entry", async (_, rowId, make) => {
    const failure = await withStale(rowId, make);
    expect(failure.message).toMatch(
      new RegExp(`claims a value under which the index holds a stale entry of row ${rowId}, which is not live`, "u"),
    );
    expect(failure.remedy).toMatch(/Drop the index and create it again/u);
  });

  const alive: readonly (readonly [string, bigint, (lake: Lake, table: TableId) => Promise<unknown>])[] = [
    ["is inline", 0n, (lake, table) => lake.insert(table, { a: 1n, b: 0n })],
    ["is in a file", 1n, (lake, table) => lake.register(table, rowsOf([1n, 0n], [2n, 0n]))],
    [
      "may be in a file that embeds ids",
      2n,
      async (lake, table) => {
        await lake.insert(table, { a: 1n, b: 0n }, { a: 2n, b: 0n }, { a: 3n, b: 0n });
        await lake.delete(table, 1n);
        await lake.catalog.flushInlined({ table });
      },
    ],
  ];

  it("a holder that dies right after the refusal was live when it counted", async () => {
    const { lake, table } = await openTable();
    await lake.index(table, ["a"], { unique: true });
    for (let round = 0n; round < 5n; round++) {
      const rowId = await lake.insert(table, { a: 7n, b: round });
      const [deleted, ...inserted] = await Promise.allSettled([
        lake.delete(table, rowId),
        lake.insert(table, { a: 7n, b: 0n }),
        lake.insert(table, { a: 7n, b: 1n }),
      ]);
      expect(deleted.status).toBe("fulfilled");
      for (const outcome of inserted) {
        if (outcome.status === "rejected") expect(String(outcome.reason)).toMatch(/a value that row \d+ holds/u);
      }
      await lake.expectVerified(table);
      for (const { rowId: left } of await lake.catalog.recentRows({ table })) await lake.delete(table, left);
    }
  });

  it.each(alive)("a row that %s holds the value", async (_, rowId, make) => {
    const failure = await withStale(rowId, make);
    expect(failure.message).toMatch(new RegExp(`a value that row ${rowId} holds, a row already indexed`, "u"));
  });
});

describe("entries that were read for an index at one head", () => {
  it("are refused with a conflict at any other head", async () => {
    const { lake, table } = await openTable();
    const { rowIdStart } = await lake.register(table, rowsOf([1n, 10n]));
    const backfillSnapshot = (await lake.head()) as SnapshotId;
    const backfill = [{ rowId: rowIdStart, values: [1n] }];
    const create = (at: SnapshotId) =>
      lake.commit((tx) =>
        tx.createIndex({ table, name: "a", columns: ["a"], unique: true, backfill, backfillSnapshot: at }),
      );
    await lake.register(table, rowsOf([1n, 20n]));
    const failure = await failureOf(create(backfillSnapshot));
    expect(failure.code).toBe("commit_conflict");
    expect(failure.retryable).toBe(true);
    expect((await lake.catalog.snapshot()).indexesOf(table)).toEqual([]);
    await lake.catalog.commit((tx) => {
      const [, second] = tx.dataFilesOf(table);
      tx.expireDataFile({ table, file: second!.id });
    });
    await create((await lake.head()) as SnapshotId);
    await lake.expectVerified(table);
  });
});

describe("a file without field ids has its columns by their names", () => {
  const plain = (...names: readonly string[]): WrittenColumn[] =>
    names.map((name) => ({ fieldId: undefined, name, columnType: "BIGINT" }));

  it("when it is registered by the commit that makes the table and the index", async () => {
    const lake = await Lake.open();
    const file = await lake.writeFile(0n as TableId, rowsOf([1n, 10n], [2n, 20n]), {
      columns: plain("a", "b"),
      folder: "main/t/",
    });
    const [table, index] = await lake.commit((tx) => {
      const made = tx.createTable({
        schema: main,
        name: "t",
        columns: [
          { name: "a", columnType: "BIGINT" },
          { name: "b", columnType: "BIGINT" },
        ],
      });
      const unique = tx.createIndex({ table: made, name: "a", columns: ["a"], unique: true });
      tx.registerDataFile({ table: made, file, entries: "scoped-read" });
      return [made, unique] as const;
    });
    expect(await lake.lookup(index, 1n)).toEqual([0n]);
    expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([]);
    await lake.expectVerified(table);
  });

  it("when it is registered by the commit that renames a column, adds one, or both", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["a"], { unique: true });
    const a = await lake.columnId(table, "a");
    await lake.register(table, rowsOf([1n, 10n]));
    const doubled = await lake.writeFile(
      table,
      [
        { z: 5n, b: 0n },
        { z: 5n, b: 1n },
      ],
      { columns: plain("z", "b") },
    );
    const renaming = lake.commit((tx) => {
      tx.renameColumn({ table, column: a, name: "z" });
      tx.registerDataFile({ table, file: doubled, entries: "scoped-read" });
    });
    expect((await failureOf(renaming)).message).toMatch(/claims a value/u);
    const file = await lake.writeFile(
      table,
      [
        { z: 5n, b: 0n, n: 7n },
        { z: 6n, b: 1n, n: 8n },
      ],
      {
        columns: plain("z", "b", "n"),
      },
    );
    const added = await lake.commit((tx) => {
      tx.renameColumn({ table, column: a, name: "z" });
      tx.addColumn({ table, definition: { name: "n", columnType: "BIGINT" } });
      const young = tx.createIndex({ table, name: "n", columns: ["n"], unique: true });
      tx.registerDataFile({ table, file, entries: "scoped-read" });
      return young;
    });
    expect(await lake.lookup(index, 1n)).toEqual([0n]);
    expect(await lake.lookup(index, 6n)).toEqual([2n]);
    expect(await lake.lookup(added, 7n)).toEqual([1n]);
    expect(await lake.catalog.indexNulls({ index: added, prefix: [null] })).toEqual([0n]);
    await lake.expectVerified(table);
  });

  it("that it had when the file was registered", async () => {
    const { lake, table } = await openTable();
    const a = await lake.columnId(table, "a");
    const file = await lake.writeFile(table, rowsOf([1n, 10n], [2n, 20n]), { columns: plain("a", "b") });
    await lake.commit((tx) => tx.registerDataFile({ table, file }));
    await lake.commit((tx) => {
      tx.renameColumn({ table, column: a, name: "was_a" });
      tx.addColumn({ table, definition: { name: "a", columnType: "BIGINT" } });
    });
    const old = await lake.index(table, ["was_a"], { unique: true });
    const young = await lake.index(table, ["a"]);
    expect(await lake.lookup(old, 2n)).toEqual([1n]);
    expect(await lake.catalog.indexNulls({ index: young, prefix: [null] })).toEqual([0n, 1n]);
    await lake.expectVerified(table);
  });
});

describe("rows that die in files", () => {
  const rows = rowsOf([1n, 10n], [2n, 20n], [3n, 30n], [4n, 40n]);

  async function withFile(): Promise<
    Fixture & { first: IndexId; second: IndexId; dataFileId: DataFileId; start: RowId }
  > {
    const { lake, table } = await openTable();
    await lake.insert(table, ...rowsOf([100n, 100n]));
    const [first, second] = [await lake.index(table, ["a"], { unique: true }), await lake.index(table, ["b"])];
    const { dataFileId, rowIdStart } = await lake.register(table, rows);
    return { lake, table, first, second, dataFileId, start: rowIdStart };
  }
  const removalsOf = (
    index: IndexId,
    column: "a" | "b",
    start: bigint,
    positions: readonly number[],
  ): FileIndexRemoval[] =>
    positions.map((position) => ({ index, rowId: start + BigInt(position), values: [rows[position]?.[column] ?? 0n] }));

  it("lose exactly the entries that a delete file's removals name, given by the caller or read", async () => {
    const { lake, table, first, second, dataFileId, start } = await withFile();
    const file = await lake.writeDeleteFile(table, dataFileId, [1, 3]);
    const removals = [...removalsOf(first, "a", start, [3, 1]), ...removalsOf(second, "b", start, [1, 3])];
    await lake.commit((tx) => tx.registerDeleteFile({ table, file, removals }));
    expect(await lake.catalog.indexRange({ index: first })).toEqual([start, start + 2n, 0n]);
    await lake.expectVerified(table);
    // The values are free.
    await lake.insert(table, ...rowsOf([2n, 20n], [4n, 40n]));
    await lake.expectVerified(table);
  });

  it("are refused without one removal for each row and each index", async () => {
    const { lake, table, first, second, dataFileId, start } = await withFile();
    const file = await lake.writeDeleteFile(table, dataFileId, [1, 3]);
    const other = await lake.table("u", { a: "BIGINT" });
    const foreign = await lake.index(other, ["a"], { name: "foreign" });
    const [a, b] = [removalsOf(first, "a", start, [1, 3]), removalsOf(second, "b", start, [1, 3])];
    const refusals: readonly (readonly [string, readonly FileIndexRemoval[] | undefined | "other", string])[] = [
      ["none at all", undefined, "constraint"],
      ["an empty list", [], "constraint"],
      ["those of one index only", a, "constraint"],
      ["a row too few", [a[0]!, ...b], "constraint"],
      ["a row twice", [a[0]!, a[0]!, ...b], "constraint"],
      ["a row too many", [...removalsOf(first, "a", start, [0, 1, 3]), ...b], "constraint"],
      ["a row of no file", [a[0]!, { ...a[1]!, rowId: 0n }, ...b], "constraint"],
      ["a row behind the file", [a[0]!, { ...a[1]!, rowId: start + 4n }, ...b], "constraint"],
      ["an index of another table", [...a, ...b, { index: foreign, rowId: start, values: [1n] }], "constraint"],
      ["a value of another type", [a[0]!, { ...a[1]!, values: ["4"] }, ...b], "invalid_argument"],
      ["something else", "other", "invalid_argument"],
    ];
    const writes = lake.store.writes;
    for (const [what, removals, code] of refusals) {
      const registration = lake.commit((tx) =>
        tx.registerDeleteFile({ table, file, ...(removals === undefined ? {} : { removals: removals as never }) }),
      );
      expect((await failureOf(registration)).code, what).toBe(code);
    }
    expect(lake.store.writes).toBe(writes);
    await lake.expectVerified(table);
  });

  it("of a delete file that names no row, or a row that the file does not have", async () => {
    const { lake, table, first, dataFileId, start } = await withFile();
    const empty = { ...(await lake.writeDeleteFile(table, dataFileId, [0])), deleteCount: 0 };
    const removals = removalsOf(first, "a", start, [0]);
    expect((await failureOf(lake.commit((tx) => tx.registerDeleteFile({ table, file: empty, removals })))).code).toBe(
      "constraint",
    );
    const behind = await lake.writeDeleteFile(table, dataFileId, [7]);
    const failure = await failureOf(
      lake.commit((tx) => tx.registerDeleteFile({ table, file: behind, removals: "scoped-read" })),
    );
    expect(["constraint", "data_file", "corruption"]).toContain(failure.code);
    await lake.expectVerified(table);
  });

  it("a removal of a row whose value another row holds by now leaves that row's entry alone", async () => {
    const { lake, table, first, second, dataFileId, start } = await withFile();
    const file = await lake.writeDeleteFile(table, dataFileId, [1]);
    // The caller names a value that the row does not have; the row that has it keeps its entry.
    const removals = [{ index: first, rowId: start + 1n, values: [3n] }, ...removalsOf(second, "b", start, [1])];
    await lake.commit((tx) => tx.registerDeleteFile({ table, file, removals }));
    expect(await lake.lookup(first, 3n)).toEqual([start + 2n]);
  });

  it.each(["scoped-read", "explicit"] as const)(
    "a delete file that replaces a smaller one takes out only what newly died (%s)",
    async (how) => {
      const { lake, table, first, second, dataFileId, start } = await withFile();
      const old = await lake.deleteRows(table, dataFileId, [1]);
      // The value of the dead row belongs to another row by now.
      const again = await lake.insert(table, ...rowsOf([2n, 20n]));
      const file = await lake.writeDeleteFile(table, dataFileId, [1, 2]);
      const explicit = [...removalsOf(first, "a", start, [2]), ...removalsOf(second, "b", start, [2])];
      const before = lake.store.writes;
      await lake.commit((tx) => {
        tx.expireDeleteFile({ table, file: old });
        tx.registerDeleteFile({ table, file, removals: how === "explicit" ? explicit : how });
      });
      expect(indexWritesIn(lake.store.batches.slice(before)[0])).toEqual({ puts: 0, deletes: 2 });
      expect(await lake.lookup(first, 2n)).toEqual([again]);
      expect(await lake.lookup(first, 3n)).toEqual([]);
      await lake.expectVerified(table);
    },
  );

  it("the expiry of a delete file brings rows back, and needs them read; their values must still be free", async () => {
    const { lake, table, first, dataFileId, start } = await withFile();
    const file = await lake.deleteRows(table, dataFileId, [1, 2]);
    expect((await failureOf(lake.commit((tx) => tx.expireDeleteFile({ table, file })))).code).toBe("constraint");
    const taken = await lake.insert(table, ...rowsOf([3n, 0n]));
    const failure = await failureOf(lake.commit((tx) => tx.expireDeleteFile({ table, file, entries: "scoped-read" })));
    expect(failure.message).toContain(`row ${start + 2n} claims a value that row ${taken} holds`);
    await lake.delete(table, taken);
    await lake.commit((tx) => tx.expireDeleteFile({ table, file, entries: "scoped-read" }));
    expect(await lake.catalog.indexRange({ index: first })).toEqual([start, start + 1n, start + 2n, start + 3n, 0n]);
    await lake.expectVerified(table);
    expect(
      (await failureOf(lake.commit((tx) => tx.expireDeleteFile({ table, file, entries: "all" as never })))).code,
    ).toMatch(/invalid_argument|not_found/u);
  });

  it("a file that is expired takes its live rows along, and needs nothing once all of them are dead", async () => {
    const { lake, table, first, second, dataFileId, start } = await withFile();
    await lake.deleteRows(table, dataFileId, [0, 1]);
    const expire = (removals?: readonly FileIndexRemoval[] | "scoped-read"): Promise<void> =>
      lake.commit((tx) =>
        tx.expireDataFile({ table, file: dataFileId, ...(removals === undefined ? {} : { removals }) }),
      );
    expect((await failureOf(expire())).code).toBe("constraint");
    expect((await failureOf(expire(removalsOf(first, "a", start, [2, 3])))).code).toBe("constraint");
    await expire([...removalsOf(first, "a", start, [2, 3]), ...removalsOf(second, "b", start, [2, 3])]);
    expect(await lake.catalog.indexRange({ index: first })).toEqual([0n]);
    await lake.expectVerified(table);
    const next = await lake.register(table, rows);
    await lake.deleteRows(table, next.dataFileId, [0, 1, 2, 3]);
    await lake.commit((tx) => tx.expireDataFile({ table, file: next.dataFileId }));
    await lake.expectVerified(table);
  });

  it.each(["scoped-read", "explicit"] as const)(
    "a row that dies in the commit that registers its file is never indexed (%s)",
    async (how) => {
      const { lake, table, first, second } = await withFile();
      // Rows 1 and 2 have one value: only one of them may live.
      const fresh = rowsOf([11n, 1n], [12n, 1n], [12n, 1n]);
      const file = await lake.writeFile(table, fresh);
      const deletes = await lake.writeDeleteFile(table, 0n as DataFileId, [2], file.path);
      const entries = fresh.flatMap((row, ordinal): FileIndexEntry[] => [
        { index: first, ordinal, values: [row["a"]] },
        { index: second, ordinal, values: [row["b"]] },
      ]);
      expect((await failureOf(lake.commit((tx) => tx.registerDataFile({ table, file, entries })))).code).toBe(
        "constraint",
      );
      const before = lake.store.writes;
      const start = await lake.commit((tx) => {
        const { dataFileId, rowIdStart } = tx.registerDataFile({
          table,
          file,
          entries: how === "explicit" ? entries : how,
        });
        const removals = [first, second].map((index, at) => ({
          index,
          rowId: rowIdStart + 2n,
          values: [at === 0 ? 12n : 1n],
        }));
        tx.registerDeleteFile({
          table,
          file: { ...deletes, dataFileId },
          removals: how === "explicit" ? removals : how,
        });
        return rowIdStart;
      });
      expect(indexWritesIn(lake.store.batches.slice(before)[0])).toEqual({ puts: 4, deletes: 0 });
      expect(await lake.lookup(first, 12n)).toEqual([start + 1n]);
      expect(await lake.lookup(second, 1n)).toEqual([start, start + 1n]);
      await lake.expectVerified(table);
    },
  );

  it("a row of a file that is deleted by its id leaves its entries, and is dead for everything that follows", async () => {
    const { lake, table, first, dataFileId, start } = await withFile();
    await lake.delete(table, start + 1n);
    expect(await lake.lookup(first, 2n)).toEqual([]);
    await lake.expectVerified(table);
    expect((await failureOf(lake.delete(table, start + 1n))).code).toBe("not_found");
    await lake.insert(table, ...rowsOf([2n, 21n]));
    // A delete file that names it again, a new index, and the end of the file all know.
    await lake.deleteRows(table, dataFileId, [0, 1]);
    await lake.expectVerified(table);
    await lake.index(table, ["b", "a"], { unique: true });
    await lake.expectVerified(table);
    await lake.commit((tx) => tx.expireDataFile({ table, file: dataFileId, removals: "scoped-read" }));
    await lake.expectVerified(table);
    expect((await lake.scan(table)).length).toBe(2);
  });

  it("frees 1,500 values for the rows that the same commit adds", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["a"], { unique: true });
    const bulk = rowsOf(...Array.from({ length: 1500 }, (_, i) => BigInt(i)));
    const old = await lake.register(table, bulk);
    const deletes = await lake.writeDeleteFile(
      table,
      old.dataFileId,
      bulk.map((_, i) => i),
    );
    const file = await lake.writeFile(table, bulk);
    await lake.commit((tx) => {
      tx.registerDeleteFile({ table, file: deletes, removals: "scoped-read" });
      tx.registerDataFile({ table, file, entries: "scoped-read" });
    });
    expect(await lake.lookup(index, 42n)).toEqual([1542n]);
    await lake.expectVerified(table);
  });
});

describe("the size of one commit", () => {
  it("ends at 1,000,000 index entries: a larger one is refused before a file is read, with count, limit and remedy", async () => {
    const { lake, table } = await openTable();
    await lake.index(table, ["a"]);
    await lake.index(table, ["b"]);
    // The file is not there: the refusal comes before anybody looks for it.
    const file = { path: "never-read.parquet", recordCount: 500_001, fileSizeBytes: 1_000_000, footerSize: 100 };
    const failure = await failureOf(lake.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" })));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toMatch(/1000002 index entries in one commit; the limit is 1000000/u);
    expect(failure.remedy).toMatch(/[Ss]plit/u);
    const atLimit = { ...file, recordCount: 500_000 };
    expect(
      (await failureOf(lake.commit((tx) => tx.registerDataFile({ table, file: atLimit, entries: "scoped-read" }))))
        .code,
    ).toBe("not_found");
    const other = await lake.table("u", { a: "BIGINT" });
    await lake.commit((tx) => tx.registerDataFile({ table: other, file: { ...file, recordCount: 1_000_001 } }));
    expect((await failureOf(lake.index(other, ["a"], { name: "u_a" }))).message).toMatch(/1000001 index entries/u);
  });

  it("counts the entries of rows that die before it reads a file", async () => {
    const { lake, table } = await openTable();
    await lake.index(table, ["a"]);
    const first = await lake.register(table, rowsOf([1n, 1n]));
    const second = await lake.register(table, rowsOf([2n, 2n]));
    const catalog = await plantRecordCounts(lake, table, 500_001n);
    const failure = await failureOf(
      catalog.commit((tx) => {
        for (const { dataFileId } of [first, second])
          tx.expireDataFile({ table, file: dataFileId, removals: "scoped-read" });
      }),
    );
    expect(failure.code).toBe("constraint");
    expect(failure.message).toMatch(/1000002 index entries in one commit; the limit is 1000000/u);
  });

  it("counts entries of inline rows, too", async () => {
    const { lake, table } = await openTable();
    for (let i = 0; i < 11; i++) {
      await lake.commit((tx) =>
        tx.createIndex({
          table,
          name: `i${i}`,
          columns: ["a", "b"],
          orders: [{ direction: i % 2 === 0 ? "asc" : "desc" }, {}],
        }),
      );
    }
    const rows = Array.from({ length: 91_000 }, (_, i) => ({ a: BigInt(i), b: null }));
    const writes = lake.store.writes;
    const failure = await failureOf(lake.insert(table, ...rows));
    expect(failure.message).toMatch(/1001000 index entries in one commit; the limit is 1000000/u);
    expect(lake.store.writes).toBe(writes);
  });

  it("ends at 64 MiB of encoded entries", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { s: "VARCHAR" });
    const index = await lake.index(table, ["s"]);
    const count = 66_000;
    const data = new Uint8Array(1024 * count).fill(120);
    const offsets = Int32Array.from({ length: count + 1 }, (_, i) => i * 1024);
    const column: ColumnVector = {
      length: count,
      type: "string",
      values: data,
      offsets,
      validity: null,
    };
    const file = { path: "f", recordCount: count, fileSizeBytes: 1, footerSize: 1 };
    const writes = lake.store.writes;
    const failure = await failureOf(
      lake.commit((tx) => tx.registerDataFile({ table, file, entries: [{ index, columns: [column] }] })),
    );
    expect(failure.code).toBe("constraint");
    expect(failure.message).toMatch(/bytes of index entries in one commit; the limit is 67108864/u);
    expect(lake.store.writes).toBe(writes);
  });
});

describe("lookups", () => {
  it("find the row of a value, all rows of a repeated one, none of an absent one, each once and ascending", async () => {
    const { lake, table } = await openTable();
    await lake.register(table, rowsOf(10n, 20n, 10n));
    const multi = await lake.index(table, ["a"]);
    expect(await lake.lookup(multi, 10n)).toEqual([0n, 2n]);
    expect(await lake.lookup(multi, 20n)).toEqual([1n]);
    expect(await lake.lookup(multi, 99n)).toEqual([]);
    expect(await lake.catalog.indexLookupMany({ index: multi, keys: [[20n], [10n], [20n], [99n]] })).toEqual([
      0n,
      1n,
      2n,
    ]);
    expect(await lake.catalog.indexLookupMany({ index: multi, keys: [] })).toEqual([]);
    // NULL equals nothing.
    expect(await lake.catalog.indexLookupMany({ index: multi, keys: [[null], [20n]] })).toEqual([1n]);
    expect((await failureOf(lake.lookup(multi, null))).code).toBe("invalid_argument");
    expect((await failureOf(lake.lookup(777n as IndexId, 1n))).code).toBe("not_found");
  });

  const range = async (
    lake: Lake,
    index: IndexId,
    lower?: readonly unknown[],
    upper?: readonly unknown[],
    how: "[]" | "()" | "[)" | "(]" = "[]",
    reverse = false,
  ): Promise<bigint[]> =>
    await lake.catalog.indexRange({
      index,
      ...(lower === undefined ? {} : { lower: { values: lower, inclusive: how.startsWith("[") } }),
      ...(upper === undefined ? {} : { upper: { values: upper, inclusive: how.endsWith("]") } }),
      ...(reverse ? { reverse } : {}),
    });

  it("over a range give the rows between the bounds in the index's order, and in reverse the exact opposite", async () => {
    const { lake, index } = await indexedFile(["a"], rowsOf(10n, 20n, 30n), { unique: true });
    expect(await range(lake, index, [15n], [25n])).toEqual([1n]);
    expect(await range(lake, index, [20n], undefined, "()")).toEqual([2n]);
    expect(await range(lake, index, undefined, [20n])).toEqual([0n, 1n]);
    expect(await range(lake, index, [10n], [30n])).toEqual([0n, 1n, 2n]);
    expect(await range(lake, index, [10n], [30n], "[]", true)).toEqual([2n, 1n, 0n]);
    expect(await range(lake, index, [10n], [30n], "()")).toEqual([1n]);
    expect(await range(lake, index, [30n], [10n])).toEqual([]);
    expect(await lake.catalog.indexRange({ index, limit: 2 })).toEqual([0n, 1n]);
    expect(await lake.catalog.indexRange({ index, limit: 2, reverse: true })).toEqual([2n, 1n]);
    expect(await lake.catalog.indexRange({ index, limit: 0 })).toEqual([]);
    expect((await failureOf(range(lake, index, [1n, 2n]))).code).toBe("invalid_argument");
    expect((await failureOf(range(lake, index, []))).code).toBe("invalid_argument");
    expect((await failureOf(lake.catalog.indexRange({ index, limit: -1 }))).code).toBe("invalid_argument");
  });

  it("over a range of repeated values give every row", async () => {
    const { lake, index } = await indexedFile(["a"], rowsOf(10n, 20n, 10n));
    expect(await range(lake, index, undefined, [20n], "[)")).toEqual([0n, 2n]);
    expect(await range(lake, index, [20n])).toEqual([1n]);
  });

  it.each([
    ["asc", "last"],
    ["asc", "first"],
    ["desc", "last"],
    ["desc", "first"],
  ] as const)(
    "over an open side leave NULLs out, which have a read of their own (%s, nulls %s)",
    async (direction, nulls) => {
      for (const unique of [true, false]) {
        const { lake, index } = await indexedFile(["a"], rowsOf(10n, null, 30n, null), {
          unique,
          orders: [{ direction, nulls }],
        });
        const up = direction === "asc";
        expect(await range(lake, index)).toEqual(up ? [0n, 2n] : [2n, 0n]);
        expect(await range(lake, index, [10n], undefined, "()")).toEqual([2n]);
        expect(await range(lake, index, undefined, [10n])).toEqual([0n]);
        expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([1n, 3n]);
        expect(await lake.catalog.indexNulls({ index, prefix: [null], reverse: true })).toEqual([3n, 1n]);
        expect(await lake.catalog.indexNulls({ index, prefix: [null], limit: 1 })).toEqual([1n]);
        expect((await failureOf(lake.catalog.indexNulls({ index, prefix: [10n] }))).code).toBe("invalid_argument");
        expect((await failureOf(lake.catalog.indexNulls({ index, prefix: [] }))).code).toBe("invalid_argument");
      }
    },
  );

  it("over a descending index deliver high values first", async () => {
    const { lake, index } = await indexedFile(["a"], rowsOf(10n, 20n, 30n), { orders: [{ direction: "desc" }] });
    expect(await range(lake, index, [10n], [30n])).toEqual([2n, 1n, 0n]);
    expect(await range(lake, index, [15n], undefined, "()")).toEqual([2n, 1n]);
    expect(await range(lake, index, undefined, [20n])).toEqual([1n, 0n]);
    expect(await range(lake, index, undefined, [20n], "[]", true)).toEqual([0n, 1n]);
  });

  it("over a composite index take a prefix with a window behind it", async () => {
    const { lake, index } = await indexedFile(["a", "b"], rowsOf([5n, 10n], [5n, 20n], [7n, 10n]), { unique: true });
    expect(await range(lake, index, [5n], [5n])).toEqual([0n, 1n]);
    expect(await range(lake, index, [5n, 20n], [7n, 10n])).toEqual([1n, 2n]);
    expect(await range(lake, index, [5n], undefined, "()")).toEqual([2n]);
    expect(await range(lake, index)).toEqual([0n, 1n, 2n]);
    expect(await range(lake, index, undefined, undefined, "[]", true)).toEqual([2n, 1n, 0n]);
  });

  it("over a composite index that refuses duplicates include rows with a NULL in a later column", async () => {
    const { lake, table, index } = await indexedFile(
      ["a", "b"],
      rowsOf([5n, null], [5n, 3n], [7n, null], [null, 1n], [5n, null]),
      { unique: true },
    );
    expect(await range(lake, index, [5n], [5n])).toEqual([1n, 0n, 4n]);
    expect(await range(lake, index, [5n], undefined, "[]", true)).toEqual([2n, 4n, 0n, 1n]);
    expect(await range(lake, index)).toEqual([1n, 0n, 4n, 2n]);
    expect(await range(lake, index, [5n, 0n], [5n, 9n])).toEqual([1n]);
    expect(await lake.catalog.indexNulls({ index, prefix: [5n, null] })).toEqual([0n, 4n]);
    expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([3n]);
    expect(await lake.catalog.indexNulls({ index, prefix: [null, null] })).toEqual([]);
    await lake.expectVerified(table);
  });

  it("with a prefix over descending columns carry over where a byte ends", async () => {
    const orders = [{ direction: "desc" }, { direction: "desc" }] as const;
    const { lake, index } = await indexedFile(["a", "b"], rowsOf([256n, 1n], [256n, 2n], [512n, 1n]), { orders });
    expect(await range(lake, index, [256n], [256n])).toEqual([1n, 0n]);
    expect(await range(lake, index, [256n], undefined, "()")).toEqual([2n]);
    expect(await range(lake, index, undefined, [256n], "[)")).toEqual([]);
  });

  it("over mixed directions need the columns before the last pinned", async () => {
    const orders = [{ direction: "asc" }, { direction: "desc" }] as const;
    const { lake, index } = await indexedFile(["a", "b"], rowsOf([5n, 10n], [5n, 20n], [7n, 10n]), { orders });
    expect((await failureOf(range(lake, index, [5n, 10n], [7n, 20n]))).code).toBe("invalid_argument");
    expect(await range(lake, index, [5n, 10n], [5n, 20n])).toEqual([1n, 0n]);
    expect(await range(lake, index, [7n])).toEqual([2n]);
  });

  it("answer for the head only: a past snapshot is refused with what to do instead", async () => {
    const { lake, table, index } = await indexedFile(["a"], rowsOf(10n), { unique: true });
    const past = await lake.head();
    await lake.insert(table, ...rowsOf(20n));
    const head = await lake.head();
    const reads = (at: bigint): (() => Promise<unknown>)[] => [
      () => lake.catalog.indexLookup({ index, key: [10n], at: at as SnapshotId }),
      () => lake.catalog.indexLookupMany({ index, keys: [[10n]], at: at as SnapshotId }),
      () => lake.catalog.indexRange({ index, at: at as SnapshotId }),
      () => lake.catalog.indexNulls({ index, prefix: [null], at: at as SnapshotId }),
    ];
    for (const read of reads(past)) {
      const failure = await failureOf(read);
      expect(failure.code).toBe("unsupported");
      expect(failure.remedy).toMatch(/head|scan/u);
    }
    for (const read of reads(head)) await read();
    using scope = await lake.catalog.reads();
    await lake.insert(table, ...rowsOf(30n));
    // Of a pinned scope, its own snapshot is the head.
    expect(await scope.indexLookup({ index, key: [20n], at: head as SnapshotId })).toEqual([1n]);
    expect((await failureOf(scope.indexLookup({ index, key: [20n], at: past as SnapshotId }))).code).toBe(
      "unsupported",
    );
  });

  it("in a scope stay on its cut while commits land, indexes are dropped and rows move", async () => {
    const { lake, table, index } = await indexedFile(["a"], rowsOf(10n, 20n), { unique: true });
    await lake.insert(table, ...rowsOf(30n));
    using scope = await lake.catalog.reads();
    const see = async (): Promise<unknown> => [
      await scope.indexRange({ index }),
      await scope.indexLookup({ index, key: [30n] }),
      await scope.indexLookupMany({ index, keys: [[10n], [40n]] }),
      (await scope.recentRows({ table })).map(({ rowId }) => rowId),
      scope.snapshot.indexesOf(table).length,
      scope.revision,
    ];
    const before = await see();
    await lake.delete(table, 0n, 2n);
    await lake.insert(table, ...rowsOf(30n, 40n));
    expect(await see()).toEqual(before);
    await lake.catalog.flushInlined({ table });
    await lake.commit((tx) => tx.dropIndex({ index }));
    await lake.catalog.maintain();
    expect(await see()).toEqual(before);
    expect(before).toEqual([[0n, 1n, 2n], [2n], [0n], [2n], 1, expect.any(BigInt)]);
    scope.release();
    expect((await failureOf(scope.indexRange({ index }))).code).toBe("closed");
  });

  it.each([
    ["no arguments", undefined],
    ["no index", {}],
    ["an index that is no id", { index: 5, key: [1n], keys: [], prefix: [null] }],
    ["a key that is no array", { index: 2n, key: 1n, keys: 1n, prefix: 1n, lower: 1n }],
    ["bounds without values", { index: 2n, key: null, keys: [1n], prefix: null, lower: {} }],
  ])("check their arguments: %s", async (_, args) => {
    const { lake, index } = await indexedFile(["a"], rowsOf(10n));
    expect(index).toBe(2n);
    for (const read of [
      () => lake.catalog.indexLookup(args as never),
      () => lake.catalog.indexLookupMany(args as never),
      () => lake.catalog.indexRange(args as never),
      () => lake.catalog.indexNulls(args as never),
    ]) {
      expect((await failureOf(read)).code).toBe("invalid_argument");
    }
  });
});

describe("an index that is not ready", () => {
  it.each(["building", "maintaining"] as const)(
    "is maintained while it is %s, and still refuses duplicates rather than losing one",
    async (state) => {
      const { lake, table, index } = await indexedFile(["a"], rowsOf(10n, 20n), { unique: true });
      const planted = await plantIndexState(lake, table, index, state);
      await planted.commit((tx) => tx.inlineInsert({ table, rows: rowsOf(30n) }));
      expect((await failureOf(planted.commit((tx) => tx.inlineInsert({ table, rows: rowsOf(10n) })))).code).toBe(
        "constraint",
      );
      await planted.commit((tx) => tx.inlineDelete({ table, rowId: 2n }));
      expect((await failureOf(planted.indexLookup({ index, key: [10n] }))).retryable).toBe(true);
      expect((await planted.snapshot()).indexById(table, index)?.state).toBe(state);
    },
  );

  it("refuses nothing once it is poisoned, and a drop makes way for another one", async () => {
    const { lake, table, index } = await indexedFile(["a"], rowsOf(10n, 20n), { unique: true });
    const planted = await plantIndexState(lake, table, index, "poisoned");
    await planted.commit((tx) => tx.inlineInsert({ table, rows: rowsOf(10n, 40n) }));
    expect((await planted.snapshot()).indexById(table, index)?.state).toBe("poisoned");
    await planted.commit((tx) => tx.inlineDelete({ table, rowId: 2n }));
    const { value: again } = await planted.commit((tx) => {
      tx.dropIndex({ index });
      return tx.createIndex({ table, name: "again", columns: ["a"], unique: true });
    });
    expect(await planted.indexRange({ index: again })).toEqual([0n, 1n, 3n]);
    await planted.maintain();
  });
});

describe("verbs of a transaction", () => {
  const verbs = [
    "createSchema",
    "dropSchema",
    "createTable",
    "renameTable",
    "setTableSchema",
    "dropTable",
    "addColumn",
    "renameColumn",
    "alterColumn",
    "dropColumn",
    "setPartitioning",
    "clearPartitioning",
    "setSorting",
    "clearSorting",
    "createIndex",
    "dropIndex",
    "registerDataFile",
    "expireDataFile",
    "registerDeleteFile",
    "expireDeleteFile",
    "updateTableStats",
    "updateColumnStats",
    "createView",
    "alterView",
    "dropView",
    "createMacro",
    "dropMacro",
    "setOption",
    "unsetOption",
    "setTag",
    "removeTag",
    "inlineInsert",
    "inlineDelete",
    "flushInlinedData",
  ] as const;

  it.each(verbs)("%s refuses anything that is no arguments object, and leaves nothing behind", async (verb) => {
    const { lake, table } = await openTable();
    await lake.index(table, ["a"]);
    const writes = lake.store.writes;
    await lake.commit(async (tx) => {
      for (const args of [undefined, null, 5, "x", [], {}, { table: "t" }]) {
        const failure = await failureOf(async () => (tx[verb] as (given: unknown) => unknown)(args));
        expect(["invalid_argument", "not_found", "constraint"], `${verb}(${JSON.stringify(args)})`).toContain(
          failure.code,
        );
        if (typeof args !== "object" || args === null || Array.isArray(args))
          expect(failure.code, `${verb}(${JSON.stringify(args)})`).toBe("invalid_argument");
      }
    });
    expect(lake.store.writes).toBe(writes);
  });
});
