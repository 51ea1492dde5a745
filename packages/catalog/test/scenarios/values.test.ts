import { spawnSync } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { IndexId, TableId } from "@moraine/codec";
import { Field, Float32, Float64, makeData, RecordBatch, Schema, Struct, Table } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileIndexEntry } from "../../src/index.js";
import { compileSources, type CompiledSources } from "../../../store/test/compiled-sources.js";
import { failureOf } from "../support/errors.js";
import { temporaryFolder } from "../support/folders.js";
import { storedEntries } from "../support/index-oracle.js";
import { Lake, main } from "../support/lake.js";

/** Rows of one floating-point column, bit patterns and all: plain numbers could lose the payload of a NaN. */
function floatRows(name: string, bits: readonly bigint[], width: 32 | 64): Table {
  const type = width === 64 ? new Float64() : new Float32();
  const data =
    width === 64
      ? new Float64Array(BigUint64Array.from(bits).buffer)
      : new Float32Array(Uint32Array.from(bits, Number).buffer);
  const field = new Field(name, type, true);
  const column = makeData({ type, length: bits.length, nullCount: 0, data } as never);
  return new Table([
    new RecordBatch(
      new Schema([field]),
      makeData({ type: new Struct([field]), length: bits.length, nullCount: 0, children: [column] }),
    ),
  ]);
}

const nans = {
  64: [0x7ff8000000000000n, 0xfff8000000000000n, 0x7ff0000000000001n, 0x7fffdeadbeef0001n],
  32: [0x7fc00000n, 0xffc00000n, 0x7f800001n, 0x7fdead01n],
} as const;
const infinity = { 64: 0x7ff0000000000000n, 32: 0x7f800000n } as const;

describe("floats", () => {
  it.each([
    ["DOUBLE", 64],
    ["FLOAT", 32],
  ] as const)("S68 every bit pattern of NaN is one %s key, the greatest of all", async (columnType, width) => {
    const lake = await Lake.open();
    const table = await lake.table("t", { x: columnType });
    const multi = await lake.index(table, ["x"]);
    await lake.insert(table, { x: 1 }, { x: Number.NaN });
    await lake.commit((tx) =>
      tx.inlineInsert({ table, rows: floatRows("x", [...nans[width], infinity[width]], width) }),
    );
    const all = [1n, 2n, 3n, 4n, 5n];
    expect(await lake.lookup(multi, Number.NaN)).toEqual(all);
    // x <> 1.0 as the two sides of the value: NaN is part of the upper one.
    expect(await lake.catalog.indexRange({ index: multi, lower: { values: [1], inclusive: false } })).toEqual([
      6n,
      ...all,
    ]);
    expect(
      await lake.catalog.indexRange({ index: multi, lower: { values: [Number.POSITIVE_INFINITY], inclusive: false } }),
    ).toEqual(all);
    await lake.expectVerified(table);
  });

  it.each([
    ["DOUBLE", 64],
    ["FLOAT", 32],
  ] as const)(
    "S68 an index that refuses duplicates takes one NaN of type %s, whatever its payload",
    async (columnType, width) => {
      const lake = await Lake.open();
      const table = await lake.table("t", { x: columnType });
      const unique = await lake.index(table, ["x"], { unique: true });
      await lake.insert(table, { x: Number.NaN });
      for (const bits of nans[width]) {
        const failure = await failureOf(
          lake.commit((tx) => tx.inlineInsert({ table, rows: floatRows("x", [bits], width) })),
        );
        expect(failure.code).toBe("constraint");
      }
      expect(await lake.lookup(unique, Number.NaN)).toEqual([0n]);
      await lake.delete(table, 0n);
      await lake.commit((tx) => tx.inlineInsert({ table, rows: floatRows("x", [nans[width][3]], width) }));
      expect(await lake.lookup(unique, Number.NaN)).toEqual([1n]);
      await lake.expectVerified(table);
    },
  );

  it("S68 NaNs that DuckDB writes to a file are the same key", async () => {
    const folder = temporaryFolder();
    const lake = await Lake.open({ dataPath: folder });
    const table = await lake.table("t", { x: "DOUBLE" });
    const unique = await lake.index(table, ["x"], { unique: true });
    const file = await duckFile(
      join(folder, "main/t"),
      "nan.parquet",
      "SELECT unnest(['nan'::DOUBLE, 1.0, '-inf'::DOUBLE]) AS x",
      { x: 1 },
    );
    await lake.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" }));
    expect(await lake.lookup(unique, Number.NaN)).toEqual([0n]);
    expect(await lake.catalog.indexRange({ index: unique })).toEqual([2n, 1n, 0n]);
    expect((await failureOf(lake.insert(table, { x: Number.NaN }))).code).toBe("constraint");
    await lake.expectVerified(table);
  });

  it.each(["DOUBLE", "FLOAT"])(
    "S69 zero of either sign is one %s key, and the smallest numbers around it keep their order",
    async (columnType) => {
      const lake = await Lake.open();
      const table = await lake.table("t", { x: columnType });
      const unique = await lake.index(table, ["x"], { unique: true });
      const tiny = columnType === "DOUBLE" ? 1e-323 : 2 ** -149;
      await lake.insert(table, { x: tiny }, { x: -0 }, { x: -tiny });
      expect((await failureOf(lake.insert(table, { x: 0 }))).code).toBe("constraint");
      expect(await lake.lookup(unique, 0)).toEqual([1n]);
      expect(await lake.lookup(unique, -0)).toEqual([1n]);
      expect(await lake.catalog.indexRange({ index: unique })).toEqual([2n, 1n, 0n]);
      await lake.delete(table, 1n);
      expect(await lake.insert(table, { x: 0 })).toBe(3n);
      expect(await lake.lookup(unique, -0)).toEqual([3n]);
      await lake.expectVerified(table);
    },
  );
});

describe("decimals, text and types that have no key", () => {
  it.each([
    ["DECIMAL(4,2)", ["-99.99", "-0.01", "0.00", "0.01", "99.99"]],
    ["DECIMAL(9,4)", ["-99999.9999", "-0.0001", "0.0000", "12345.6789", "99999.9999"]],
    ["DECIMAL(18,6)", ["-999999999999.999999", "-0.000001", "0.000000", "123456789012.345678", "999999999999.999999"]],
    [
      "DECIMAL(38,10)",
      [
        `-${"9".repeat(28)}.9999999999`,
        "-0.0000000001",
        "0.0000000000",
        `1${"0".repeat(27)}.5000000000`,
        `${"9".repeat(28)}.9999999999`,
      ],
    ],
  ])("S71 %s keeps every digit and orders by value, from plain values and from files", async (columnType, values) => {
    const folder = temporaryFolder();
    const lake = await Lake.open({ dataPath: folder });
    const table = await lake.table("t", { x: columnType });
    const unique = await lake.index(table, ["x"], { unique: true });
    await lake.insert(table, ...values.toReversed().map((x) => ({ x })));
    const inline = values.map((_, i) => BigInt(values.length - 1 - i));
    expect(await lake.catalog.indexRange({ index: unique })).toEqual(inline);
    for (const [i, x] of values.entries()) expect(await lake.lookup(unique, x)).toEqual([inline[i]]);
    const inOther = await lake.table("other", { x: columnType });
    const byFile = await lake.index(inOther, ["x"], { unique: true, name: "other_x" });
    const literals = values.map((x) => `'${x}'::${columnType}`).join(", ");
    const file = await duckFile(join(folder, "main/other"), "x.parquet", `SELECT unnest([${literals}]) AS x`, { x: 1 });
    await lake.commit((tx) => tx.registerDataFile({ table: inOther, file, entries: "scoped-read" }));
    expect(await lake.catalog.indexRange({ index: byFile })).toEqual(values.map((_, i) => BigInt(i)));
    expect(await keysOnly(lake, byFile)).toEqual(await keysOnly(lake, unique));
  });

  it.each([
    ["HUGEINT", /128-bit integers/u],
    ["UHUGEINT", /128-bit integers/u],
    ["INTERVAL", /months/u],
    ["TIMETZ", /offset/u],
  ])("S71 an index over a column of type %s is refused with the reason", async (columnType, reason) => {
    const lake = await Lake.open();
    const table = await lake.table("t", { x: columnType });
    const failure = await failureOf(lake.index(table, ["x"]));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toMatch(reason);
    expect((await lake.catalog.snapshot()).indexesOf(table)).toEqual([]);
  });

  it("S71 an index over a nested column is refused with the reason", async () => {
    const lake = await Lake.open();
    const children = [{ name: "element", columnType: "BIGINT" }];
    const columns = [{ name: "x", columnType: "LIST", children }];
    const table = await lake.commit((tx) => tx.createTable({ schema: main, name: "t", columns }));
    const failure = await failureOf(lake.index(table, ["x"]));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toMatch(/nested/u);
  });

  it.each(["VARCHAR COLLATE NOCASE", "VARCHAR COLLATE de", "varchar collate noaccent"])(
    "S72 an index over a column of type %s is refused, because keys order text by its bytes",
    async (columnType) => {
      const lake = await Lake.open();
      const table = await lake.table("t", { s: columnType });
      for (const unique of [true, false]) {
        const failure = await failureOf(lake.index(table, ["s"], { unique }));
        expect(failure.code).toBe("constraint");
        expect(failure.message).toMatch(/collat/iu);
        expect(failure.message).toMatch(/bytes/u);
      }
    },
  );

  it("S72 text without a collation is told apart by case, accents and normal form", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { s: "VARCHAR" });
    const unique = await lake.index(table, ["s"], { unique: true });
    const texts = ["A", "a", "\u00e9", "e\u0301", "e", "\u0130", "i", "\u0131", "I", "\u{1f600}", "\uffff"];
    await lake.insert(table, ...texts.map((s) => ({ s })));
    const byBytes = texts
      .map((s, i) => [Buffer.from(s), BigInt(i)] as const)
      .sort((a, b) => Buffer.compare(a[0], b[0]));
    expect(await lake.catalog.indexRange({ index: unique })).toEqual(byBytes.map(([, i]) => i));
    await lake.expectVerified(table);
  });

  it("S78 a value at the limit of 1,024 bytes is taken, one above it is refused with length and limit before anything is written", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { s: "VARCHAR", b: "BLOB" });
    const byText = await lake.index(table, ["s"], { unique: true });
    const both = await lake.index(table, ["s", "b"]);
    const atLimit = { s: "\0".repeat(512), b: new Uint8Array(512) };
    await lake.insert(table, atLimit);
    const writes = lake.store.writes;
    for (const row of [
      { s: "x".repeat(1025), b: null },
      { s: "x".repeat(70_000), b: null },
      { s: "y".repeat(512), b: new Uint8Array(513) },
      { s: "\u00e9".repeat(513), b: null },
    ]) {
      const failure = await failureOf(lake.insert(table, row));
      expect(failure.code).toBe("constraint");
      expect(failure.message).toMatch(/of (1025|70000|1026) bytes exceeds the 1024-byte limit/u);
    }
    const file = await lake.writeFile(table, [{ s: "z".repeat(1025) }]);
    expect(
      (await failureOf(lake.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" })))).code,
    ).toBe("constraint");
    expect(lake.store.writes).toBe(writes);
    expect((await failureOf(lake.lookup(byText, "x".repeat(1025)))).code).toBe("constraint");
    expect(await lake.lookup(byText, atLimit.s)).toEqual([0n]);
    expect(await lake.lookup(both, atLimit.s, atLimit.b)).toEqual([0n]);
    await lake.insert(table, { s: "x".repeat(1024), b: null });
    await lake.expectVerified(table);
  });
});

describe("one conversion for every source of values", () => {
  interface Case {
    readonly columnType: string;
    /** Plain values, and the same as DuckDB literals. In ascending order. */
    readonly values: readonly (readonly [plain: unknown, sql: string])[];
  }
  const cases: readonly Case[] = [
    {
      columnType: "BIGINT",
      values: [
        [-(2n ** 63n), "'-9223372036854775808'"],
        [-1n, "'-1'"],
        [0n, "0"],
        [5n, "5"],
        [2n ** 63n - 1n, "9223372036854775807"],
      ],
    },
    {
      columnType: "SMALLINT",
      values: [
        [-32_768, "'-32768'"],
        [0, "0"],
        [32_767, "32767"],
      ],
    },
    {
      columnType: "UBIGINT",
      values: [
        [0n, "0"],
        [2n ** 63n, "9223372036854775808"],
        [2n ** 64n - 1n, "18446744073709551615"],
      ],
    },
    {
      columnType: "UTINYINT",
      values: [
        [0, "0"],
        [127, "127"],
        [128, "128"],
        [255, "255"],
      ],
    },
    {
      columnType: "DOUBLE",
      values: [
        [Number.NEGATIVE_INFINITY, "'-inf'"],
        [-1.5, "-1.5"],
        [0, "0"],
        [5, "5"],
        [1e300, "1e300"],
        [Number.NaN, "'nan'"],
      ],
    },
    {
      columnType: "FLOAT",
      values: [
        [-1.5, "-1.5"],
        [0.1, "0.1"],
        [3.5e38, "'inf'"],
      ],
    },
    {
      columnType: "BOOLEAN",
      values: [
        [false, "false"],
        [true, "true"],
      ],
    },
    {
      columnType: "VARCHAR",
      values: [
        ["", "''"],
        ["5", "'5'"],
        ["a", "'a'"],
        ["\u00e9", "'\u00e9'"],
        ["\u{1f600}", "'\u{1f600}'"],
      ],
    },
    {
      columnType: "BLOB",
      values: [
        [Uint8Array.of(), "''"],
        [Uint8Array.of(0, 255), "'\\x00\\xFF'"],
        [Uint8Array.of(1), "'\\x01'"],
      ],
    },
    {
      columnType: "UUID",
      values: [
        ["00000000-0000-0000-0000-000000000001", "'00000000-0000-0000-0000-000000000001'"],
        ["f0000000-0000-0000-0000-000000000000", "'f0000000-0000-0000-0000-000000000000'"],
      ],
    },
    {
      columnType: "DATE",
      values: [
        ["1582-10-04", "'1582-10-04'"],
        ["1970-01-01", "'1970-01-01'"],
        ["2026-09-30", "'2026-09-30'"],
      ],
    },
    {
      columnType: "TIME",
      values: [
        ["00:00:00", "'00:00:00'"],
        ["12:34:56.789012", "'12:34:56.789012'"],
      ],
    },
    {
      columnType: "TIMESTAMP",
      values: [
        ["1969-12-31 23:59:59.999999", "'1969-12-31 23:59:59.999999'"],
        ["2026-09-30 12:00:00", "'2026-09-30 12:00:00'"],
      ],
    },
    {
      columnType: "TIMESTAMPTZ",
      values: [
        ["2026-09-30 12:00:00+02", "'2026-09-30 12:00:00+02'"],
        ["2026-09-30 12:00:00+00", "'2026-09-30 12:00:00+00'"],
      ],
    },
    {
      columnType: "TIMESTAMP_MS",
      values: [
        ["1969-12-31 23:59:59.999", "'1969-12-31 23:59:59.999'"],
        ["2026-09-30 12:00:00", "'2026-09-30 12:00:00'"],
      ],
    },
    {
      columnType: "TIMESTAMP_S",
      values: [
        ["1969-12-31 23:59:59", "'1969-12-31 23:59:59'"],
        ["2026-09-30 12:00:00", "'2026-09-30 12:00:00'"],
      ],
    },
    {
      columnType: "TIMESTAMP_NS",
      values: [
        ["1969-12-31 23:59:59.999999999", "'1969-12-31 23:59:59.999999999'"],
        ["2026-09-30 12:00:00", "'2026-09-30 12:00:00'"],
      ],
    },
    {
      columnType: "DECIMAL(10,2)",
      values: [
        ["-0.01", "-0.01"],
        ["5", "5"],
        ["12345678.90", "12345678.90"],
      ],
    },
  ];

  it.each(cases)(
    "S75 a $columnType from plain rows, from a file of DuckDB's and from supplied entries is one key",
    async ({ columnType, values }) => {
      const folder = temporaryFolder();
      const lake = await Lake.open({ dataPath: folder });
      const indexes: IndexId[] = [];
      const tables: TableId[] = [];
      for (const name of ["plain", "file", "supplied"]) {
        const table = await lake.table(name, { x: columnType });
        tables.push(table);
        indexes.push(
          await lake.index(table, ["x"], { name: `${name}_x`, orders: [{ direction: "desc", nulls: "first" }] }),
        );
      }
      const [plain, scanned, supplied] = tables as [TableId, TableId, TableId];
      await lake.insert(plain, ...values.map(([x]) => ({ x })), { x: null });
      const literals = [...values.map(([, sql]) => `${sql}::${columnType}`), `NULL::${columnType}`].join(", ");
      const query = `SELECT unnest([${literals}]) AS x`;
      const file = await duckFile(join(folder, "main/file"), "x.parquet", query, { x: 1 });
      await lake.commit((tx) => tx.registerDataFile({ table: scanned, file, entries: "scoped-read" }));
      const other = await duckFile(join(folder, "main/supplied"), "x.parquet", query, { x: 1 });
      const entries: FileIndexEntry[] = [...values.map(([x]) => x), null].map((x, ordinal) => ({
        index: indexes[2]!,
        ordinal,
        values: [x],
      }));
      await lake.commit((tx) => tx.registerDataFile({ table: supplied, file: other, entries }));
      const keys = await Promise.all(indexes.map((index) => keysOnly(lake, index)));
      expect(keys[1]).toEqual(keys[0]);
      expect(keys[2]).toEqual(keys[0]);
      // Descending: the last value comes first, and NULL before it.
      const descending = values.map((_, i) => BigInt(values.length - 1 - i));
      expect(await lake.catalog.indexRange({ index: indexes[1]! })).toEqual(descending);
      for (const [i, [x]] of values.entries()) {
        for (const index of indexes) expect(await lake.lookup(index, x)).toEqual([BigInt(i)]);
      }
      for (const index of indexes)
        expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([BigInt(values.length)]);
    },
  );

  it("S75 text in place of a number is refused by every one of them", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { x: "BIGINT" });
    const index = await lake.index(table, ["x"]);
    await lake.insert(table, { x: 5n });
    expect((await failureOf(lake.insert(table, { x: "5" }))).code).toBe("invalid_argument");
    expect((await failureOf(lake.lookup(index, "5"))).code).toBe("invalid_argument");
    const file = await lake.writeFile(table, [{ x: 5n }]);
    const entries = [{ index, ordinal: 0, values: ["5"] }];
    expect((await failureOf(lake.commit((tx) => tx.registerDataFile({ table, file, entries })))).code).toBe(
      "invalid_argument",
    );
    expect(await lake.lookup(index, 5)).toEqual([0n]);
    await lake.expectVerified(table);
  });

  it("S76 files without statistics, with false ones, or of a table with the same column ids are all read in full", async () => {
    const lake = await Lake.open();
    const rows = [{ x: null }, { x: 7n }, { x: null }, { x: -7n }];
    const tables: TableId[] = [];
    for (const name of ["none", "lies", "other"]) {
      const table = await lake.table(name, { x: "BIGINT" });
      tables.push(table);
      const file = await lake.writeFile(table, rows);
      const columnId = await lake.columnId(table, "x");
      const columnStats =
        name === "none"
          ? []
          : [{ columnId, columnSizeBytes: 32, valueCount: 4, nullCount: name === "lies" ? 0 : 2, min: "7", max: "7" }];
      await lake.commit((tx) => tx.registerDataFile({ table, file: { ...file, columnStats } }));
    }
    for (const [i, table] of tables.entries()) {
      const index = await lake.index(table, ["x"], { name: `x_${i}` });
      expect(await lake.catalog.indexNulls({ index, prefix: [null] })).toEqual([0n, 2n]);
      expect(await lake.catalog.indexRange({ index })).toEqual([3n, 1n]);
      await lake.expectVerified(table);
    }
  });
});

describe("key bytes and the host's locale", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    sources = compileSources(
      ["codec", "store", "index-core", "scoped-reader", "catalog"],
      ["catalog/test/support/key-bytes-process.ts"],
    );
  });
  afterAll(() => sources.remove());

  it("S73 the entries of one lake are the same bytes under every locale", () => {
    const outputs = ["C", "tr_TR.UTF-8", "de_DE.UTF-8"].map((locale) => {
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [sources.path("catalog/test/support/key-bytes-process.ts")],
        {
          // Which loops the store has makes no difference here, and those have nothing to warn of.
          env: { ...process.env, MORAINE_NATIVE: "off", LC_ALL: locale, LANG: locale, LANGUAGE: locale },
          encoding: "utf8",
        },
      );
      expect(stderr).toBe("");
      expect(status).toBe(0);
      return JSON.parse(stdout) as { readonly locale: string; readonly entries: readonly string[] };
    });
    // The processes did run under different locales.
    expect(new Set(outputs.map(({ locale }) => locale)).size).toBeGreaterThan(1);
    expect(outputs[0]!.entries.length).toBeGreaterThan(30);
    for (const { entries } of outputs) expect(entries).toEqual(outputs[0]!.entries);
  });
});

/** Entries of an index without its id: shape, values and row id. */
async function keysOnly(lake: Lake, index: IndexId): Promise<string[]> {
  return (await storedEntries(lake.store.inner, index))
    .map((entry) => {
      const [key = "", rowId = ""] = entry.split("=");
      // Keyed by the value alone where the row id stands beside it; which row it is differs between the sources.
      return `${key.slice(0, 4)} ${key.slice(20)}${rowId === "" ? "" : " one row"}`;
    })
    .sort();
}

/** A data file that DuckDB writes, with field ids. */
async function duckFile(
  folder: string,
  name: string,
  query: string,
  fieldIds: Readonly<Record<string, number>>,
): Promise<{ path: string; recordCount: number; fileSizeBytes: number; footerSize: number }> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const sql = await instance.connect();
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await sql.run("SET TimeZone = 'UTC'");
  const ids = Object.entries(fieldIds)
    .map(([column, id]) => `${column}: ${id}`)
    .join(", ");
  await sql.run(`COPY (${query}) TO '${path}' (FORMAT parquet, FIELD_IDS {${ids}})`);
  const count = (await sql.runAndReadAll(`SELECT count(*) FROM '${path}'`)).getRows()[0]?.[0];
  sql.closeSync();
  instance.closeSync();
  const bytes = await readFile(path);
  return {
    path: name,
    recordCount: Number(count),
    fileSizeBytes: bytes.length,
    footerSize: bytes.readUInt32LE(bytes.length - 8),
  };
}
