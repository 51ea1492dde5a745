import {
  maxBytesPerValueByte,
  maxComponentOverhead,
  putByte,
  putBytes,
  putFlag,
  putTerminator,
  putWord,
} from "./component-bytes.js";
import { ConstraintError, InvalidArgumentError } from "./errors.js";
import { type IndexColumn, type IndexValue, type IndexValueType, maxIndexedValueBytes } from "./index-value.js";
import type { KeyBuffer } from "./key-buffer.js";
import { writeUtf8 } from "./utf8.js";
import { highWord, lowWord } from "./words.js";

/** Canonical bytes of the fixed-width types; `undefined` for those whose length varies. */
export const valueTypeBytes: Readonly<Record<IndexValueType, number | undefined>> = {
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  int128: 16,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  float32: 4,
  float64: 8,
  boolean: 1,
  string: undefined,
  bytes: undefined,
};

const signBit = 0x8000_0000;
/** Smallest and largest value of each integer type. */
export const integerLimits: Readonly<Partial<Record<IndexValueType, readonly [bigint, bigint]>>> = {
  int8: [-0x80n, 0x7fn],
  int16: [-0x8000n, 0x7fffn],
  int32: [-0x8000_0000n, 0x7fff_ffffn],
  int64: [-(1n << 63n), (1n << 63n) - 1n],
  int128: [-(1n << 127n), (1n << 127n) - 1n],
  uint8: [0n, 0xffn],
  uint16: [0n, 0xffffn],
  uint32: [0n, 0xffff_ffffn],
  uint64: [0n, (1n << 64n) - 1n],
};

const scratch = new ArrayBuffer(8);
const scratchWords = new Uint32Array(scratch);
const scratchFloat64 = new Float64Array(scratch);
const scratchFloat32 = new Float32Array(scratch);
const scratchUint64 = new BigUint64Array(scratch);
const utf8Scratch = new Uint8Array(maxIndexedValueBytes * 3);

/** Above the size cap. `bytes` counts the columns up to and including the one that broke it. */
export function oversized(bytes: number): ConstraintError {
  return new ConstraintError(`index key of ${bytes} bytes exceeds the ${maxIndexedValueBytes}-byte limit`, {
    remedy: "Index shorter values, or another column.",
  });
}

/** A value that is not of the column's type. Names the type, never the value. */
export function notOfType(type: IndexValueType): InvalidArgumentError {
  return new InvalidArgumentError(`an indexed value is not a ${type}`, {
    remedy: "Give a value of the column's type.",
  });
}

/** Text that UTF-8 cannot express, or bytes that are not UTF-8. */
export function notText(): InvalidArgumentError {
  return new InvalidArgumentError("an indexed string is not well-formed text", {
    remedy: "Give well-formed Unicode: no lone surrogates, no malformed UTF-8.",
  });
}

/**
 * Appends one column's component, framed for the key, and returns the running total of canonical value bytes.
 *
 * Errors: `constraint` over the size cap or for an integer too wide; `invalid_argument` for a value of another type.
 */
export function putComponent(buffer: KeyBuffer, column: IndexColumn, value: IndexValue, totalSoFar: number): number {
  buffer.reserve(maxComponentOverhead);
  if (value === null) {
    buffer.at = putFlag(buffer.bytes, buffer.at, column.nullsFirst ? 0 : 1);
    return totalSoFar;
  }
  buffer.at = putFlag(buffer.bytes, buffer.at, column.nullsFirst ? 1 : 0);
  const fixedBytes = valueTypeBytes[column.valueType];
  let total: number;
  if (fixedBytes === undefined) {
    total = putVariable(buffer, column, value, totalSoFar);
  } else {
    total = totalSoFar + fixedBytes;
    if (total > maxIndexedValueBytes) throw oversized(total);
    buffer.reserve(maxBytesPerValueByte * fixedBytes + maxComponentOverhead);
    putFixed(buffer, column, value);
  }
  buffer.at = putTerminator(buffer.bytes, buffer.at, column.descending);
  return total;
}

function putVariable(buffer: KeyBuffer, column: IndexColumn, value: IndexValue, totalSoFar: number): number {
  let bytes: Uint8Array;
  let length: number;
  if (column.valueType === "string") {
    if (typeof value !== "string") throw notOfType("string");
    // A unit is at least one byte, so what has more units than the cap need not be encoded to be refused.
    bytes = value.length > maxIndexedValueBytes ? new Uint8Array(value.length * 3) : utf8Scratch;
    length = writeUtf8(bytes, 0, value);
    if (length < 0) throw notText();
  } else {
    if (!(value instanceof Uint8Array)) throw notOfType("bytes");
    bytes = value;
    length = value.length;
  }
  const total = totalSoFar + length;
  if (total > maxIndexedValueBytes) throw oversized(total);
  buffer.reserve(maxBytesPerValueByte * length + maxComponentOverhead);
  buffer.at = putBytes(buffer.bytes, buffer.at, bytes, 0, length, column.descending);
  return total;
}

function putFixed(buffer: KeyBuffer, column: IndexColumn, value: IndexValue): void {
  const { valueType, descending } = column;
  const out = buffer.bytes;
  let at = buffer.at;
  switch (valueType) {
    case "boolean":
      if (typeof value !== "boolean") throw notOfType(valueType);
      at = putByte(out, at, value ? 1 : 0, descending);
      break;
    case "float32":
      if (typeof value !== "number") throw notOfType(valueType);
      scratchFloat32[0] = value;
      at = putWord(out, at, orderedFloat32(scratchWords[0] as number), descending);
      break;
    case "float64": {
      if (typeof value !== "number") throw notOfType(valueType);
      scratchFloat64[0] = value;
      at = putFloat64(out, at, scratchWords[highWord] as number, scratchWords[lowWord] as number, descending);
      break;
    }
    default:
      at = putInteger(out, at, valueType, integerOf(valueType, value), descending);
  }
  buffer.at = at;
}

function integerOf(type: IndexValueType, value: IndexValue): bigint {
  let integer: bigint;
  if (typeof value === "bigint") integer = value;
  else if (typeof value === "number" && Number.isSafeInteger(value)) integer = BigInt(value);
  else throw notOfType(type);
  const [low, high] = integerLimits[type] as readonly [bigint, bigint];
  if (integer < low || integer > high) {
    throw new ConstraintError(`an indexed integer does not fit ${type}`, {
      remedy: "Give a value of the column's type.",
    });
  }
  return integer;
}

function putInteger(out: Uint8Array, at: number, type: IndexValueType, value: bigint, descending: boolean): number {
  switch (type) {
    case "int8":
      return putByte(out, at, (Number(value) & 0xff) ^ 0x80, descending);
    case "uint8":
      return putByte(out, at, Number(value), descending);
    case "int16":
    case "uint16": {
      const half = (Number(value) & 0xffff) ^ (type === "int16" ? 0x8000 : 0);
      return putByte(out, putByte(out, at, half >>> 8, descending), half & 0xff, descending);
    }
    case "int32":
      return putWord(out, at, Number(value) ^ signBit, descending);
    case "uint32":
      return putWord(out, at, Number(value), descending);
    case "int128": {
      scratchUint64[0] = BigInt.asUintN(64, value >> 64n);
      const p = putWord(out, at, (scratchWords[highWord] as number) ^ signBit, descending);
      return putUint64(out, putWord(out, p, scratchWords[lowWord] as number, descending), value, 0, descending);
    }
    default:
      return putUint64(out, at, value, type === "int64" ? signBit : 0, descending);
  }
}

function putUint64(out: Uint8Array, at: number, value: bigint, flip: number, descending: boolean): number {
  scratchUint64[0] = BigInt.asUintN(64, value);
  const p = putWord(out, at, (scratchWords[highWord] as number) ^ flip, descending);
  return putWord(out, p, scratchWords[lowWord] as number, descending);
}

/** The bits of a float32 as an unsigned integer in float order: one zero, one NaN, which is greatest. */
export function orderedFloat32(bits: number): number {
  if ((bits & 0x7f80_0000) === 0x7f80_0000 && (bits & 0x007f_ffff) !== 0) return 0xffc0_0000;
  if (bits === signBit) return signBit;
  return bits >>> 31 === 0 ? bits ^ signBit : ~bits;
}

/** A float64, given as its two words, in float order. */
export function putFloat64(out: Uint8Array, at: number, high: number, low: number, descending: boolean): number {
  if ((high & 0x7ff0_0000) === 0x7ff0_0000 && ((high & 0x000f_ffff) !== 0 || low !== 0)) {
    return putWord(out, putWord(out, at, 0xfff8_0000, descending), 0, descending);
  }
  const zero = low === 0 && high === signBit;
  const flip = high >>> 31 === 0 || zero ? 0 : -1;
  const p = putWord(out, at, zero ? signBit : flip === 0 ? high ^ signBit : ~high, descending);
  return putWord(out, p, low ^ flip, descending);
}
