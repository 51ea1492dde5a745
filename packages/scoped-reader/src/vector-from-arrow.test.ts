import {
  Binary,
  Bool,
  DateMillisecond,
  Decimal,
  Dictionary,
  Field,
  FixedSizeBinary,
  Int32,
  LargeUtf8,
  List,
  makeData,
  makeVector,
  Null,
  tableFromIPC,
  TimestampMillisecond,
  Uint8,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { arrowStream } from "../test/support/page-index.js";
import { sampleQuery, sampleTypes } from "../test/support/types.js";
import { fromVector } from "../test/support/values.js";
import { scanFile, vectorFromArrow } from "./index.js";

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

async function arrowColumn(name: string, query: string): Promise<Vector> {
  await lake.write(name, query);
  const column = tableFromIPC(await arrowStream(lake, name)).getChild("c");
  if (column === null) throw new Error("the column is missing");
  return column;
}

describe("a column inline and the same column in a file have the same bytes", () => {
  test.each(sampleTypes)("$columnType", async (type) => {
    for (const nulls of [true, false]) {
      const name = `${type.columnType.replaceAll(/\W/g, "_")}-${nulls}.parquet`;
      const inline = vectorFromArrow(await arrowColumn(name, sampleQuery(type, 500, nulls)), type.columnType);
      for await (const { columns } of scanFile(await lake.source(name), {
        columns: [request("c", type.columnType)],
        rowIds: "none",
      })) {
        expect(inline).toEqual(columns[0]);
      }
      expect(inline.length).toBe(500);
    }
  });
});

test("any slice of a column is the slice of its vector", async () => {
  for (const type of sampleTypes.filter(({ columnType }) =>
    /^(BIGINT|BOOLEAN|VARCHAR|UUID|DECIMAL\(38.*)$/.test(columnType),
  )) {
    const column = await arrowColumn("slices.parquet", sampleQuery(type, 200, true));
    const whole = vectorFromArrow(column, type.columnType);
    fc.assert(
      fc.property(fc.nat(200), fc.nat(200), (a, b) => {
        const [start, end] = a < b ? [a, b] : [b, a];
        const slice = vectorFromArrow(column.slice(start, end), type.columnType);
        expect(Array.from({ length: slice.length }, (_, i) => fromVector(slice, i))).toEqual(
          Array.from({ length: end - start }, (_, i) => fromVector(whole, start + i)),
        );
      }),
      { numRuns: 20 },
    );
  }
});

test("columns in several chunks are joined", () => {
  const chunks = [vectorFromArray(["a", null, "bc"], new Utf8()), vectorFromArray(["", "d"], new Utf8())];
  const joined = vectorFromArrow(new Vector(chunks.flatMap(({ data }) => data)), "VARCHAR");
  expect(Array.from({ length: 5 }, (_, i) => fromVector(joined, i))).toEqual(["a", null, "bc", "", "d"]);
});

test("a column without rows or chunks is empty", () => {
  expect(vectorFromArrow(vectorFromArray([], new Utf8()), "VARCHAR")).toMatchObject({ length: 0, validity: null });
  expect(vectorFromArrow(makeVector(makeData({ type: new Int32(), length: 0 })), "INTEGER").length).toBe(0);
});

test("dictionaries are resolved, NULL indices too", () => {
  const values = ["red", "green", null, "red", "blue", "green"];
  const plain = vectorFromArrow(vectorFromArray(values, new Utf8()), "VARCHAR");
  expect(vectorFromArrow(vectorFromArray(values), "VARCHAR")).toEqual(plain);
  expect(vectorFromArrow(vectorFromArray(values, new Dictionary(new Utf8(), new Uint8())), "VARCHAR")).toEqual(plain);
});

test("Arrow types that only JavaScript makes", () => {
  const rows = (vector: Vector, type: string): unknown[] => {
    const column = vectorFromArrow(vector, type);
    return Array.from({ length: column.length }, (_, i) => fromVector(column, i));
  };
  expect(rows(vectorFromArray([1, null, -3.5]), "DOUBLE")).toEqual([1, null, -3.5]);
  expect(rows(vectorFromArray([true, null, false], new Bool()), "BOOLEAN")).toEqual([true, null, false]);
  expect(rows(vectorFromArray(["x", "long text"], new LargeUtf8()), "VARCHAR")).toEqual(["x", "long text"]);
  expect(rows(vectorFromArray([new Date(86_400_000), null], new DateMillisecond()), "DATE")).toEqual([1n, null]);
  expect(rows(vectorFromArray([new Date(1500)], new TimestampMillisecond()), "TIMESTAMP")).toEqual([1_500_000n]);
  expect(rows(vectorFromArray([Uint8Array.of(1, 2)], new Binary()), "BLOB")).toEqual(["0102"]);
  expect(rows(vectorFromArray([new Uint8Array(16).fill(7)], new Binary()), "UUID")).toEqual(["07".repeat(16)]);
  expect(rows(vectorFromArray([null, null], new Null()), "UUID")).toEqual([null, null]);
});

describe("what does not fit is a constraint error", () => {
  const refused: [name: string, vector: () => Vector, type: string][] = [
    ["text for an integer", () => vectorFromArray(["1"], new Utf8()), "INTEGER"],
    ["an integer out of range", () => vectorFromArray([300], new Int32()), "TINYINT"],
    ["a negative integer for an unsigned one", () => vectorFromArray([-1], new Int32()), "UBIGINT"],
    ["UUID as text", () => vectorFromArray(["00112233-4455-6677-8899-aabbccddeeff"], new Utf8()), "UUID"],
    ["a UUID of another length", () => vectorFromArray([Uint8Array.of(1, 2)], new Binary()), "UUID"],
    ["a fixed binary of another length", () => vectorFromArray([new Uint8Array(4)], new FixedSizeBinary(4)), "UUID"],
    ["a date with a time of day", () => vectorFromArray([new Date(1)], new DateMillisecond()), "DATE"],
    ["a finer timestamp", () => vectorFromArray([new Date(1)], new TimestampMillisecond()), "TIMESTAMP_S"],
    ["a nested column", () => vectorFromArray([[1]], new List(new Field("item", new Int32()))), "INTEGER"],
    ["a column type without index", () => vectorFromArray([1], new Int32()), "INTERVAL"],
  ];
  test.each(refused)("%s", (_, vector, type) => {
    expect(() => vectorFromArrow(vector(), type)).toThrow(expect.objectContaining({ code: "constraint" }));
  });
});

describe("buffers that are not what they promise", () => {
  const utf8 = (offsets: number[], bytes: number[]): (() => unknown) => {
    const data = makeData({
      type: new Utf8(),
      length: offsets.length - 1,
      valueOffsets: Int32Array.from(offsets),
      data: Uint8Array.from(bytes),
    });
    return () => vectorFromArrow(data, "VARCHAR");
  };
  const constraint = expect.objectContaining({ code: "constraint" }) as Error;

  test("offsets that go back, or beyond the values", () => {
    expect(utf8([0, 1, 2], [65, 66])()).toMatchObject({ length: 2 });
    expect(utf8([0, 2, 1], [65, 66])).toThrow(constraint);
    expect(utf8([0, 1, 3], [65, 66])).toThrow(constraint);
    expect(utf8([-1, 1, 2], [65, 66])).toThrow(constraint);
  });

  test("text that is not UTF-8", () => expect(utf8([0, 2], [0xc3, 0x28])).toThrow(constraint));

  test("values shorter than the column", () => {
    const data = makeData({ type: new Int32(), length: 10, nullCount: 0, data: new Int32Array(3) });
    expect(() => vectorFromArrow(data, "INTEGER")).toThrow(constraint);
    const wide = makeData({ type: new Decimal(2, 30, 128), length: 4, nullCount: 0, data: new Uint32Array(8) });
    expect(() => vectorFromArrow(wide, "DECIMAL(30,2)")).toThrow(constraint);
  });

  test("a validity bitmap shorter than the column", () => {
    const data = makeData({
      type: new Int32(),
      length: 20,
      nullCount: 1,
      nullBitmap: Uint8Array.of(1),
      data: new Int32Array(20),
    });
    expect(() => vectorFromArrow(data, "INTEGER")).toThrow(constraint);
  });

  test("a dictionary index out of range", () => {
    const dictionary = vectorFromArray(["a"], new Utf8());
    const type = new Dictionary(new Utf8(), new Uint8());
    const data = makeData({ type, length: 2, nullCount: 0, data: Uint8Array.of(0, 1), dictionary });
    expect(() => vectorFromArrow(data, "VARCHAR")).toThrow(constraint);
  });
});
