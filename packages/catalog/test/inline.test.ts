import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  decodeValue,
  InlineChunkValue,
  inlineChunkKey,
  InlineSchemaValue,
  type SnapshotId,
  type TableId,
} from "@moraine/codec";
import { getOne } from "@moraine/store";
import {
  type DataType,
  Decimal,
  Dictionary,
  Int32,
  Int64,
  makeData,
  Table,
  tableFromArrays,
  TimeMicrosecond,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import { describe, expect, it } from "vitest";
import type { InlineChunkInput, PlainRow } from "../src/index.js";
import type { ColumnDefinition } from "../src/verbs/column-tree.js";
import { failureOf } from "./support/errors.js";
import { temporaryFolder } from "./support/folders.js";
import { Lake, type LakeOptions, main } from "./support/lake.js";

async function openTable(options: LakeOptions = {}): Promise<{ readonly lake: Lake; readonly table: TableId }> {
  const lake = await Lake.open(options);
  return { lake, table: await lake.table("t", { k: "BIGINT", s: "VARCHAR" }) };
}

/** An Arrow column of one row, from its buffers: Arrow checks none of them. */
function vectorOf(type: DataType, buffers: object): Vector {
  return new Vector([makeData({ type, length: 1, nullCount: 0, ...buffers } as never)]);
}

async function keysOf(lake: Lake, table: TableId, at?: bigint): Promise<unknown[]> {
  const rows = await lake.catalog.recentRows({ table, ...(at === undefined ? {} : { at: at as SnapshotId }) });
  return rows.map(({ rowId, values }) => [rowId, values["k"]]);
}

/** What DuckDB finds in the files that a flush wrote. */
async function duckRows(folder: string, query = "SELECT *"): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const sql = await instance.connect();
  await sql.run("SET TimeZone = 'UTC'");
  const rows = (await sql.runAndReadAll(`${query} FROM '${folder}/*.parquet'`)).getRowsJson();
  sql.closeSync();
  instance.closeSync();
  return rows;
}

describe("inline rows", () => {
  it("read back with dense ids, the snapshot at which they began, and their values", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, { k: 1n, s: "a" }, { k: 2n }, { s: "c" });
    const begin = await lake.head();
    expect(await lake.catalog.recentRows({ table })).toEqual([
      { rowId: 0n, beginSnapshot: begin, endSnapshot: undefined, schemaVersion: 1n, values: { k: 1n, s: "a" } },
      { rowId: 1n, beginSnapshot: begin, endSnapshot: undefined, schemaVersion: 1n, values: { k: 2n, s: null } },
      { rowId: 2n, beginSnapshot: begin, endSnapshot: undefined, schemaVersion: 1n, values: { k: null, s: "c" } },
    ]);
    expect(await lake.catalog.recentRow({ table, rowId: 1n })).toMatchObject({ rowId: 1n, values: { k: 2n, s: null } });
    expect(await lake.catalog.recentRow({ table, rowId: 3n })).toBeUndefined();
  });

  it("continue the row ids of chunks, commits and data files", async () => {
    const { lake, table } = await openTable();
    const [first, second] = await lake.commit((tx) => [
      tx.inlineInsert({ table, rows: [{ k: 1n }, { k: 2n }] }),
      tx.inlineInsert({ table, rows: [{ k: 3n }] }),
    ]);
    await lake.register(
      table,
      [4n, 5n, 6n, 7n, 8n].map((k) => ({ k })),
    );
    expect([first, second, await lake.insert(table, { k: 9n })]).toEqual([0n, 2n, 8n]);
    expect((await lake.catalog.snapshot()).tableStats(table)).toMatchObject({ recordCount: 9n, nextRowId: 9n });
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
      [8n, 9n],
    ]);
  });

  it("of several inserts of one commit, into several tables, all survive, and each table has its own", async () => {
    const { lake, table } = await openTable();
    const other = await lake.table("u", { k: "BIGINT" });
    await lake.commit((tx) => {
      for (const k of [1n, 2n, 3n]) tx.inlineInsert({ table, rows: [{ k }] });
      tx.inlineInsert({ table: other, rows: [{ k: 10n }] });
    });
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
    ]);
    expect(await keysOf(lake, other)).toEqual([[0n, 10n]]);
    await lake.commit((tx) => tx.dropTable({ table: other }));
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
    ]);
  });

  it("that are deleted are gone at the head and seen in the past, down to the commit before they came", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, { k: 1n }, { k: 2n });
    const both = await lake.head();
    await lake.delete(table, 0n);
    const one = await lake.head();
    await lake.insert(table, { k: 3n });
    expect(await keysOf(lake, table)).toEqual([
      [1n, 2n],
      [2n, 3n],
    ]);
    expect(await keysOf(lake, table, one)).toEqual([[1n, 2n]]);
    expect(await keysOf(lake, table, both)).toEqual([
      [0n, 1n],
      [1n, 2n],
    ]);
    expect(await keysOf(lake, table, both - 1n)).toEqual([]);
    expect(await lake.catalog.recentRow({ table, rowId: 0n })).toBeUndefined();
    expect((await failureOf(lake.delete(table, 0n))).code).toBe("not_found");
    expect((await failureOf(lake.delete(table, 99n))).code).toBe("not_found");
    expect((await failureOf(keysOf(lake, table, one + 5n))).code).toBe("not_found");
  });

  it("are given by the four scans of DuckLake: live, begun in a window, ended in a window, and for a flush", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, { k: 1n }, { k: 2n });
    const a = await lake.head();
    await lake.insert(table, { k: 3n });
    await lake.delete(table, 0n);
    const c = await lake.head();
    await lake.delete(table, 2n);
    const d = await lake.head();
    const scan = async (
      kind: "table" | "flush" | "insertions" | "deletions",
      at: bigint,
      start = at,
    ): Promise<unknown[]> => {
      const rows = await lake.catalog.scanInline({
        table,
        scan: kind === "table" || kind === "flush" ? { kind, at } : { kind, at, start },
      });
      return rows.map(({ rowId, endSnapshot }) => [rowId, endSnapshot]);
    };
    expect(await scan("table", c)).toEqual([
      [1n, undefined],
      [2n, d],
    ]);
    expect(await scan("insertions", a)).toEqual([
      [0n, c],
      [1n, undefined],
    ]);
    expect(await scan("insertions", d, a + 1n)).toEqual([[2n, d]]);
    expect(await scan("deletions", d, c)).toEqual([
      [0n, c],
      [2n, d],
    ]);
    expect(await scan("deletions", d)).toEqual([[2n, d]]);
    expect(await scan("flush", d)).toEqual([
      [0n, c],
      [1n, undefined],
      [2n, d],
    ]);
    expect(await scan("flush", a)).toEqual([
      [0n, c],
      [1n, undefined],
    ]);
  });

  it("survive opening the store again, indexes and all", async () => {
    const folder = temporaryFolder();
    const { lake, table } = await openTable({ location: `${folder}/store`, dataPath: `${folder}/data` });
    const index = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n, s: "a" }, { k: 2n, s: "b" });
    await lake.delete(table, 0n);
    await lake.catalog.close();
    const again = await Lake.open({ location: `${folder}/store`, dataPath: `${folder}/data` });
    expect(await keysOf(again, table)).toEqual([[1n, 2n]]);
    await again.insert(table, { k: 1n });
    expect(await again.lookup(index, 1n)).toEqual([2n]);
    await again.expectVerified(table);
  });

  it.each([
    ["no rows", (lake: Lake, table: TableId) => lake.insert(table), "invalid_argument", /rows is empty/u],
    ["no table", (lake: Lake) => lake.insert(99n as TableId, { k: 1n }), "not_found", /table 99/u],
    [
      "more rows than the limit",
      (lake: Lake, table: TableId) => lake.insert(table, ...new Array<PlainRow>(100_001).fill({ k: 1n })),
      "invalid_argument",
      /100001 rows.*limit of 100000/u,
    ],
    [
      "a row that is no object",
      (lake: Lake, table: TableId) => lake.insert(table, { k: 1n }, null as never),
      "invalid_argument",
      /rows\[1\]/u,
    ],
    [
      "a row that is an array",
      (lake: Lake, table: TableId) => lake.insert(table, [1n] as never),
      "invalid_argument",
      /rows\[0\]/u,
    ],
    [
      "an unknown column",
      (lake: Lake, table: TableId) => lake.insert(table, { k: 1n }, { K: 1n }),
      "invalid_argument",
      /rows\[1\].*"K"/u,
    ],
    [
      "a value of another type",
      (lake: Lake, table: TableId) => lake.insert(table, { k: 1n }, { k: 1.5 }),
      "invalid_argument",
      /rows\[1\], column "k"/u,
    ],
    [
      "rows that are none",
      (lake: Lake, table: TableId) => lake.commit((tx) => tx.inlineInsert({ table, rows: 5 as never })),
      "invalid_argument",
      /rows/u,
    ],
    [
      "rows that are an object",
      (lake: Lake, table: TableId) => lake.commit((tx) => tx.inlineInsert({ table, rows: {} as never })),
      "invalid_argument",
      /rows/u,
    ],
  ] as const)("are refused: %s", async (_, insert, code, says) => {
    const { lake, table } = await openTable();
    const writes = lake.store.writes;
    const failure = await failureOf(insert(lake, table));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(says);
    expect(lake.store.writes).toBe(writes);
  });

  it("are refused for a NULL where the column forbids it, by name, left out, and in Arrow", async () => {
    const lake = await Lake.open();
    const table = await lake.commit((tx) =>
      tx.createTable({
        schema: main,
        name: "t",
        columns: [
          { name: "k", columnType: "BIGINT", nullsAllowed: false },
          { name: "s", columnType: "VARCHAR" },
        ],
      }),
    );
    for (const row of [{ k: null, s: "x" }, { s: "x" }]) {
      const failure = await failureOf(lake.insert(table, { k: 1n }, row));
      expect(failure.code).toBe("constraint");
      expect(failure.message).toMatch(/rows\[1\] has NULL in column "k"/u);
    }
    const arrow = new Table({
      k: vectorFromArray([1n, null], new Int64()),
      s: vectorFromArray(["a", "b"], new Utf8()),
    });
    expect((await failureOf(lake.commit((tx) => tx.inlineInsert({ table, rows: arrow })))).code).toBe("constraint");
  });

  it("must come after a change of the table's columns in one commit, not before it", async () => {
    const { lake, table } = await openTable();
    const k = await lake.columnId(table, "k");
    const changes: readonly ((tx: Parameters<Parameters<Lake["commit"]>[0]>[0]) => void)[] = [
      (tx) => tx.addColumn({ table, definition: { name: "extra", columnType: "BIGINT" } }),
      (tx) => tx.renameColumn({ table, column: k, name: "renamed" }),
      (tx) => tx.dropColumn({ table, column: k }),
    ];
    for (const change of changes) {
      const failure = await failureOf(
        lake.commit((tx) => {
          tx.inlineInsert({ table, rows: [{ k: 1n }] });
          change(tx);
        }),
      );
      expect(failure.code).toBe("constraint");
      expect(failure.remedy).toMatch(/columns first/u);
    }
    await lake.commit((tx) => {
      changes[0]!(tx);
      tx.inlineInsert({ table, rows: [{ k: 1n, extra: 5n }] });
    });
    await lake.insert(table, { k: 2n, extra: 6n });
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
    ]);
  });
});

const scalars: readonly {
  readonly columnType: string;
  readonly values: readonly unknown[];
  readonly duck: readonly unknown[];
}[] = [
  { columnType: "BOOLEAN", values: [true, false], duck: [true, false] },
  { columnType: "TINYINT", values: [-128, 127], duck: [-128, 127] },
  { columnType: "SMALLINT", values: [-32_768, 32_767], duck: [-32_768, 32_767] },
  { columnType: "INTEGER", values: [-2_147_483_648, 2_147_483_647], duck: [-2_147_483_648, 2_147_483_647] },
  {
    columnType: "BIGINT",
    values: [-(2n ** 63n), 2n ** 63n - 1n],
    duck: ["-9223372036854775808", "9223372036854775807"],
  },
  { columnType: "UTINYINT", values: [0, 255], duck: [0, 255] },
  { columnType: "USMALLINT", values: [0, 65_535], duck: [0, 65_535] },
  { columnType: "UINTEGER", values: [0, 4_294_967_295], duck: [0, 4_294_967_295] },
  { columnType: "UBIGINT", values: [0n, 2n ** 64n - 1n], duck: ["0", "18446744073709551615"] },
  { columnType: "FLOAT", values: [0.5, -1.25], duck: [0.5, -1.25] },
  { columnType: "DOUBLE", values: [1e300, -5e-324], duck: [1e300, -5e-324] },
  { columnType: "VARCHAR", values: ["", "\u00e9\u{1f600}"], duck: ["", "\u00e9\u{1f600}"] },
  { columnType: "BLOB", values: [Uint8Array.of(), Uint8Array.of(0, 255, 92)], duck: ["", "\\x00\\xFF\\"] },
  {
    columnType: "UUID",
    values: ["00000000-0000-0000-0000-000000000000", "fedcba98-7654-3210-fedc-ba9876543210"],
    duck: ["00000000-0000-0000-0000-000000000000", "fedcba98-7654-3210-fedc-ba9876543210"],
  },
  { columnType: "DATE", values: ["1969-12-31", "2026-02-28"], duck: ["1969-12-31", "2026-02-28"] },
  { columnType: "TIME", values: ["00:00:00", "23:59:59.999999"], duck: ["00:00:00", "23:59:59.999999"] },
  {
    columnType: "TIMESTAMP",
    values: ["1969-12-31 23:59:59.999999", "2026-02-28 12:34:56.789012"],
    duck: ["1969-12-31 23:59:59.999999", "2026-02-28 12:34:56.789012"],
  },
  {
    columnType: "TIMESTAMPTZ",
    values: ["2026-02-28 12:00:00+02", "1900-01-01 00:00:00+00"],
    duck: ["2026-02-28 10:00:00+00", "1900-01-01 00:00:00+00"],
  },
  {
    columnType: "TIMESTAMP_S",
    values: ["1969-12-31 23:59:59", "2026-02-28 12:34:56"],
    duck: ["1969-12-31 23:59:59", "2026-02-28 12:34:56"],
  },
  {
    columnType: "TIMESTAMP_MS",
    values: ["1969-12-31 23:59:59.999", "2026-02-28 12:34:56.789"],
    duck: ["1969-12-31 23:59:59.999", "2026-02-28 12:34:56.789"],
  },
  {
    columnType: "TIMESTAMP_NS",
    values: ["1969-12-31 23:59:59.999999999", "2026-02-28 12:34:56.789012345"],
    duck: ["1969-12-31 23:59:59.999999999", "2026-02-28 12:34:56.789012345"],
  },
  { columnType: "DECIMAL(4,1)", values: ["-999.9", "0.1"], duck: ["-999.9", "0.1"] },
  { columnType: "DECIMAL(9,0)", values: [999_999_999n, -1n], duck: ["999999999", "-1"] },
  {
    columnType: "DECIMAL(18,6)",
    values: ["123456789012.345678", "-0.000001"],
    duck: ["123456789012.345678", "-0.000001"],
  },
  {
    columnType: "DECIMAL(38,10)",
    values: [`${"9".repeat(28)}.${"9".repeat(10)}`, `-1.${"0".repeat(9)}1`],
    duck: [`${"9".repeat(28)}.${"9".repeat(10)}`, `-1.${"0".repeat(9)}1`],
  },
];

describe("values of every type", () => {
  it.each(scalars)(
    "$columnType comes back from inline rows and from the file that a flush writes of them",
    async ({ columnType, values, duck }) => {
      const folder = temporaryFolder();
      const lake = await Lake.open({ dataPath: folder });
      const table = await lake.table("t", { x: columnType, n: "INTEGER" });
      const index = await lake.index(table, ["x"]);
      await lake.insert(table, { x: values[0], n: 0 }, { x: null, n: 1 }, { x: values[1], n: 2 });
      const rows = await lake.catalog.recentRows({ table });
      expect(rows.map(({ values: { n } }) => n)).toEqual([0, 1, 2]);
      expect(rows[1]!.values["x"]).toBeNull();
      // The index holds the same values before and after.
      for (const [i, value] of values.entries()) expect(await lake.lookup(index, value)).toEqual([BigInt(2 * i)]);
      await lake.catalog.flushInlined({ table });
      expect(await duckRows(join(folder, "main/t"), "SELECT x, n")).toEqual([
        [duck[0], 0],
        [null, 1],
        [duck[1], 2],
      ]);
      const after = await lake.index(table, ["x"], { name: "after" });
      for (const [i, value] of values.entries()) expect(await lake.lookup(after, value)).toEqual([BigInt(2 * i)]);
      expect(await lake.catalog.indexNulls({ index: after, prefix: [null] })).toEqual([1n]);
    },
  );

  const list = (element: ColumnDefinition): Omit<ColumnDefinition, "name"> => ({
    columnType: "list",
    children: [{ ...element, name: "element" }],
  });
  const bigint: ColumnDefinition = { name: "element", columnType: "BIGINT" };
  const nested: readonly (readonly [string, Omit<ColumnDefinition, "name">, readonly unknown[], readonly unknown[]])[] =
    [
      ["a list", list(bigint), [[1n, null, -3n], []], [["1", null, "-3"], []]],
      [
        "a list of lists",
        list({ name: "element", ...list(bigint) }),
        [[[1n], [], null], [[2n, 3n]]],
        [[["1"], [], null], [["2", "3"]]],
      ],
      [
        "a struct",
        {
          columnType: "struct",
          children: [
            { name: "a", columnType: "BIGINT" },
            { name: "b", columnType: "VARCHAR" },
          ],
        },
        [{ a: 1n, b: "x" }, { a: null }],
        [
          { a: "1", b: "x" },
          { a: null, b: null },
        ],
      ],
      [
        "a map",
        {
          columnType: "map",
          children: [
            { name: "key", columnType: "VARCHAR" },
            { name: "value", columnType: "BIGINT" },
          ],
        },
        [
          new Map([
            ["a", 1n],
            ["b", null],
          ]),
          new Map(),
        ],
        [
          [
            { key: "a", value: "1" },
            { key: "b", value: null },
          ],
          [],
        ],
      ],
      [
        "a list of structs of decimals, times and bytes",
        list({
          name: "element",
          columnType: "struct",
          children: [
            { name: "d", columnType: "DECIMAL(10,2)" },
            { name: "t", columnType: "TIMESTAMP" },
            { name: "u", columnType: "UUID" },
            { name: "day", columnType: "DATE" },
            { name: "raw", columnType: "BLOB" },
            { name: "flag", columnType: "BOOLEAN" },
          ],
        }),
        [
          [
            {
              d: "1.50",
              t: "2026-02-28 12:34:56.789012",
              u: "fedcba98-7654-3210-fedc-ba9876543210",
              day: "1969-12-31",
              raw: Uint8Array.of(255),
              flag: true,
            },
            null,
          ],
          null,
        ],
        [
          [
            {
              d: "1.50",
              t: "2026-02-28 12:34:56.789012",
              u: "fedcba98-7654-3210-fedc-ba9876543210",
              day: "1969-12-31",
              raw: "\\xFF",
              flag: true,
            },
            null,
          ],
          null,
        ],
      ],
    ];

  it.each(nested)(
    "%s comes back from the file that a flush writes, beside indexed columns",
    async (_, definition, values, duck) => {
      const folder = temporaryFolder();
      const lake = await Lake.open({ dataPath: folder });
      const table = await lake.commit((tx) =>
        tx.createTable({
          schema: main,
          name: "t",
          columns: [
            { name: "k", columnType: "BIGINT" },
            { name: "x", ...definition },
          ],
        }),
      );
      const index = await lake.index(table, ["k"], { unique: true });
      await lake.insert(table, { k: 1n, x: values[0] }, { k: 2n, x: null }, { k: 3n, x: values[1] });
      const rows = await lake.catalog.recentRows({ table });
      expect(rows.map(({ values: row }) => row["k"])).toEqual([1n, 2n, 3n]);
      expect(rows[1]!.values["x"]).toBeNull();
      await lake.delete(table, 1n);
      await lake.insert(table, { k: 4n, x: values[0] });
      await lake.catalog.flushInlined({ table });
      expect(await duckRows(join(folder, "main/t"), "SELECT k, x")).toEqual([
        ["1", duck[0]],
        ["3", duck[1]],
        ["4", duck[0]],
      ]);
      expect(await lake.catalog.indexRange({ index })).toEqual([0n, 2n, 3n]);
      await lake.expectVerified(table);
    },
  );

  it.each([
    ["a scalar for a list", list(bigint), 5n],
    ["text for a list", list(bigint), "12"],
    ["a wrong element", list(bigint), [1n, "2"]],
    ["an array for a struct", { columnType: "struct", children: [{ name: "a", columnType: "BIGINT" }] }, [1n]],
    ["a scalar for a struct", { columnType: "struct", children: [{ name: "a", columnType: "BIGINT" }] }, 1n],
    ["a wrong field", { columnType: "struct", children: [{ name: "a", columnType: "BIGINT" }] }, { a: "1" }],
    ["an unknown field", { columnType: "struct", children: [{ name: "a", columnType: "BIGINT" }] }, { a: 1n, b: 2n }],
    [
      "a scalar for a map",
      {
        columnType: "map",
        children: [
          { name: "key", columnType: "VARCHAR" },
          { name: "value", columnType: "BIGINT" },
        ],
      },
      5,
    ],
    [
      "a map with a wrong value",
      {
        columnType: "map",
        children: [
          { name: "key", columnType: "VARCHAR" },
          { name: "value", columnType: "BIGINT" },
        ],
      },
      new Map([["a", "1"]]),
    ],
    [
      "a map with a NULL key",
      {
        columnType: "map",
        children: [
          { name: "key", columnType: "VARCHAR" },
          { name: "value", columnType: "BIGINT" },
        ],
      },
      new Map([[null, 1n]]),
    ],
    [
      "a wrong decimal",
      { columnType: "struct", children: [{ name: "a", columnType: "DECIMAL(4,2)" }] },
      { a: "1.234" },
    ],
  ])("that do not fit a nested column are refused by name: %s", async (_, definition, value) => {
    const lake = await Lake.open();
    const table = await lake.commit((tx) =>
      tx.createTable({
        schema: main,
        name: "t",
        columns: [{ name: "x", ...(definition as Omit<ColumnDefinition, "name">) }],
      }),
    );
    const failure = await failureOf(lake.insert(table, { x: null }, { x: value }));
    expect(["invalid_argument", "constraint"]).toContain(failure.code);
    expect(failure.message).toMatch(/rows\[1\], column "x[".]/u);
    expect(await lake.catalog.recentRows({ table })).toEqual([]);
  });

  it("timestamps read back without losses, however far away", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { s: "TIMESTAMP_S", us: "TIMESTAMP", ns: "TIMESTAMP_NS", z: "TIMESTAMPTZ" });
    const far = 2n ** 63n - 1n;
    await lake.insert(
      table,
      {
        s: "2026-02-28 12:34:56",
        us: "2026-02-28 12:34:56.789012",
        ns: "2026-02-28 12:34:56.789012345",
        z: "1969-12-31 23:59:59.999999+00",
      },
      { s: null, us: far, ns: -far, z: far },
    );
    expect((await lake.catalog.recentRows({ table })).map(({ values }) => values)).toEqual([
      {
        s: "2026-02-28 12:34:56",
        us: "2026-02-28 12:34:56.789012",
        ns: "2026-02-28 12:34:56.789012345",
        z: "1969-12-31 23:59:59.999999+00",
      },
      { s: null, us: "infinity", ns: "-infinity", z: "infinity" },
    ]);
  });

  it("a type that plain values cannot express is refused as unsupported", async () => {
    const lake = await Lake.open();
    for (const [i, columnType] of ["HUGEINT", "INTERVAL", "TIMETZ", "uint128", "GEOMETRY"].entries()) {
      const table = await lake.table(`t${i}`, { x: columnType });
      expect((await failureOf(lake.insert(table, { x: 1 }))).code).toBe("unsupported");
    }
  });
});

describe("rows as Arrow", () => {
  const arrow = (ks: readonly (bigint | null)[], ss: readonly (string | null)[]): Table =>
    new Table({ k: vectorFromArray(ks, new Int64()), s: vectorFromArray(ss, new Utf8()) });

  it("a table, a record batch, a slice and several batches are taken, columns in any order", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["k"], { unique: true });
    const insert = (rows: Parameters<typeof lake.insert>[1] | Table): Promise<bigint> =>
      lake.commit((tx) => tx.inlineInsert({ table, rows: rows as Table }));
    expect(await insert(arrow([1n, null], ["a", null]))).toBe(0n);
    expect(await lake.commit((tx) => tx.inlineInsert({ table, rows: arrow([2n], ["b"]).batches[0]! }))).toBe(2n);
    expect(await insert(arrow([0n, 3n, 4n, 0n], ["x", "c", null, "y"]).slice(1, 3))).toBe(3n);
    expect(
      await insert(new Table({ s: vectorFromArray(["e"], new Utf8()), k: vectorFromArray([5n], new Int64()) })),
    ).toBe(5n);
    expect(await insert(arrow([6n], ["f"]).concat(arrow([7n, 8n], ["g", "h"])))).toBe(6n);
    expect((await lake.catalog.recentRows({ table })).map(({ values }) => [values["k"], values["s"]])).toEqual([
      [1n, "a"],
      [null, null],
      [2n, "b"],
      [3n, "c"],
      [4n, null],
      [5n, "e"],
      [6n, "f"],
      [7n, "g"],
      [8n, "h"],
    ]);
    expect(await lake.catalog.indexRange({ index })).toEqual([0n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
    await lake.expectVerified(table);
  });

  it.each([
    ["no rows", arrow([], []), "invalid_argument"],
    [
      "another type",
      new Table({ k: vectorFromArray([1], new Int32()), s: vectorFromArray(["a"], new Utf8()) }),
      "invalid_argument",
    ],
    ["a column too few", new Table({ k: vectorFromArray([1n], new Int64()) }), "invalid_argument"],
    [
      "a column too many",
      new Table({
        k: vectorFromArray([1n], new Int64()),
        s: vectorFromArray(["a"], new Utf8()),
        x: vectorFromArray([1n], new Int64()),
      }),
      "invalid_argument",
    ],
    [
      "a dictionary",
      new Table({
        k: vectorFromArray([1n], new Int64()),
        s: vectorFromArray(["a"], new Dictionary(new Utf8(), new Int32())),
      }),
      "invalid_argument",
    ],
    ["inferred types", tableFromArrays({ k: [1, 2], s: ["a", "b"] }), "invalid_argument"],
  ])("are refused: %s", async (_, rows, code) => {
    const { lake, table } = await openTable();
    expect((await failureOf(lake.commit((tx) => tx.inlineInsert({ table, rows })))).code).toBe(code);
    expect(await lake.catalog.recentRows({ table })).toEqual([]);
  });

  it.each([
    [
      "text that is no UTF-8",
      "VARCHAR",
      vectorOf(new Utf8(), { valueOffsets: Int32Array.of(0, 1), data: Uint8Array.of(255) }),
    ],
    ["a time before midnight", "TIME", vectorOf(new TimeMicrosecond(), { data: BigInt64Array.of(-1n) })],
    ["a time after its day", "TIME", vectorOf(new TimeMicrosecond(), { data: BigInt64Array.of(86_400_000_001n) })],
    [
      "a decimal of too many digits",
      "DECIMAL(4,1)",
      vectorOf(new Decimal(1, 4, 128), { data: Uint32Array.of(10_000, 0, 0, 0) }),
    ],
  ])("are refused when they hold %s, which nobody could read back", async (_, columnType, x) => {
    const lake = await Lake.open();
    const table = await lake.table("t", { x: columnType });
    const failure = await failureOf(lake.commit((tx) => tx.inlineInsert({ table, rows: new Table({ x }) })));
    expect(failure).toMatchObject({ code: "invalid_argument" });
    expect(failure.message).toContain('column "x"');
  });

  it("a stored chunk is kept byte for byte, and one that its schema cannot read is refused", async () => {
    const { lake, table } = await openTable();
    await lake.insert(table, { k: 1n, s: "a" }, { k: 2n, s: null });
    const stored = async (begin: bigint): Promise<InlineChunkValue> =>
      decodeValue(InlineChunkValue, (await getOne(lake.store.inner, inlineChunkKey(table, 1n, begin, 0n)))!);
    const { body } = await stored(await lake.head());
    const schemaKey = lake.store.batches.flat().find(({ key }) => key.startsWith("0602"));
    const { arrowSchema } = decodeValue(InlineSchemaValue, new Uint8Array(Buffer.from(schemaKey!.value!, "hex")));
    const chunk: InlineChunkInput = { schemaVersion: 1n, arrowSchema, arrowBody: body, rowCount: 2 };
    const insert = (rows: Partial<InlineChunkInput>): Promise<bigint> =>
      lake.commit((tx) => tx.inlineInsert({ table, rows: { ...chunk, ...rows } }));
    expect(await insert({})).toBe(2n);
    expect((await stored(await lake.head())).body).toEqual(body);
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 1n],
      [3n, 2n],
    ]);

    const writes = lake.store.writes;
    const other = await Lake.open();
    const wider = await other.table("w", { k: "BIGINT", s: "VARCHAR", z: "DOUBLE" });
    await other.insert(wider, { k: 1n, s: "a", z: 1 }, { k: 2n, s: "b", z: 2 });
    const foreign = decodeValue(
      InlineChunkValue,
      (await getOne(other.store.inner, inlineChunkKey(wider, 1n, 2n, 0n)))!,
    ).body;
    const refusals: readonly (readonly [string, Partial<Record<keyof InlineChunkInput, unknown>>])[] = [
      ["a row count that is not the chunk's", { rowCount: 3 }],
      ["a row count that is none", { rowCount: -1 }],
      ["a body cut short", { arrowBody: body.slice(0, body.length - 9) }],
      ["a body of something else", { arrowBody: Uint8Array.of(1, 2, 3) }],
      ["a body of another schema", { arrowBody: foreign }],
      ["a schema that is none", { arrowSchema: Uint8Array.of(1, 2, 3) }],
      ["a schema version that is none", { schemaVersion: 1 }],
      ["bytes that are none", { arrowBody: [1, 2] }],
    ];
    for (const [what, changed] of refusals) {
      const failure = await failureOf(insert(changed as Partial<InlineChunkInput>));
      expect(failure.code, what).toBe("invalid_argument");
    }
    expect(lake.store.writes).toBe(writes);
  });
});

describe("flushes with files that the caller wrote", () => {
  async function withRows() {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n }, { k: 2n });
    const first = await lake.head();
    await lake.insert(table, { k: 3n });
    return { lake, table, index, first, second: (await lake.head()) as SnapshotId };
  }

  it("drain the chunks, keep ids and age, and leave the rows in exactly one place", async () => {
    const { lake, table, index, first, second } = await withRows();
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    const ids = await lake.commit((tx) =>
      tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        throughSnapshot: second,
        files: [{ file, rowIdStart: 0n, beginSnapshot: first, partialMax: second }],
      }),
    );
    const [info] = (await lake.catalog.snapshot()).dataFilesOf(table);
    expect(info).toMatchObject({
      id: ids[0],
      rowIdStart: 0n,
      beginSnapshot: first,
      partialMax: second,
      recordCount: 3n,
    });
    expect(await keysOf(lake, table)).toEqual([]);
    // Nothing inline is left of the past either: its rows are the file's now.
    expect(await keysOf(lake, table, first)).toEqual([]);
    expect((await lake.catalog.snapshot()).tableStats(table)).toMatchObject({
      recordCount: 3n,
      nextRowId: 3n,
      fileSizeBytes: info!.fileSizeBytes,
    });
    expect(await lake.catalog.indexRange({ index })).toEqual([0n, 1n, 2n]);
    await lake.expectVerified(table);
  });

  it("must say when their rows were read, where the table has indexes", async () => {
    const { lake, table, first, second } = await withRows();
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    const files = [{ file, rowIdStart: 0n, beginSnapshot: first, partialMax: second }];
    const failure = await failureOf(lake.commit((tx) => tx.flushInlinedData({ table, schemaVersion: 2n, files })));
    expect(failure.code).toBe("constraint");
    expect(failure.remedy).toMatch(/throughSnapshot/u);
  });

  it("without a file drain chunks of which every row is dead", async () => {
    const { lake, table, second } = await withRows();
    await lake.delete(table, 0n, 1n, 2n);
    expect(await lake.commit((tx) => tx.flushInlinedData({ table, schemaVersion: 2n, files: [] }))).toEqual([]);
    expect(await keysOf(lake, table, second)).toEqual([]);
    const left = lake.store.batches.at(-1)!.filter(({ key, value }) => key.startsWith("06") && value === undefined);
    // Two chunks, two locators, three tombstones.
    expect(left.length).toBe(7);
  });

  it("leave what the same commit inlines, and chunks of other schema versions", async () => {
    const { lake, table, first, second } = await withRows();
    await lake.commit((tx) => tx.addColumn({ table, definition: { name: "extra", columnType: "BIGINT" } }));
    await lake.insert(table, { k: 4n, extra: 4n });
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    await lake.commit((tx) => {
      tx.inlineInsert({ table, rows: [{ k: 5n, extra: 5n }] });
      return tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        throughSnapshot: tx.currentSnapshot.id,
        files: [{ file, rowIdStart: 0n, beginSnapshot: first, partialMax: second }],
      });
    });
    expect(await keysOf(lake, table)).toEqual([
      [3n, 4n],
      [4n, 5n],
    ]);
    await lake.expectVerified(table);
    await lake.catalog.flushInlined({ table });
    expect(await keysOf(lake, table)).toEqual([]);
    expect(await lake.column(table, "extra")).toEqual([null, null, null, 4n, 5n]);
    await lake.expectVerified(table);
  });

  it.each([
    ["begins with this commit", { beginSnapshot: 5n }, "constraint"],
    ["is younger than its age says", { partialMax: 2n }, "constraint"],
    ["has rows of this commit", { partialMax: 5n }, "constraint"],
    ["claims ids that were never given out", { rowIdStart: 1n }, "constraint"],
    ["has no id", { rowIdStart: -1n }, "invalid_argument"],
    ["has fewer rows than there are", { file: { recordCount: 2 } }, "constraint"],
    ["has more rows than there are", { file: { recordCount: 4 }, rowIdStart: 0n }, "constraint"],
  ])("are refused: a file that %s", async (_, changed, code) => {
    const { lake, table, first, second } = await withRows();
    expect([first, second]).toEqual([3n, 4n]);
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    const flushed = {
      rowIdStart: 0n,
      beginSnapshot: first,
      partialMax: second,
      ...changed,
      file: { ...file, ...("file" in changed ? changed.file : {}) },
    };
    const flush = lake.commit((tx) =>
      tx.flushInlinedData({ table, schemaVersion: 2n, throughSnapshot: second, files: [flushed as never] }),
    );
    expect((await failureOf(flush)).code).toBe(code);
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
    ]);
    await lake.expectVerified(table);
  });

  it("may not claim the ids that their own commit gave out, nor flush a row that it deletes", async () => {
    const { lake, table, first, second } = await withRows();
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }, { k: 9n }]);
    const claim = lake.commit((tx) => {
      tx.inlineInsert({ table, rows: [{ k: 9n }] });
      return tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        throughSnapshot: second,
        files: [{ file, rowIdStart: 0n, beginSnapshot: first, partialMax: second }],
      });
    });
    expect((await failureOf(claim)).code).toBe("constraint");
    const three = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    const deletes = lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: 1n });
      return tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        throughSnapshot: second,
        files: [{ file: three, rowIdStart: 0n, beginSnapshot: first, partialMax: second }],
      });
    });
    expect((await failureOf(deletes)).code).toBe("constraint");
    expect(await keysOf(lake, table)).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
    ]);
  });

  it("are refused unless their files have the very ids of the rows", async () => {
    for (const indexed of [true, false]) {
      const { lake, table } = await openTable();
      if (indexed) await lake.index(table, ["k"], { unique: true });
      await lake.insert(table, ...[0n, 1n, 2n, 3n, 4n].map((k) => ({ k })));
      const begun = (await lake.head()) as SnapshotId;
      await lake.delete(table, 0n, 1n);
      const throughSnapshot = (await lake.head()) as SnapshotId;
      const rows = [{ k: 2n }, { k: 3n }, { k: 4n }];
      const flush = async (
        rowIds: readonly bigint[] | undefined,
        rowIdStart: bigint,
        held = rows,
      ): Promise<unknown> => {
        const file = await lake.writeFile(table, held, rowIds === undefined ? {} : { rowIds });
        return await lake.commit((tx) =>
          tx.flushInlinedData({
            table,
            schemaVersion: indexed ? 2n : 1n,
            throughSnapshot,
            files: [{ file, rowIdStart, beginSnapshot: begun, partialMax: begun }],
          }),
        );
      };
      const writes = lake.store.writes;
      for (const rowIds of [
        [0n, 2n, 4n],
        [2n, 3n, 3n],
        [2n, 3n, 9n],
      ]) {
        for (const start of [0n, 2n]) {
          const failure = await failureOf(flush(rowIds, start));
          expect(failure.code, String(rowIds)).toBe("constraint");
          expect(failure.message).toMatch(/drains 1 live rows whose ids/u);
        }
      }
      expect((await failureOf(flush(undefined, 0n))).message).toMatch(/drains 2 live rows whose ids/u);
      expect(lake.store.writes).toBe(writes);
      expect(await keysOf(lake, table)).toEqual([
        [2n, 2n],
        [3n, 3n],
        [4n, 4n],
      ]);
      // In any order, and from a first id that says nothing.
      await flush([4n, 2n, 3n], 0n, [{ k: 4n }, { k: 2n }, { k: 3n }]);
      expect(await keysOf(lake, table)).toEqual([]);
      expect((await lake.scan(table)).map(({ rowId }) => rowId)).toEqual([2n, 3n, 4n]);
      await lake.expectVerified(table);
    }
  });

  it("fail with a conflict when a row that was read for them has been deleted since", async () => {
    const { lake, table, first, second } = await withRows();
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    await lake.delete(table, 1n);
    const flush = lake.commit((tx) =>
      tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        throughSnapshot: second,
        files: [{ file, rowIdStart: 0n, beginSnapshot: first, partialMax: second }],
      }),
    );
    expect((await failureOf(flush)).code).toBe("commit_conflict");
    await lake.expectVerified(table);
  });
});

describe("flushes that write the files themselves", () => {
  it("end although rows are deleted all the time", async () => {
    const { lake, table } = await openTable();
    const index = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, ...Array.from({ length: 500 }, (_, k) => ({ k: BigInt(k) })));
    let stop = false;
    const updater = (async () => {
      for (let k = 0n; !stop; k = (k + 1n) % 500n) {
        const [rowId] = await lake.lookup(index, k);
        const update = lake.commit((tx) => {
          tx.inlineDelete({ table, rowId: rowId! });
          tx.inlineInsert({ table, rows: [{ k }] });
        });
        // A flush that has moved the row meanwhile is a conflict.
        await update.catch((error: unknown) => expect(error).toMatchObject({ code: "commit_conflict" }));
      }
    })();
    const commits = await lake.head();
    for (let round = 0; round < 3; round++) {
      const begun = await lake.head();
      await expect.poll(() => lake.head(), { interval: 5, timeout: 20_000 }).toBeGreaterThan(begun + 3n);
      const { rowCount, dataFileIds } = await lake.catalog.flushInlined({ table });
      expect(rowCount).toBeGreaterThan(0);
      expect(dataFileIds.length).toBeGreaterThan(0);
    }
    stop = true;
    await updater;
    expect(await lake.head()).toBeGreaterThan(commits + 3n);
    expect((await lake.scan(table)).length).toBe(500);
    await lake.expectVerified(table);
    // Nothing is left of the tries that did not land.
    let files = 0;
    for await (const { path } of lake.data.list("")) if (path.includes("moraine-")) files += 1;
    expect(files).toBe((await lake.catalog.snapshot()).dataFilesOf(table).length);
  });

  it("write one file for each schema version, with the field ids of the columns as they were", async () => {
    const folder = temporaryFolder();
    const lake = await Lake.open({ dataPath: folder });
    const table = await lake.table("t", { k: "INTEGER", s: "VARCHAR" });
    await lake.insert(table, { k: 1, s: "a" });
    const [k, s] = [await lake.columnId(table, "k"), await lake.columnId(table, "s")];
    await lake.commit((tx) => tx.renameColumn({ table, column: s, name: "text" }));
    await lake.insert(table, { k: 2n, text: "b" });
    await lake.commit((tx) => tx.addColumn({ table, definition: { name: "d", columnType: "DOUBLE" } }));
    await lake.insert(table, { k: 3n, text: "c", d: 0.5 });
    await lake.commit((tx) => tx.dropColumn({ table, column: s }));
    await lake.insert(table, { k: 4n, d: 1.5 });
    await lake.commit((tx) => tx.alterColumn({ table, column: k, columnType: "BIGINT" }));
    const flushed = await lake.catalog.flushInlined({ table });
    expect([flushed.rowCount, flushed.dataFileIds.length]).toEqual([4, 4]);
    const fieldIds = await duckSchema(join(folder, "main/t"));
    expect(fieldIds.sort()).toEqual(
      [`${k} k, ${s} s`, `${k} k, ${s} text`, `${k} k, ${s} text, 3 d`, `${k} k, 3 d`].sort(),
    );
    const index = await lake.index(table, ["d", "k"]);
    expect(await lake.lookup(index, 1.5, 4n)).toEqual([3n]);
    expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([0n, 1n]);
    expect((await lake.scan(table)).length).toBe(4);
    await lake.expectVerified(table);
  });

  it("of an empty table, or of one whose rows are all dead, write no file", async () => {
    const folder = temporaryFolder();
    const { lake, table } = await openTable({ dataPath: folder });
    const head = await lake.head();
    expect(await lake.catalog.flushInlined({ table })).toEqual({ snapshotId: head, dataFileIds: [], rowCount: 0 });
    await lake.insert(table, { k: 1n });
    await lake.delete(table, 0n);
    expect(await lake.catalog.flushInlined({ table })).toMatchObject({ dataFileIds: [], rowCount: 0 });
    expect(await lake.catalog.scanInline({ table, scan: { kind: "flush", at: await lake.head() } })).toEqual([]);
  });

  it("need a table and a data path", async () => {
    const { lake, table } = await openTable({ dataPath: null });
    expect((await failureOf(lake.catalog.flushInlined({ table }))).code).toBe("configuration");
    const { lake: other } = await openTable();
    expect((await failureOf(other.catalog.flushInlined({ table: 99n as TableId }))).code).toBe("not_found");
    for (const args of [undefined, null, {}, { table: 1 }]) {
      expect((await failureOf(other.catalog.flushInlined(args as never))).code).toBe("invalid_argument");
    }
  });
});

/** Field ids and names of each file in a folder. */
async function duckSchema(folder: string): Promise<string[]> {
  const rows = await duckRows(folder, "SELECT 1");
  expect(rows.length).toBeGreaterThan(0);
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const sql = await instance.connect();
  const found = await sql.runAndReadAll(
    `SELECT string_agg(field_id || ' ' || name, ', ') FROM parquet_schema('${folder}/*.parquet') WHERE field_id IS NOT NULL AND field_id < 1000 GROUP BY file_name`,
  );
  sql.closeSync();
  instance.closeSync();
  return found.getRows().map(([text]) => String(text));
}

describe("reads of inline rows", () => {
  it.each([
    undefined,
    null,
    5,
    {},
    { table: 1 },
    { table: 1n, at: 5 },
    { table: 1n, at: -1n },
    { table: 1n, rowId: 1, scan: {} },
    { table: 1n, rowId: -1n, scan: { kind: "all", at: 1n } },
  ])("check their arguments: %s", async (args) => {
    const { lake } = await openTable();
    const given = args as never;
    const calls: (() => Promise<unknown>)[] = [
      () => lake.catalog.recentRow(given),
      () => lake.catalog.scanInline(given),
    ];
    const isForRow = typeof args === "object" && args !== null && "rowId" in args;
    if (!isForRow) calls.push(() => lake.catalog.recentRows(given));
    for (const call of calls) expect((await failureOf(call)).code).toBe("invalid_argument");
  });

  it("find nothing above the head", async () => {
    const { lake, table } = await openTable();
    const at = ((await lake.head()) + 1n) as SnapshotId;
    expect((await failureOf(lake.catalog.recentRows({ table, at }))).code).toBe("not_found");
    for (const scan of [{ kind: "table", at } as const, { kind: "deletions", start: 0n, at } as const])
      expect((await failureOf(lake.catalog.scanInline({ table, scan }))).code).toBe("not_found");
  });
});
