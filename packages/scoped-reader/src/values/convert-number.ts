import type { ColumnVector, IndexValueType } from "@moraine/codec";
import { ConversionFailed } from "../malformed.js";
import { unscaledOf } from "./decimal-storage.js";
import {
  type BigIntegerArray,
  type IntegerArray,
  bigIntegersOf,
  clearNulls,
  float32Of,
  float64Of,
  integersOf,
} from "./numbers.js";
import { type RawColumn, unpackBits } from "./raw-column.js";
import type { SourceType } from "./source-type.js";

type IntegerSource = Extract<SourceType, { kind: "integer" }>;
type FloatSource = Extract<SourceType, { kind: "float" }>;
type DecimalSource = Extract<SourceType, { kind: "decimal" }>;
type Validity = Uint8Array | null;

export type IntegerType = "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64";

const widths: Readonly<Record<IntegerType, { bytes: 1 | 2 | 4 | 8; signed: boolean; min: bigint; max: bigint }>> = {
  int8: { bytes: 1, signed: true, min: -(2n ** 7n), max: 2n ** 7n - 1n },
  int16: { bytes: 2, signed: true, min: -(2n ** 15n), max: 2n ** 15n - 1n },
  int32: { bytes: 4, signed: true, min: -(2n ** 31n), max: 2n ** 31n - 1n },
  int64: { bytes: 8, signed: true, min: -(2n ** 63n), max: 2n ** 63n - 1n },
  uint8: { bytes: 1, signed: false, min: 0n, max: 2n ** 8n - 1n },
  uint16: { bytes: 2, signed: false, min: 0n, max: 2n ** 16n - 1n },
  uint32: { bytes: 4, signed: false, min: 0n, max: 2n ** 32n - 1n },
  uint64: { bytes: 8, signed: false, min: 0n, max: 2n ** 64n - 1n },
};

const tooBig = "a stored value is out of the range of the column's type";

export function isIntegerType(type: IndexValueType): type is IntegerType {
  return type in widths;
}

/** Integers of any width and sign as another, each value checked. */
export function integersToIntegers(
  raw: RawColumn,
  source: IntegerSource,
  type: IntegerType,
  validity: Validity,
): ColumnVector["values"] {
  const target = widths[type];
  if (source.bytes === target.bytes && source.signed === target.signed) {
    const same = source.bytes === 8 ? bigIntegersOf(raw, source.signed) : integersOf(raw, source.bytes, source.signed);
    const copy = same.slice();
    clearNulls(copy, validity);
    return copy;
  }
  if (source.bytes === 8) {
    return storeBigIntegers(bigIntegersOf(raw, source.signed), type, validity);
  }
  const from = integersOf(raw, source.bytes, source.signed);
  if (target.bytes === 8) {
    const to = type === "int64" ? new BigInt64Array(raw.length) : new BigUint64Array(raw.length);
    for (let i = 0; i < from.length; i++) {
      if (validity !== null && validity[i] === 0) continue;
      const value = from[i] ?? 0;
      if (value < 0 && !target.signed) throw new ConversionFailed(tooBig);
      to[i] = BigInt(value);
    }
    return to;
  }
  const to = smallArray(type, raw.length);
  const [min, max] = [Number(target.min), Number(target.max)];
  for (let i = 0; i < from.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const value = from[i] ?? 0;
    if (value < min || value > max) throw new ConversionFailed(tooBig);
    to[i] = value;
  }
  return to;
}

/** Decimals whose fraction is zero as integers. */
export function decimalsToIntegers(
  raw: RawColumn,
  source: DecimalSource,
  type: IntegerType,
  validity: Validity,
): ColumnVector["values"] {
  const unscaled = unscaledOf(raw, source.storage);
  const divisor = 10n ** BigInt(source.scale);
  const whole = new Array<bigint>(raw.length);
  for (let i = 0; i < raw.length; i++) {
    whole[i] = 0n;
    if (validity !== null && validity[i] === 0) continue;
    const value = unscaled(i);
    if (value % divisor !== 0n)
      throw new ConversionFailed("a stored decimal has a fraction and the column's type has none");
    whole[i] = value / divisor;
  }
  return storeBigIntegers(whole, type, validity);
}

/** Floats as floats. Rounding to the narrower width is DuckDB's; a finite value that becomes infinite is refused, as there. */
export function floatsToFloats(
  raw: RawColumn,
  source: FloatSource,
  type: "float32" | "float64",
  validity: Validity,
): Float32Array | Float64Array {
  const from = source.bytes === 8 ? float64Of(raw) : source.bytes === 4 ? float32Of(raw) : halves(raw);
  let to: Float32Array | Float64Array;
  if (type === "float64") {
    to = Float64Array.from(from);
  } else if (from instanceof Float32Array) {
    to = from.slice();
  } else {
    to = new Float32Array(raw.length);
    for (let i = 0; i < from.length; i++) {
      if (validity !== null && validity[i] === 0) continue;
      const value = from[i] ?? 0;
      to[i] = value;
      if (Number.isFinite(value) && !Number.isFinite(to[i])) throw new ConversionFailed(tooBig);
    }
  }
  clearNulls(to, validity);
  return to;
}

/** Integers as the nearest float, as DuckDB casts them. */
export function integersToFloats(
  raw: RawColumn,
  source: IntegerSource,
  type: "float32" | "float64",
  validity: Validity,
): Float32Array | Float64Array {
  const to = type === "float32" ? new Float32Array(raw.length) : new Float64Array(raw.length);
  if (source.bytes === 8) {
    const from = bigIntegersOf(raw, source.signed);
    for (let i = 0; i < from.length; i++) {
      const value = from[i] ?? 0n;
      to[i] = type === "float32" ? nearestFloat32(value) : Number(value);
    }
  } else {
    to.set(integersOf(raw, source.bytes, source.signed));
  }
  clearNulls(to, validity);
  return to;
}

/**
 * Decimals as floats by DuckDB's steps: whole and fractional part apart where the unscaled integer has too many digits. What DuckDB
 * makes of 128-bit integers is not the nearest float: they are refused where the steps are not exact.
 */
export function decimalsToFloats(
  raw: RawColumn,
  source: DecimalSource,
  type: "float32" | "float64",
  validity: Validity,
): Float32Array | Float64Array {
  const unscaled = unscaledOf(raw, source.storage);
  const isSingle = type === "float32";
  const round = isSingle ? Math.fround : (value: number): number => value;
  const nearest = isSingle ? nearestFloat32 : Number;
  const power = round(10 ** source.scale);
  const bigPower = 10n ** BigInt(source.scale);
  const exact = isSingle ? 2n ** 24n : BigInt(Number.MAX_SAFE_INTEGER);
  const to = isSingle ? new Float32Array(raw.length) : new Float64Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const value = unscaled(i);
    if ((source.scale === 0 && source.precision <= 18) || (value <= exact && value >= -exact)) {
      to[i] = nearest(value) / power;
    } else {
      if (source.precision > 18) throw new ConversionFailed("a stored decimal has too many digits for a float");
      to[i] = nearest(value / bigPower) + round(nearest(value % bigPower) / power);
    }
  }
  return to;
}

/** Booleans as 0 and 1. */
export function booleansToIntegers(raw: RawColumn, type: IntegerType, validity: Validity): ColumnVector["values"] {
  const bits = unpackBits(raw.values, raw.valuesOffset, raw.length);
  if (widths[type].bytes === 8) return storeBigIntegers(Array.from(bits, BigInt), type, validity);
  const to = smallArray(type, raw.length);
  to.set(bits);
  clearNulls(to, validity);
  return to;
}

/** A single rounding to 24 bits: rounding to a double first could round twice. */
function nearestFloat32(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  if (magnitude <= BigInt(Number.MAX_SAFE_INTEGER)) return Math.fround(Number(value));
  const shift = 24n; // leaves at most 40 bits, which a double holds exactly, the last one sticky
  const sticky = (magnitude & ((1n << shift) - 1n)) === 0n ? 0n : 1n;
  const rounded = Math.fround(Number((magnitude >> shift) | sticky) * 2 ** Number(shift));
  return value < 0n ? -rounded : rounded;
}

function storeBigIntegers(from: ArrayLike<bigint>, type: IntegerType, validity: Validity): ColumnVector["values"] {
  const { bytes, min, max } = widths[type];
  const big: BigIntegerArray | null =
    bytes === 8 ? (type === "int64" ? new BigInt64Array(from.length) : new BigUint64Array(from.length)) : null;
  const small = big === null ? smallArray(type, from.length) : null;
  for (let i = 0; i < from.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const value = from[i] ?? 0n;
    if (value < min || value > max) throw new ConversionFailed(tooBig);
    if (big !== null) big[i] = value;
    else if (small !== null) small[i] = Number(value);
  }
  return big ?? small ?? new Uint8Array(0);
}

function smallArray(type: IntegerType, length: number): IntegerArray {
  switch (type) {
    case "int8":
      return new Int8Array(length);
    case "int16":
      return new Int16Array(length);
    case "int32":
      return new Int32Array(length);
    case "uint8":
      return new Uint8Array(length);
    case "uint16":
      return new Uint16Array(length);
    case "uint32":
      return new Uint32Array(length);
    case "int64":
    case "uint64":
      throw new RangeError("eight-byte integers have arrays of their own");
  }
}

/** IEEE half precision, which a Parquet file of another writer may hold. */
function halves(raw: RawColumn): Float32Array {
  const bits = integersOf(raw, 2, false);
  const to = new Float32Array(raw.length);
  for (let i = 0; i < bits.length; i++) {
    const half = bits[i] ?? 0;
    const sign = half >> 15 === 0 ? 1 : -1;
    const exponent = (half >> 10) & 0x1f;
    const fraction = half & 0x3ff;
    if (exponent === 0) to[i] = sign * fraction * 2 ** -24;
    else if (exponent === 0x1f) to[i] = fraction === 0 ? sign * Infinity : Number.NaN;
    else to[i] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return to;
}
