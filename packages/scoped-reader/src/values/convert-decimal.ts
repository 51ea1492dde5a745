import type { ColumnVector } from "@moraine/codec";
import { ConversionFailed } from "../malformed.js";
import { unscaledOf } from "./decimal-storage.js";
import { bigIntegersOf, clearNulls, integersOf } from "./numbers.js";
import type { RawColumn } from "./raw-column.js";
import type { SourceType } from "./source-type.js";

type Validity = Uint8Array | null;
export type DecimalType = "int16" | "int32" | "int64" | "int128";
type DecimalSource = Extract<SourceType, { kind: "decimal" }>;
type IntegerSource = Extract<SourceType, { kind: "integer" }>;

const wideBytes = 16;

/** Decimals as the unscaled integers of another precision and scale. Digits may be added and never lost. */
export function decimalsToDecimals(
  raw: RawColumn,
  source: DecimalSource,
  type: DecimalType,
  precision: number,
  scale: number,
  validity: Validity,
): ColumnVector["values"] {
  if (source.scale === scale && source.precision <= precision) {
    const fast = sameScale(raw, source, type);
    if (fast !== null) {
      clearNulls(fast, validity, type === "int128" ? wideBytes : 1);
      return fast;
    }
  }
  const up = 10n ** BigInt(Math.max(scale - source.scale, 0));
  const down = 10n ** BigInt(Math.max(source.scale - scale, 0));
  const unscaled = unscaledOf(raw, source.storage);
  return storeUnscaled(raw.length, type, precision, validity, (row) => {
    const value = unscaled(row);
    if (value % down !== 0n)
      throw new ConversionFailed("a stored decimal has more fractional digits than the column's type");
    return (value * up) / down;
  });
}

/** Integers as decimals. */
export function integersToDecimals(
  raw: RawColumn,
  source: IntegerSource,
  type: DecimalType,
  precision: number,
  scale: number,
  validity: Validity,
): ColumnVector["values"] {
  const up = 10n ** BigInt(scale);
  if (source.bytes === 8) {
    const from = bigIntegersOf(raw, source.signed);
    return storeUnscaled(raw.length, type, precision, validity, (row) => (from[row] ?? 0n) * up);
  }
  const from = integersOf(raw, source.bytes, source.signed);
  return storeUnscaled(raw.length, type, precision, validity, (row) => BigInt(from[row] ?? 0) * up);
}

/** The storage that DuckDB writes for each precision, turned into the vector's without a bigint a row. */
function sameScale(
  raw: RawColumn,
  source: DecimalSource,
  type: DecimalType,
): Int16Array | Int32Array | BigInt64Array | Uint8Array | null {
  const { endian, width } = source.storage;
  if (endian === "little" && width === 4 && type === "int32") return new Int32Array(integersOf(raw, 4, true));
  if (endian === "little" && width === 2 && type === "int16") return new Int16Array(integersOf(raw, 2, true));
  if (endian === "little" && width === 8 && type === "int64") return bigIntegersOf(raw, true).slice();
  if (width !== wideBytes || type !== "int128") return null;
  if (endian === "little") return new Uint8Array(raw.values.subarray(0, raw.length * wideBytes));
  const to = new Uint8Array(raw.length * wideBytes);
  const words = new Uint32Array(to.buffer);
  const view = new DataView(raw.values.buffer, raw.values.byteOffset, raw.values.byteLength);
  for (let at = 0; at < words.length; at += 4) {
    words[at + 3] = view.getUint32(at * 4, false);
    words[at + 2] = view.getUint32(at * 4 + 4, false);
    words[at + 1] = view.getUint32(at * 4 + 8, false);
    words[at] = view.getUint32(at * 4 + 12, false);
  }
  return to;
}

function storeUnscaled(
  length: number,
  type: DecimalType,
  precision: number,
  validity: Validity,
  valueAt: (row: number) => bigint,
): ColumnVector["values"] {
  const limit = 10n ** BigInt(precision);
  const store = storeOf(length, type);
  for (let i = 0; i < length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const value = valueAt(i);
    if (value >= limit || value <= -limit) {
      throw new ConversionFailed("a stored value has more digits than the column's type");
    }
    store.set(i, value);
  }
  return store.values;
}

function storeOf(
  length: number,
  type: DecimalType,
): { values: ColumnVector["values"]; set: (row: number, value: bigint) => void } {
  switch (type) {
    case "int16":
    case "int32": {
      const values = type === "int16" ? new Int16Array(length) : new Int32Array(length);
      return { values, set: (row, value) => (values[row] = Number(value)) };
    }
    case "int64": {
      const values = new BigInt64Array(length);
      return { values, set: (row, value) => (values[row] = value) };
    }
    case "int128": {
      const values = new Uint8Array(length * wideBytes);
      const view = new DataView(values.buffer);
      return {
        values,
        set: (row, value) => {
          view.setBigUint64(row * wideBytes, BigInt.asUintN(64, value), true);
          view.setBigInt64(row * wideBytes + 8, value >> 64n, true);
        },
      };
    }
  }
}
