import fc from "fast-check";
import type { ColumnVector, IndexColumn, IndexLayout, IndexValue, IndexValueType } from "../../src/index.js";

/** Ids with the bytes that keys treat specially, and the ends of the range. */
export const arbitraryId: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  fc.constantFrom(
    0n,
    1n,
    255n,
    256n,
    0x0100_0000_0000_0000n,
    0x0001_0001_0001_0001n,
    (1n << 63n) - 1n,
    1n << 63n,
    (1n << 64n) - 1n,
  ),
);

const integerRanges: Readonly<Partial<Record<IndexValueType, readonly [bigint, bigint]>>> = {
  int8: [-(1n << 7n), (1n << 7n) - 1n],
  int16: [-(1n << 15n), (1n << 15n) - 1n],
  int32: [-(1n << 31n), (1n << 31n) - 1n],
  int64: [-(1n << 63n), (1n << 63n) - 1n],
  int128: [-(1n << 127n), (1n << 127n) - 1n],
  uint8: [0n, (1n << 8n) - 1n],
  uint16: [0n, (1n << 16n) - 1n],
  uint32: [0n, (1n << 32n) - 1n],
  uint64: [0n, (1n << 64n) - 1n],
};

export const valueTypes: readonly IndexValueType[] = [
  "int8",
  "int16",
  "int32",
  "int64",
  "int128",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "float32",
  "float64",
  "boolean",
  "string",
  "bytes",
];

/** Short byte strings over few bytes, so that prefixes, escapes and equal values are common. */
const trickyBytes = fc.array(fc.oneof(fc.constantFrom(0, 1, 2, 0x41, 0xfe, 0xff), fc.integer({ min: 0, max: 255 })), {
  maxLength: 12,
});

/** Characters of each UTF-8 length, with the ends of each. */
const trickyCharacter = fc.oneof(
  fc.constantFrom(
    "\0",
    "\u0001",
    "\u0002",
    "a",
    "b",
    "\u007f",
    "\u0080",
    "\u07ff",
    "\u0800",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\u{10000}",
    "\u{10ffff}",
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);

const nanPayloads = [0x7ff8_0000_0000_0000n, 0x7ff0_0000_0000_0001n, 0xfff8_0000_0000_0000n, 0xffff_ffff_ffff_ffffn];

/** A float64 with the given bits. The engine may quieten a NaN on the way, but keeps it one. */
function floatOfBits(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** Values of one type as the encoder takes them, never NULL. */
export function arbitraryValue(type: IndexValueType): fc.Arbitrary<Exclude<IndexValue, null>> {
  const range = integerRanges[type];
  if (range !== undefined) {
    const [min, max] = range;
    const small = fc.bigInt({ min: min < -300n ? -300n : min, max: max > 300n ? 300n : max });
    return fc.oneof(small, fc.bigInt({ min, max }), fc.constantFrom(min, min + 1n, max - 1n, max));
  }
  switch (type) {
    case "float32":
      return fc.oneof(
        fc.float(),
        fc.constantFrom(0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
      );
    case "float64":
      return fc.oneof(
        fc.double(),
        fc.constantFrom(
          0,
          -0,
          1e-323,
          -1e-323,
          Number.POSITIVE_INFINITY,
          Number.NEGATIVE_INFINITY,
          ...nanPayloads.map(floatOfBits),
        ),
      );
    case "boolean":
      return fc.boolean();
    case "string":
      return fc.array(trickyCharacter, { maxLength: 8 }).map((characters) => characters.join(""));
    default:
      return trickyBytes.map((bytes) => Uint8Array.from(bytes));
  }
}

export const arbitraryColumn: fc.Arbitrary<IndexColumn> = fc.record({
  valueType: fc.constantFrom(...valueTypes),
  descending: fc.boolean(),
  nullsFirst: fc.boolean(),
});

export function arbitraryLayout(maxColumns = 3): fc.Arbitrary<IndexLayout> {
  return fc.record({
    indexId: arbitraryId,
    unique: fc.boolean(),
    columns: fc.array(arbitraryColumn, { minLength: 1, maxLength: maxColumns }),
  });
}

/** Rows of a layout, with NULLs. */
export function arbitraryRow(layout: IndexLayout): fc.Arbitrary<IndexValue[]> {
  return fc.tuple(...layout.columns.map((column) => fc.option(arbitraryValue(column.valueType), { freq: 5 })));
}

/** SQL order of two values of one type, neither NULL: NaN is the greatest float, the zeros are one value. */
export function compareValues(a: Exclude<IndexValue, null>, b: Exclude<IndexValue, null>): number {
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (typeof a === "number" && typeof b === "number" && (Number.isNaN(a) || Number.isNaN(b))) {
    return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order that an index's declaration asks for. */
export function compareRows(
  columns: readonly IndexColumn[],
  a: readonly IndexValue[],
  b: readonly IndexValue[],
): number {
  for (const [i, column] of columns.entries()) {
    const x = a[i] as IndexValue;
    const y = b[i] as IndexValue;
    let order: number;
    if (x === null || y === null) {
      if (x === y) continue;
      order = (x === null) === column.nullsFirst ? -1 : 1;
    } else {
      order = compareValues(x, y) * (column.descending ? -1 : 1);
    }
    if (order !== 0) return order;
  }
  return 0;
}

/** Rows as the column vectors that scoped reads yield. NULL rows hold rubbish, as they may. */
export function vectorOf(type: IndexValueType, values: readonly IndexValue[]): ColumnVector {
  const length = values.length;
  const validity = values.includes(null) ? Uint8Array.from(values, (value) => (value === null ? 0 : 1)) : null;
  const integers = values.map((value) => (typeof value === "bigint" ? value : 7n));
  const numbers = values.map((value) => (typeof value === "number" ? value : 7));
  const fixed = (array: ColumnVector["values"]): ColumnVector => ({
    type,
    length,
    validity,
    values: array,
    offsets: null,
  });
  switch (type) {
    case "int8":
      return fixed(Int8Array.from(integers, Number));
    case "int16":
      return fixed(Int16Array.from(integers, Number));
    case "int32":
      return fixed(Int32Array.from(integers, Number));
    case "int64":
      return fixed(BigInt64Array.from(integers));
    case "uint8":
      return fixed(Uint8Array.from(integers, Number));
    case "uint16":
      return fixed(Uint16Array.from(integers, Number));
    case "uint32":
      return fixed(Uint32Array.from(integers, Number));
    case "uint64":
      return fixed(BigUint64Array.from(integers));
    case "float32":
      return fixed(Float32Array.from(numbers));
    case "float64":
      return fixed(Float64Array.from(numbers));
    case "boolean":
      return fixed(Uint8Array.from(values, (value) => (value === true ? 1 : 0)));
    case "int128": {
      const bytes = new Uint8Array(16 * length);
      integers.forEach((value, row) => {
        for (let i = 0; i < 16; i++) bytes[16 * row + i] = Number((value >> BigInt(8 * i)) & 0xffn);
      });
      return fixed(bytes);
    }
    default: {
      const parts = values.map((value) =>
        typeof value === "string" ? Buffer.from(value) : value instanceof Uint8Array ? value : new Uint8Array(0),
      );
      const offsets = new Int32Array(length + 1);
      parts.forEach((part, row) => {
        offsets[row + 1] = (offsets[row] as number) + part.length;
      });
      return { type, length, validity, values: Uint8Array.from(Buffer.concat(parts)), offsets };
    }
  }
}

/** A valid byte string with a few bytes changed, cut or added. */
export function mutated(valid: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const edit = fc.record({
    at: fc.nat(),
    byte: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.integer({ min: 0, max: 255 })),
    kind: fc.constantFrom("set", "insert", "remove", "cut"),
  });
  return fc.tuple(valid, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([bytes, edits]) => {
    const out = [...bytes];
    for (const { at, byte, kind } of edits) {
      const place = at % (out.length + 1);
      if (kind === "set") out[Math.min(place, Math.max(0, out.length - 1))] = byte;
      else if (kind === "insert") out.splice(place, 0, byte);
      else if (kind === "remove") out.splice(place, 1);
      else out.length = place;
    }
    return Uint8Array.from(out);
  });
}
