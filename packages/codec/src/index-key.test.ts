import { expect, test } from "vitest";
import { vectorOf } from "../test/support/arbitraries.js";
import { expectError } from "../test/support/errors.js";
import { toHex } from "../test/support/golden.js";
import {
  type ColumnVector,
  decodeIndexKey,
  decodeRowId,
  encodeIndexEntry,
  encodeRowId,
  equalityPrefix,
  IndexKeyBuilder,
  type IndexLayout,
  type IndexValue,
  type IndexValueType,
} from "./index.js";

function layoutOf(...types: IndexValueType[]): IndexLayout {
  return {
    indexId: 7n,
    unique: true,
    columns: types.map((valueType) => ({ valueType, descending: false, nullsFirst: false })),
  };
}

/** All three encoders must refuse alike. */
function expectRefused(
  layout: IndexLayout,
  values: readonly IndexValue[],
  code: string,
  message?: string | RegExp,
): void {
  expectError(() => new IndexKeyBuilder(layout).append(values, 1n), code, message);
  expectError(() => encodeIndexEntry(layout, values, 1n), code, message);
  if (!values.includes(null)) expectError(() => equalityPrefix(layout, values), code);
}

test("values of 1024 bytes are accepted, one more is refused with the count", () => {
  const two = layoutOf("string", "bytes");
  const values = (bytes: number): IndexValue[] => ["k".repeat(24), new Uint8Array(bytes)];
  for (const append of [
    (bytes: number) => new IndexKeyBuilder(two).append(values(bytes), 1n),
    (bytes: number) =>
      new IndexKeyBuilder(two).appendColumns(
        values(bytes).map((value, c) => vectorOf(two.columns[c]?.valueType ?? "bytes", [value])),
        BigUint64Array.of(1n),
      ),
    (bytes: number) => encodeIndexEntry(two, values(bytes), 1n),
  ]) {
    append(1000);
    expectError(() => append(1001), "constraint", "index key of 1025 bytes exceeds the 1024-byte limit");
  }
});

test("the cap counts bytes of UTF-8 and goes over NULLs", () => {
  expectRefused(layoutOf("string"), ["\u20ac".repeat(342)], "constraint", "index key of 1026 bytes");
  expectRefused(layoutOf("string"), ["a".repeat(5000)], "constraint", "index key of 5000 bytes");
  new IndexKeyBuilder(layoutOf("string")).append(["\u20ac".repeat(341)], 1n);
  expectRefused(
    layoutOf("bytes", "int64", "bytes"),
    [new Uint8Array(1017), null, new Uint8Array(8)],
    "constraint",
    "index key of 1025 bytes",
  );
});

test("the cap is checked before the width of an integer", () => {
  expectRefused(layoutOf("bytes", "int8"), [new Uint8Array(1024), 300n], "constraint", "index key of 1025 bytes");
});

test("fixed-width columns count too", () => {
  const wide = layoutOf(...Array.from({ length: 65 }, (): IndexValueType => "int128"));
  const row = wide.columns.map(() => 1n);
  expectRefused(wide, row, "constraint", "index key of 1040 bytes");
  expectError(
    () =>
      new IndexKeyBuilder(wide).appendColumns(
        wide.columns.map(() => vectorOf("int128", [1n])),
        BigUint64Array.of(1n),
      ),
    "constraint",
    "index key of 1040 bytes",
  );
});

test.each([
  ["int8", 128n],
  ["int8", -129n],
  ["int16", 32768],
  ["int32", 2n ** 31n],
  ["int64", 2n ** 63n],
  ["int64", -(2n ** 63n) - 1n],
  ["int128", 2n ** 127n],
  ["uint8", 256n],
  ["uint8", -1n],
  ["uint16", -1],
  ["uint32", 2n ** 32n],
  ["uint64", 2n ** 64n],
  ["uint64", -1n],
] as const)("%s refuses %s", (type, value) => {
  expectRefused(layoutOf(type), [value], "constraint", `does not fit ${type}`);
});

test.each([
  ["int64", "5"],
  ["int64", 1.5],
  ["int64", 2 ** 53],
  ["int64", true],
  ["float64", 5n],
  ["boolean", 1],
  ["string", 5],
  ["string", Uint8Array.of(1)],
  ["string", "\ud800"],
  ["string", "a\udc00"],
  ["string", "\ud800\ud800"],
  ["bytes", "ab"],
] as const)("a column of %s refuses %s", (type, value) => {
  expectRefused(layoutOf(type), [value], "invalid_argument");
});

test("safe integers stand for bigints", () => {
  for (const value of [0, -1, 2 ** 53 - 1, -(2 ** 53) + 1]) {
    expect(encodeIndexEntry(layoutOf("int64"), [value], 1n)).toEqual(
      encodeIndexEntry(layoutOf("int64"), [BigInt(value)], 1n),
    );
    expect(toHex(equalityPrefix(layoutOf("int64"), [value]))).toBe(
      toHex(equalityPrefix(layoutOf("int64"), [BigInt(value)])),
    );
  }
});

test("the number of values must be the number of columns", () => {
  expectRefused(layoutOf("int64", "int64"), [1n], "invalid_argument");
  expectRefused(layoutOf("int64"), [1n, 2n], "invalid_argument");
  expectError(() => new IndexKeyBuilder(layoutOf("int64")).append([undefined as never], 1n), "invalid_argument");
  expectError(() => new IndexKeyBuilder(layoutOf("int64")).appendColumns([], BigUint64Array.of()), "invalid_argument");
});

test("a failed call leaves the builder as it was", () => {
  const layout = layoutOf("string", "int8");
  const builder = new IndexKeyBuilder(layout, 0);
  builder.append(["a", 1n], 1n);
  const before = [builder.count, builder.bytes];
  expectError(() => builder.append(["b", 300n], 2n), "constraint");
  expectError(() => builder.append(["b", 3n], -1n), "invalid_argument", "rowId");
  const columns = [vectorOf("string", ["c", "x".repeat(2000)]), vectorOf("int8", [3n, 4n])];
  expectError(() => builder.appendColumns(columns, BigUint64Array.of(3n, 4n)), "constraint");
  expectError(
    () => builder.appendColumns(columns, BigUint64Array.of(3n, 4n), Uint32Array.of(0, 2)),
    "invalid_argument",
  );
  expect([builder.count, builder.bytes]).toEqual(before);
  builder.appendColumns(columns, BigUint64Array.of(3n, 4n), Uint32Array.of(0));
  const keys = builder.finish();
  expect([...keys.rowIds]).toEqual([1n, 3n]);
  const expected = [encodeIndexEntry(layout, ["a", 1n], 1n), encodeIndexEntry(layout, ["c", 3n], 3n)];
  expect(toHex(keys.data)).toBe(expected.map(({ key }) => toHex(key)).join(""));
});

test("after finish the builder starts anew and what it gave stays", () => {
  const builder = new IndexKeyBuilder(layoutOf("int64"));
  builder.append([1n], 1n);
  const first = builder.finish();
  const copy = toHex(first.data);
  expect([builder.count, builder.bytes]).toEqual([0, 0]);
  builder.append([2n], 2n);
  builder.append([3n], 3n);
  expect(builder.finish().count).toBe(2);
  expect([first.count, toHex(first.data)]).toEqual([1, copy]);
  expect(new IndexKeyBuilder(layoutOf("int64")).finish()).toMatchObject({ count: 0, ends: new Uint32Array(0) });
});

test("vectors that do not fit are refused", () => {
  const builder = new IndexKeyBuilder(layoutOf("int64", "string"));
  const good = [vectorOf("int64", [1n, 2n]), vectorOf("string", ["a", "b"])] as const;
  const ids = BigUint64Array.of(1n, 2n);
  const refuse = (columns: readonly ColumnVector[], rowIds = ids): void =>
    expectError(() => builder.appendColumns(columns, rowIds), "invalid_argument");
  refuse([good[0], vectorOf("bytes", [Uint8Array.of(1), Uint8Array.of(2)])]);
  refuse([good[0], vectorOf("string", ["a"])]);
  refuse([good[0], { ...good[1], offsets: null }]);
  refuse([good[0], { ...good[1], offsets: Int32Array.of(0, 1) }]);
  refuse([good[0], { ...good[1], offsets: Int32Array.of(0, 1, 9) }]);
  refuse([good[0], { ...good[1], offsets: Int32Array.of(0, 2, 1) }]);
  refuse([good[0], { ...good[1], offsets: Int32Array.of(-1, 1, 2) }]);
  refuse([good[0], { ...good[1], values: Uint8Array.of(0xc3, 0x28) }]);
  refuse([{ ...good[0], values: BigUint64Array.of(1n, 2n) }, good[1]]);
  refuse([{ ...good[0], values: BigInt64Array.of(1n) }, good[1]]);
  refuse([{ ...good[0], validity: Uint8Array.of(1) }, good[1]]);
  refuse([...good], BigUint64Array.of(1n));
  expect(builder.count).toBe(0);
  builder.appendColumns(good, ids);
  expect(builder.count).toBe(2);
});

test("vectors may be views into larger buffers", () => {
  const values = BigInt64Array.of(9n, 1n, 2n).subarray(1);
  const rowIds = BigUint64Array.of(9n, 3n, 4n).subarray(1);
  const layout = { ...layoutOf("int64"), unique: false };
  const builder = new IndexKeyBuilder(layout);
  builder.appendColumns([{ type: "int64", length: 2, validity: null, values, offsets: null }], rowIds);
  const expected = [encodeIndexEntry(layout, [1n], 3n), encodeIndexEntry(layout, [2n], 4n)];
  expect(toHex(builder.finish().data)).toBe(expected.map(({ key }) => toHex(key)).join(""));
});

test("NaN of every pattern is one value in vectors too, and so are the zeros", () => {
  const layout = layoutOf("float64");
  const bits = new BigUint64Array([
    0x7ff8000000000000n,
    0x7ff0000000000001n,
    0xfff0000000000001n,
    0xffffffffffffffffn,
    0x8000000000000000n,
    0n,
  ]);
  const builder = new IndexKeyBuilder(layout);
  builder.appendColumns(
    [{ type: "float64", length: 6, validity: null, values: new Float64Array(bits.buffer), offsets: null }],
    BigUint64Array.from({ length: 6 }, () => 1n),
  );
  const keys = builder.finish();
  const key = (i: number): string => toHex(keys.data.subarray(i === 0 ? 0 : keys.ends[i - 1], keys.ends[i]));
  const nan = toHex(encodeIndexEntry(layout, [Number.NaN], 1n).key);
  expect([0, 1, 2, 3].map(key)).toEqual([nan, nan, nan, nan]);
  expect(key(4)).toBe(key(5));
  const floats = new Uint32Array([0x7fc00000, 0x7f800001, 0xff800001, 0xffffffff, 0x80000000, 0]);
  const narrow = layoutOf("float32");
  const narrowBuilder = new IndexKeyBuilder(narrow);
  narrowBuilder.appendColumns(
    [{ type: "float32", length: 6, validity: null, values: new Float32Array(floats.buffer), offsets: null }],
    BigUint64Array.from({ length: 6 }, () => 1n),
  );
  const narrowKeys = narrowBuilder.finish();
  const width = narrowKeys.ends[0] as number;
  const narrowKey = (i: number): string =>
    toHex(narrowKeys.data.subarray(i === 0 ? 0 : narrowKeys.ends[i - 1], narrowKeys.ends[i]));
  expect(new Set([0, 1, 2, 3].map(narrowKey)).size).toBe(1);
  expect(narrowKey(4)).toBe(narrowKey(5));
  expect(width).toBeGreaterThan(0);
});

test("a float32 column rounds a float64 that is too small to a zero", () => {
  const zero = toHex(encodeIndexEntry(layoutOf("float32"), [0], 1n).key);
  for (const value of [-1e-60, 1e-60, -0]) {
    expect(toHex(encodeIndexEntry(layoutOf("float32"), [value], 1n).key)).toBe(zero);
    expect(toHex(equalityPrefix(layoutOf("float32"), [value]))).toBe(zero);
  }
});

test("an index without columns has the bare terminator", () => {
  const layout: IndexLayout = { indexId: 1n, unique: false, columns: [] };
  const builder = new IndexKeyBuilder(layout);
  builder.append([], 1n);
  builder.appendColumns([], BigUint64Array.of(2n));
  expect(toHex(builder.finish().data)).toBe(
    "070300000000000000010000000000000000010703000000000000000100" + "0000000000000002",
  );
});

test("keys of another index or shape are corruption", () => {
  const layout = layoutOf("int64");
  const { key } = encodeIndexEntry(layout, [1n], 1n);
  expectError(() => decodeIndexKey({ ...layout, indexId: 8n }, key), "corruption", "belongs to index 7");
  expectError(() => decodeIndexKey({ ...layout, unique: false }, key), "corruption", "shape");
  expectError(
    () => decodeIndexKey(layout, encodeIndexEntry({ ...layout, unique: false }, [1n], 1n).key),
    "corruption",
    "shape",
  );
  expectError(() => decodeIndexKey(layoutOf("int32"), key), "corruption");
  expectError(() => decodeIndexKey(layoutOf("int64", "int64"), key), "corruption");
  expectError(
    () => decodeIndexKey(layoutOf("boolean"), encodeIndexEntry(layoutOf("uint8"), [2n], 1n).key),
    "corruption",
  );
  expectError(
    () => decodeIndexKey(layoutOf("string"), encodeIndexEntry(layoutOf("bytes"), [Uint8Array.of(0xff)], 1n).key),
    "corruption",
  );
  expectError(
    () => decodeIndexKey(layoutOf("float64"), encodeIndexEntry(layoutOf("int64"), [-1n], 1n).key),
    "corruption",
    "zero",
  );
  expectError(
    () => decodeIndexKey(layoutOf("float64"), encodeIndexEntry(layoutOf("uint64"), [2n ** 64n - 1n], 1n).key),
    "corruption",
    "NaN",
  );
  expectError(() => decodeIndexKey(layout, Uint8Array.of(2, 2)), "corruption");
});

test("row ids are eight big-endian bytes", () => {
  expect(toHex(encodeRowId(258n))).toBe("0000000000000102");
  expect(decodeRowId(encodeRowId((1n << 64n) - 1n))).toBe((1n << 64n) - 1n);
  expectError(() => encodeRowId(1n << 64n), "invalid_argument", "rowId");
  expectError(() => decodeRowId(new Uint8Array(7)), "corruption");
});
