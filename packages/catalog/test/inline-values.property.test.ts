import { type TableId, toIndexValue } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlainRow } from "../src/index.js";
import { scanChunks } from "../src/inline/chunks.js";
import type { ColumnDefinition } from "../src/verbs/column-tree.js";
import { Lake, main } from "./support/lake.js";

function integers(low: bigint, high: bigint): fc.Arbitrary<unknown> {
  const some = fc.oneof(fc.bigInt({ min: low, max: high }), fc.constantFrom(low, high, 0n));
  return some.chain((value) => (isSafe(value) ? fc.constantFrom<unknown>(value, Number(value)) : fc.constant(value)));
}

function isSafe(value: bigint): boolean {
  return Number.isSafeInteger(Number(value));
}

function signed(bits: number): fc.Arbitrary<unknown> {
  return integers(-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n);
}

function unsigned(bits: number): fc.Arbitrary<unknown> {
  return integers(0n, (1n << BigInt(bits)) - 1n);
}

const infinite = (1n << 63n) - 1n;

/** Counts of timestamps: of every size between the first and the last that DuckDB has, and its infinities. */
function counts(first: bigint, last: bigint): fc.Arbitrary<bigint> {
  return fc.oneof(
    fc.bigInt({ min: first, max: last }),
    fc.bigInt({ min: -(1n << 42n), max: 1n << 42n }),
    fc.constantFrom(first, last, infinite, -infinite),
  );
}

const microseconds = counts(-9_223_372_022_400_000_000n, infinite - 1n);

function decimal(precision: number, scale: number): fc.Arbitrary<unknown> {
  const limit = 10n ** BigInt(precision) - 1n;
  return fc.bigInt({ min: -limit, max: limit }).map((unscaled) => {
    const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
    const point = digits.length - scale;
    return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}${scale === 0 ? "" : "."}${digits.slice(point)}`;
  });
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const bytes = (size: object): fc.Arbitrary<unknown> => fc.uint8Array(size).map((value) => Uint8Array.from(value));
const instants = fc.date({ min: new Date("1700-01-01"), max: new Date("2200-01-01"), noInvalidDate: true });

/** Every column type that plain rows can have, with values in all forms that are accepted. */
const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  TINYINT: signed(8),
  SMALLINT: signed(16),
  INTEGER: signed(32),
  BIGINT: signed(64),
  UTINYINT: unsigned(8),
  USMALLINT: unsigned(16),
  UINTEGER: unsigned(32),
  UBIGINT: unsigned(64),
  int64: signed(64),
  FLOAT: fc.double(),
  DOUBLE: fc.double(),
  BOOLEAN: fc.boolean(),
  VARCHAR: text,
  JSON: fc.json(),
  BLOB: bytes({ maxLength: 20 }),
  UUID: fc.oneof(fc.uuid(), bytes({ minLength: 16, maxLength: 16 })),
  DATE: fc.oneof(
    fc.bigInt({ min: -(1n << 31n), max: (1n << 31n) - 1n }),
    instants.map((date) => new Date(Math.floor(date.getTime() / 86_400_000) * 86_400_000)),
    fc.constantFrom("2026-02-28", "0044-03-15 (BC)", "infinity", "-infinity"),
  ),
  TIME: fc.oneof(fc.bigInt({ min: 0n, max: 86_400_000_000n }), fc.constantFrom("12:34:56.789012", "24:00:00")),
  TIME_NS: fc.bigInt({ min: 0n, max: 86_400_000_000_000n }),
  TIMESTAMP_S: fc.oneof(
    counts(-9_223_372_022_400n, 9_223_372_036_854n),
    instants.map((date) => new Date(Math.floor(date.getTime() / 1_000) * 1_000)),
  ),
  TIMESTAMP_MS: fc.oneof(counts(-9_223_372_022_400_000n, 9_223_372_036_854_775n), instants),
  TIMESTAMP: fc.oneof(microseconds, instants, fc.constantFrom("2026-02-28 12:34:56.789012", "infinity")),
  TIMESTAMP_NS: fc.oneof(counts(-9_223_286_400_000_000_000n, infinite - 1n), instants),
  TIMESTAMPTZ: fc.oneof(microseconds, instants, fc.constantFrom("2026-02-28 12:34:56.789012+05:30")),
  "DECIMAL(4,1)": decimal(4, 1),
  "DECIMAL(9,9)": decimal(9, 9),
  "DECIMAL(18,3)": decimal(18, 3),
  "DECIMAL(38,10)": decimal(38, 10),
  "DECIMAL(38,0)": fc.oneof(decimal(38, 0), signed(64)),
};

/** A column without its name, and values of it. */
interface Shape {
  readonly type: Omit<ColumnDefinition, "name">;
  readonly values: fc.Arbitrary<unknown>;
}

const scalarShapes = Object.entries(scalars).map(([columnType, values]): Shape => ({
  type: { columnType },
  values: fc.option(values),
}));

function nestedShapes(depth: number): fc.Arbitrary<Shape> {
  const inner = depth === 0 ? fc.constantFrom(...scalarShapes) : nestedShapes(depth - 1);
  const list = inner.map(({ type, values }): Shape => ({
    type: { columnType: "LIST", children: [{ name: "element", ...type }] },
    values: fc.option(fc.array(values, { maxLength: 4 })),
  }));
  const struct = fc.array(inner, { minLength: 1, maxLength: 3 }).map((fields): Shape => ({
    type: { columnType: "STRUCT", children: fields.map(({ type }, i) => ({ name: fieldName(i), ...type })) },
    values: fc.option(fc.record(Object.fromEntries(fields.map(({ values }, i) => [fieldName(i), values])))),
  }));
  const map = fc.tuple(fc.constantFrom(...Object.entries(scalars)), inner).map(([[keyType, keys], value]): Shape => ({
    type: {
      columnType: "MAP",
      children: [
        { name: "key", columnType: keyType },
        { name: "value", ...value.type },
      ],
    },
    values: fc.option(
      fc
        .uniqueArray(fc.tuple(keys, value.values), { maxLength: 4, selector: ([key]) => identity(keyType, key) })
        .map((entries) => new Map(entries)),
    ),
  }));
  return fc.oneof(inner, list, struct, map);
}

/** Equal for keys that are one value of the type. */
function identity(columnType: string, key: unknown): unknown {
  const value = toIndexValue(columnType, key);
  return value instanceof Uint8Array ? value.toString() : value === 0 ? 0 : value;
}

/** Names that objects order or treat in ways of their own are among them. */
function fieldName(position: number): string {
  return ["b", "1", "__proto__"][position] ?? "";
}

async function bodies(lake: Lake, table: TableId): Promise<string[]> {
  const found: string[] = [];
  for await (const { body } of scanChunks(lake.store.inner, table)) found.push(Buffer.from(body).toString("hex"));
  return found;
}

let tables = 0;

/** Inserts rows, then what is read of them into a second table: both keep the same bytes, however they were read. */
async function expectRoundTrip(lake: Lake, columns: readonly ColumnDefinition[], rows: readonly PlainRow[]) {
  tables += 1;
  const name = `t${tables}`;
  const table = await lake.commit((tx) => tx.createTable({ schema: main, name, columns }));
  const first = await lake.insert(table, ...rows);
  const read = (await lake.catalog.recentRows({ table })).map(({ values }) => values);
  const each = await Promise.all(
    rows.map(async (_, i) => (await lake.catalog.recentRow({ table, rowId: first + BigInt(i) }))?.values),
  );
  expect(each).toEqual(read);
  const copy = await lake.commit((tx) => tx.createTable({ schema: main, name: `${name}_copy`, columns }));
  await lake.insert(copy, ...read);
  expect(await bodies(lake, copy)).toEqual(await bodies(lake, table));
  expect((await lake.catalog.recentRows({ table: copy })).map(({ values }) => values)).toEqual(read);
}

describe("what is read of inline rows can be inserted again", () => {
  it("as the same bytes, for columns of every scalar type", async () => {
    const lake = await Lake.open();
    const entries = Object.entries(scalars);
    const columns = entries.map(([columnType], i) => ({ name: `c${i}`, columnType }));
    const row = fc.record(Object.fromEntries(entries.map(([, values], i) => [`c${i}`, fc.option(values)])));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), async (rows) => {
        await expectRoundTrip(lake, columns, rows);
      }),
      { numRuns: 60 },
    );
  });

  it("as the same bytes, for nested columns", async () => {
    const lake = await Lake.open();
    const rowsOfShape = nestedShapes(2).chain((shape) =>
      fc.record({ type: fc.constant(shape.type), values: fc.array(shape.values, { minLength: 1, maxLength: 5 }) }),
    );
    await fc.assert(
      fc.asyncProperty(rowsOfShape, async ({ type, values }) => {
        const columns = [
          { name: "k", columnType: "INTEGER" },
          { name: "x", ...type },
        ];
        await expectRoundTrip(
          lake,
          columns,
          values.map((x, k) => ({ k, x })),
        );
      }),
      { numRuns: 150 },
    );
  });

  it("and looked up: one form for rows and for keys of every type that has an index", async () => {
    const lake = await Lake.open();
    const entries = Object.entries(scalars);
    const table = await lake.table("t", Object.fromEntries(entries.map(([columnType], i) => [`c${i}`, columnType])));
    const row = fc.sample(fc.record(Object.fromEntries(entries.map(([, values], i) => [`c${i}`, values]))), 1)[0];
    await lake.insert(table, row as PlainRow);
    const read = await lake.catalog.recentRow({ table, rowId: 0n });
    const ids = (await lake.catalog.snapshot()).columnsOf(table).map(({ id }) => id);
    const [backfill] = await lake.catalog.inlineBackfillEntries({ table, columns: ids });
    expect(backfill?.values).toEqual(Object.values(read?.values ?? {}));
    for (const [i, value] of (backfill?.values ?? []).entries()) {
      const index = await lake.index(table, [`c${i}`]);
      expect(await lake.lookup(index, value), entries[i]?.[0]).toEqual([0n]);
    }
  });
});

it("the form of each type", async () => {
  const lake = await Lake.open();
  const forms: readonly (readonly [columnType: string, given: unknown, read: unknown])[] = [
    ["INTEGER", 7n, 7],
    ["BIGINT", 7, 7n],
    ["UBIGINT", 7, 7n],
    ["UINTEGER", 7n, 7],
    ["FLOAT", 0.1, Math.fround(0.1)],
    ["BOOLEAN", true, true],
    ["VARCHAR", "a", "a"],
    ["JSON", "[1]", "[1]"],
    ["BLOB", Uint8Array.of(0, 255), Uint8Array.of(0, 255)],
    ["UUID", Uint8Array.from({ length: 16 }, (_, i) => i), "00010203-0405-0607-0809-0a0b0c0d0e0f"],
    ["DECIMAL(10,2)", 5n, "5.00"],
    ["DECIMAL(10,2)", -0.5, "-0.50"],
    ["DATE", new Date("2026-07-10"), "2026-07-10"],
    ["DATE", 20_644n, "2026-07-10"],
    ["TIME", "12:30", "12:30:00"],
    ["TIMESTAMP", new Date("2026-07-10T12:30:00.5Z"), "2026-07-10 12:30:00.5"],
    ["TIMESTAMP_S", 0n, "1970-01-01 00:00:00"],
    ["TIMESTAMP_NS", 1n, "1970-01-01 00:00:00.000000001"],
    ["TIMESTAMPTZ", "2026-07-10 12:30:00+02", "2026-07-10 10:30:00+00"],
  ];
  const table = await lake.table("t", Object.fromEntries(forms.map(([columnType], i) => [`c${i}`, columnType])));
  await lake.insert(table, Object.fromEntries(forms.map(([, given], i) => [`c${i}`, given])));
  const [row] = await lake.catalog.recentRows({ table });
  expect(Object.values(row?.values ?? {})).toEqual(forms.map(([, , read]) => read));
});

it("a blob that was read is the caller's own", async () => {
  const lake = await Lake.open();
  const table = await lake.table("t", { b: "BLOB" });
  await lake.insert(table, { b: Uint8Array.of(1, 2) });
  const read = async () => (await lake.catalog.recentRow({ table, rowId: 0n }))?.values["b"] as Uint8Array;
  (await read()).fill(9);
  expect(await read()).toEqual(Uint8Array.of(1, 2));
});

it("a plain number is no date: it could be days or milliseconds", async () => {
  const lake = await Lake.open();
  const table = await lake.table("t", { d: "DATE" });
  const index = await lake.index(table, ["d"]);
  await expect(lake.insert(table, { d: 20_644 })).rejects.toMatchObject({ code: "invalid_argument" });
  await expect(lake.lookup(index, 20_644)).rejects.toMatchObject({ code: "invalid_argument" });
});

it.each([
  ["INTEGER", 1, 1n],
  ["FLOAT", 0.1, Math.fround(0.1)],
  ["FLOAT", 5e-324, -5e-324],
  ["DATE", "2026-07-10", new Date("2026-07-10")],
  ["DECIMAL(10,2)", "1.5", "1.50"],
  ["BLOB", Uint8Array.of(1), Uint8Array.of(1)],
])("a map has no key of type %s twice: %o is %o", async (columnType, one, other) => {
  const lake = await Lake.open();
  const table = await lake.commit((tx) =>
    tx.createTable({
      schema: main,
      name: "t",
      columns: [
        {
          name: "m",
          columnType: "MAP",
          children: [
            { name: "key", columnType },
            { name: "value", columnType: "INTEGER" },
          ],
        },
      ],
    }),
  );
  const m = new Map<unknown, number>([
    [one, 1],
    [other, 2],
  ]);
  await expect(lake.insert(table, { m: new Map([[one, 1]]) }, { m })).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringMatching(/rows\[1\], column "m": a value has one key twice/u) as string,
  });
});
