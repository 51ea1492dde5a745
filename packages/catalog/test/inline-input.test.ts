import { createRequire } from "node:module";
import type { TableId } from "@moraine/codec";
import {
  type Data,
  Field,
  Int32,
  Int64,
  List,
  makeData,
  Map_,
  type RecordBatch,
  Struct,
  Table,
  tableToIPC,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import { describe, expect, it } from "vitest";
import type { InlineChunkInput, InlineRows, PlainRow } from "../src/index.js";
import type { ColumnDefinition } from "../src/verbs/column-tree.js";
import { failureOf } from "./support/errors.js";
import { Lake, main } from "./support/lake.js";

/** What callers pass as rows, whatever it is, and how little of it the store may take on trust. */

const listOf = (name: string, element: Partial<ColumnDefinition> = {}): ColumnDefinition => ({
  name,
  columnType: "LIST",
  children: [{ name: "element", columnType: "BIGINT", ...element }],
});

async function openTable(...columns: readonly ColumnDefinition[]): Promise<{ lake: Lake; table: TableId }> {
  const lake = await Lake.open();
  const table = await lake.commit((tx) => tx.createTable({ schema: main, name: "t", columns }));
  return { lake, table };
}

async function insert({ lake, table }: { lake: Lake; table: TableId }, rows: InlineRows): Promise<void> {
  await lake.commit((tx) => tx.inlineInsert({ table, rows }));
}

async function valuesOf({ lake, table }: { lake: Lake; table: TableId }): Promise<unknown[]> {
  return (await lake.catalog.recentRows({ table })).map(({ values }) => values);
}

/** The values with a hole before the one at a position. */
function withHole(at: number, values: readonly unknown[]): unknown[] {
  const holed = new Array<unknown>(values.length + 1);
  for (const [i, value] of values.entries()) holed[i < at ? i : i + 1] = value;
  return holed;
}

describe("holes in arrays", () => {
  it("are NULL in lists, as undefined is, at every depth", async () => {
    const place = await openTable(listOf("l"), listOf("m", listOf("element")));
    await insert(place, [
      { l: withHole(0, [5]), m: withHole(1, [withHole(1, [1, 2]), [3]]) },
      { l: new Array(2), m: [] },
      { l: [7], m: null },
    ]);
    expect(await valuesOf(place)).toEqual([
      { l: [null, 5n], m: [[1n, null, 2n], null, [3n]] },
      { l: [null, null], m: [] },
      { l: [7n], m: null },
    ]);
    await place.lake.catalog.flushInlined({ table: place.table });
    await place.lake.expectVerified(place.table);
  });

  it.each([
    ["alone", new Array<PlainRow>(2), 0],
    ["before a row", withHole(0, [{ a: 1 }]), 0],
    ["between rows", withHole(1, [{ a: 1 }, { a: 2 }]), 1],
    ["in an array that says how long it is", new Proxy([{ a: 1 }], { get: longer }), 1],
  ])("are no rows: %s", async (_, rows, at) => {
    const place = await openTable({ name: "a", columnType: "INTEGER" });
    const failure = await failureOf(insert(place, rows as InlineRows));
    expect(failure.code).toBe("invalid_argument");
    expect(failure.message).toContain(`rows[${at}] is no object`);
    expect(await valuesOf(place)).toEqual([]);
  });
});

function longer(rows: object, property: string | symbol): unknown {
  return property === "length" ? 3 : (Reflect.get(rows, property) as unknown);
}

describe("NULL in nested fields that forbid it", () => {
  const struct: ColumnDefinition = {
    name: "s",
    columnType: "STRUCT",
    children: [{ name: "x", columnType: "INTEGER", nullsAllowed: false }, listOf("y", { nullsAllowed: false })],
  };
  const map: ColumnDefinition = {
    name: "m",
    columnType: "MAP",
    children: [
      { name: "key", columnType: "VARCHAR" },
      { name: "value", columnType: "INTEGER", nullsAllowed: false },
    ],
  };

  it.each([
    ["s.x", { s: { x: null } }],
    ["s.x", { s: { y: [1] } }],
    ["s.y.element", { s: { x: 1, y: [1, null] } }],
    ["s.y.element", { s: { x: 1, y: new Array(1) } }],
    ["m.value", { m: new Map([["a", undefined]]) }],
  ])("is refused with its place: %s of %o", async (path, row) => {
    const place = await openTable(struct, map);
    const failure = await failureOf(insert(place, [{}, row]));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toContain(`rows[1] has NULL in column "${path}"`);
  });

  it("is none where the column itself is NULL", async () => {
    const place = await openTable(struct, map);
    await insert(place, [
      { s: null, m: null },
      { s: { x: 1, y: null }, m: new Map([["a", 1]]) },
    ]);
    expect(await valuesOf(place)).toEqual([
      { s: null, m: null },
      { s: { x: 1, y: null }, m: new Map([["a", 1]]) },
    ]);
  });
});

/** The other build of the same package: the same classes once more. */
const commonJs = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

describe("Arrow data of another copy of apache-arrow", () => {
  const { vectorFromArray: vector, Int64: Integer, Utf8: Text } = commonJs;
  const foreign = new commonJs.Table({ a: vector([1n, 2n], new Integer()), s: vector(["x", "y"], new Text()) });
  const columns: readonly ColumnDefinition[] = [
    { name: "a", columnType: "BIGINT" },
    { name: "s", columnType: "VARCHAR" },
  ];
  const mixed: Record<string, Vector> = { a: vectorFromArray([1n, 2n], new Int64()), s: foreign.getChild("s")! };

  it.each([
    ["table", foreign],
    ["record batch", foreign.batches[0]!],
    ["column", new Table(mixed)],
  ])("is refused at once: a %s", async (_, rows) => {
    const place = await openTable(...columns);
    const failure = await failureOf(insert(place, rows as Table | RecordBatch));
    expect(failure.code).toBe("invalid_argument");
    expect(failure.message).toContain("rows is of another copy of apache-arrow");
    expect(await valuesOf(place)).toEqual([]);
  });
});

/** A table as a stored chunk. */
function chunkOf(table: Table, schemaVersion: bigint): InlineChunkInput {
  const stream = Buffer.from(tableToIPC(table, "stream"));
  const schemaBytes = 8 + stream.readInt32LE(4);
  const endBytes = 8;
  return {
    schemaVersion,
    arrowSchema: Uint8Array.from(stream.subarray(0, schemaBytes)),
    // A batch in a stream begins with a marker of four bytes that a chunk lacks.
    arrowBody: Uint8Array.from(stream.subarray(schemaBytes + 4, stream.byteLength - endBytes)),
    rowCount: table.numRows,
  };
}

const validity = (...bits: readonly (0 | 1)[]): Uint8Array =>
  Uint8Array.of(bits.reduce<number>((byte, bit, at) => byte | (bit << at), 0));

function integers(values: readonly number[], nulls: readonly (0 | 1)[] = values.map(() => 1)): Data {
  const nullCount = nulls.filter((bit) => bit === 0).length;
  const data = Int32Array.from(values);
  return makeData({ type: new Int32(), length: values.length, nullCount, nullBitmap: validity(...nulls), data });
}

function structOf(x: Data, nulls: readonly (0 | 1)[]): Data {
  const type = new Struct([new Field("x", new Int32(), true)]);
  const nullCount = nulls.filter((bit) => bit === 0).length;
  return makeData({ type, length: nulls.length, nullCount, nullBitmap: validity(...nulls), children: [x] });
}

function listOfIntegers(child: Data, offsets: readonly number[], nulls: readonly (0 | 1)[]): Data {
  const type = new List(new Field("element", new Int32(), true));
  const nullCount = nulls.filter((bit) => bit === 0).length;
  const valueOffsets = Int32Array.from(offsets);
  const nullBitmap = validity(...nulls);
  return makeData<List>({ type, length: nulls.length, nullCount, nullBitmap, valueOffsets, child });
}

function mapOf(key: Data, value: Data, offsets: readonly number[]): Data {
  const pair = new Struct([new Field("key", new Int32(), false), new Field("value", new Int32(), true)]);
  const child = makeData({ type: pair, length: key.length, nullCount: 0, children: [key, value] });
  const type = new Map_(new Field("entries", pair, false) as never);
  const valueOffsets = Int32Array.from(offsets);
  return makeData({ type, length: offsets.length - 1, nullCount: 0, valueOffsets, child: child as never });
}

describe.each([
  ["as an Arrow table", (table: Table): InlineRows => table],
  ["as an Arrow record batch", (table: Table): InlineRows => table.batches[0]!],
  ["as a stored chunk", (table: Table): InlineRows => chunkOf(table, 1n)],
])("rows %s", (_, as) => {
  const struct = (nullsAllowed: boolean): ColumnDefinition => ({
    name: "c",
    columnType: "STRUCT",
    children: [{ name: "x", columnType: "INTEGER", nullsAllowed }],
  });
  const list: ColumnDefinition = listOf("c", { columnType: "INTEGER", nullsAllowed: false });
  const map: ColumnDefinition = {
    name: "c",
    columnType: "MAP",
    children: [
      { name: "key", columnType: "INTEGER" },
      { name: "value", columnType: "INTEGER", nullsAllowed: false },
    ],
  };
  const tableOf = (data: Data): Table => new Table({ c: new Vector([data]) });

  it.each([
    ["c", { name: "c", columnType: "INTEGER", nullsAllowed: false }, integers([1, 0], [1, 0])],
    ["c", { ...struct(true), nullsAllowed: false }, structOf(integers([1, 2]), [1, 0])],
    ["c.x", struct(false), structOf(integers([1, 0], [1, 0]), [1, 1])],
    ["c.element", list, listOfIntegers(integers([1, 0, 3], [1, 0, 1]), [0, 1, 3], [1, 1])],
    ["c.value", map, mapOf(integers([1, 2]), integers([1, 0], [1, 0]), [0, 1, 2])],
  ] as const)("may have no NULL in %s, which forbids it", async (path, column, data) => {
    const place = await openTable(column);
    const failure = await failureOf(insert(place, as(tableOf(data))));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toContain(`rows has NULL in column "${path}"`);
    expect(await valuesOf(place)).toEqual([]);
  });

  it.each([
    ["below a struct", struct(false), structOf(integers([1, 0], [1, 0]), [1, 0]), [{ x: 1 }, null]],
    ["below a list", list, listOfIntegers(integers([1, 0], [1, 0]), [0, 1, 2], [1, 0]), [[1], null]],
  ] as const)("may have NULL %s that is NULL itself", async (_where, column, data, expected) => {
    const place = await openTable(column);
    await insert(place, as(tableOf(data)));
    expect(await valuesOf(place)).toEqual(expected.map((c) => ({ c })));
  });

  it("may have no map with a NULL key, and state no other number of NULLs than they have", async () => {
    const key = mapOf(integers([1, 0], [1, 0]), integers([1, 2]), [0, 1, 2]);
    const withKey = await openTable(map);
    expect((await failureOf(insert(withKey, as(tableOf(key))))).code).toBe("invalid_argument");
    const short = makeData({
      type: new Int32(),
      length: 3,
      nullCount: 1,
      nullBitmap: validity(0, 0, 1),
      data: Int32Array.of(0, 0, 1),
    });
    const withCount = await openTable({ name: "c", columnType: "INTEGER" });
    expect((await failureOf(insert(withCount, as(tableOf(short))))).code).toBe("invalid_argument");
  });
});

it("a chunk has the structure of a nested column, whatever the column holds at its leaves", async () => {
  const hugeint: ColumnDefinition = {
    name: "c",
    columnType: "STRUCT",
    children: [{ name: "x", columnType: "HUGEINT" }],
  };
  const place = await openTable(hugeint);
  const flat = new Table({ c: new Vector([integers([1])]) });
  expect((await failureOf(insert(place, chunkOf(flat, 1n)))).code).toBe("invalid_argument");
  await insert(place, chunkOf(new Table({ c: new Vector([structOf(integers([1]), [1])]) }), 1n));
  expect(await valuesOf(place)).toEqual([{ c: { x: 1 } }]);
});

it.each([
  ["a Map", new Map([["x", 1]])],
  ["a date", new Date(0)],
  ["a buffer", new Uint8Array(1)],
  ["an array", [1]],
])("%s is no row and no struct", async (_, value) => {
  const struct: ColumnDefinition = {
    name: "s",
    columnType: "STRUCT",
    children: [{ name: "x", columnType: "INTEGER" }],
  };
  const place = await openTable(struct);
  for (const rows of [[value], [{ s: value }]]) {
    expect((await failureOf(insert(place, rows as never))).code).toBe("invalid_argument");
  }
});
