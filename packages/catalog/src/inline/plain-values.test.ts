import {
  type Data,
  type DataType,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Int32,
  Interval,
  IntervalUnit,
  LargeUtf8,
  makeData,
  Null,
  TimeSecond,
  TimeUnit,
  vectorFromArray,
} from "apache-arrow";
import { expect, test } from "vitest";
import { columnTypeOf } from "./arrow-types.js";
import { plainValues } from "./plain-values.js";

// Types that other writers' chunks may hold, and plain rows not. The rest is in `test/inline-values.property.test.ts`.

function valuesOf(type: DataType, data: Data, metadata: Record<string, string> = {}): unknown[] {
  const valueAt = plainValues({ type, metadata: new Map(Object.entries(metadata)) }, data);
  return Array.from({ length: data.length }, (_, row) => valueAt(row));
}

const sixteen = Uint8Array.from({ length: 16 }, (_, i) => i);

test("sixteen bytes are a UUID, unless DuckDB marked them as something else", () => {
  const type = new FixedSizeBinary(16);
  const data = makeData({ type, length: 1, nullCount: 0, data: sixteen });
  const uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  expect(valuesOf(type, data)).toEqual([uuid]);
  expect(valuesOf(type, data, { "ARROW:extension:name": "arrow.uuid" })).toEqual([uuid]);
  expect(valuesOf(type, data, { "ARROW:extension:name": "arrow.opaque" })).toEqual([sixteen]);
});

test("bytes of another length stay bytes, and are no view of the chunk", () => {
  const type = new FixedSizeBinary(4);
  const data = makeData({ type, length: 2, nullCount: 0, data: sixteen.slice(0, 8) });
  const [first] = valuesOf(type, data) as [Uint8Array];
  expect(first).toEqual(Uint8Array.of(0, 1, 2, 3));
  expect(first.buffer.byteLength).toBe(4);
});

test("arrays of a fixed length come as arrays, also of a part of the column", () => {
  const type = new FixedSizeList(2, new Field("element", new Int32(), true));
  const child = makeData({ type: new Int32(), length: 6, nullCount: 0, data: Int32Array.of(1, 2, 3, 4, 5, 6) });
  const data = makeData({ type, length: 3, nullCount: 1, nullBitmap: Uint8Array.of(0b101), child });
  expect(valuesOf(type, data)).toEqual([[1, 2], null, [5, 6]]);
  expect(valuesOf(type, data.slice(2, 1))).toEqual([[5, 6]]);
});

test("long text, seconds of a day and nothing but NULL", () => {
  const text = vectorFromArray(["a", null, "b"], new LargeUtf8()).data[0] as Data;
  expect(valuesOf(text.type, text)).toEqual(["a", null, "b"]);
  const times = makeData({ type: new TimeSecond(), length: 1, nullCount: 0, data: Int32Array.of(3_661) });
  expect(valuesOf(times.type, times)).toEqual(["01:01:01"]);
  expect(valuesOf(new Null(), makeData({ type: new Null(), length: 2 }))).toEqual([null, null]);
});

test("intervals and durations are as Arrow gives them, each a copy", () => {
  const interval = new Interval(IntervalUnit.MONTH_DAY_NANO);
  const data = makeData({ type: interval, length: 2, nullCount: 0, data: Int32Array.of(1, 2, 3, 0, 4, 5, 6, 0) });
  expect(valuesOf(interval, data)).toEqual([Int32Array.of(1, 2, 3, 0), Int32Array.of(4, 5, 6, 0)]);
  expect(valuesOf(interval, data.slice(1, 1))).toEqual([Int32Array.of(4, 5, 6, 0)]);
  const duration = new Duration(TimeUnit.MICROSECOND);
  const durations = makeData({ type: duration, length: 1, nullCount: 0, data: BigInt64Array.of(5n) });
  expect(valuesOf(duration, durations)).toEqual([5n]);
  expect([interval, duration].map((type) => columnTypeOf({ type, metadata: new Map() }))).toEqual([
    undefined,
    undefined,
  ]);
});
