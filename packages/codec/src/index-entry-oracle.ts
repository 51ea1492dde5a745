import { ConstraintError, InvalidArgumentError } from "./errors.js";
import { type IndexColumn, type IndexLayout, type IndexValue, maxIndexedValueBytes } from "./index-value.js";

/** One index entry as it is stored. */
export interface IndexEntry {
  readonly key: Uint8Array;
  /** A single-row entry's row id, eight bytes, big-endian. Empty where the key itself ends with the row id. */
  readonly value: Uint8Array;
}

/**
 * One index entry, by the rules of the format taken literally and nothing else: the oracle that `IndexKeyBuilder` is
 * tested against. It shares no code with the builder and is hundreds of times slower.
 *
 * Errors: as `IndexKeyBuilder.append`.
 */
export function encodeIndexEntry(layout: IndexLayout, values: readonly IndexValue[], rowId: bigint): IndexEntry {
  if (values.length !== layout.columns.length) {
    throw new InvalidArgumentError(
      `an index key has ${layout.columns.length} columns, ${values.length} values were given`,
      {
        remedy: "Give one value for each indexed column, NULL included.",
      },
    );
  }
  const canonical: number[] = [];
  let total = 0;
  layout.columns.forEach((column, i) => {
    const value = values[i] as IndexValue;
    if (value === null) {
      canonical.push(column.nullsFirst ? 0x00 : 0x01);
      return;
    }
    total += canonicalLength(column, value);
    if (total > maxIndexedValueBytes) {
      throw new ConstraintError(`index key of ${total} bytes exceeds the ${maxIndexedValueBytes}-byte limit`, {
        remedy: "Index shorter values.",
      });
    }
    const framed = frame(canonicalBytes(column, value));
    canonical.push(
      column.nullsFirst ? 0x01 : 0x00,
      ...(column.descending ? framed.map((byte) => 0xff - byte) : framed),
    );
  });
  const multi = !layout.unique || values.includes(null);
  const key = [0x07, multi ? 0x03 : 0x02, ...unsigned(layout.indexId, 8), ...frame(canonical)];
  const rowIdBytes = unsigned(rowId, 8);
  return multi
    ? { key: Uint8Array.from([...key, ...rowIdBytes]), value: new Uint8Array(0) }
    : { key: Uint8Array.from(key), value: Uint8Array.from(rowIdBytes) };
}

function frame(bytes: readonly number[]): number[] {
  return [...bytes.flatMap((byte) => (byte === 0x00 || byte === 0x01 ? [0x01, byte] : [byte])), 0x00];
}

/** Big-endian bytes of a non-negative integer below 256^length. */
function unsigned(value: bigint, length: number): number[] {
  const bytes: number[] = [];
  for (let i = length - 1; i >= 0; i--) bytes.push(Number((value >> BigInt(8 * i)) & 0xffn));
  return bytes;
}

const integerBits: Readonly<Record<string, number>> = { "8": 8, "16": 16, "32": 32, "64": 64, "128": 128 };

function integerWidth(column: IndexColumn): { signed: boolean; bits: number } | undefined {
  const match = /^(u?)int(\d+)$/.exec(column.valueType);
  const bits = integerBits[match?.[2] ?? ""];
  return bits === undefined ? undefined : { signed: match?.[1] === "", bits };
}

function canonicalLength(column: IndexColumn, value: IndexValue): number {
  const integer = integerWidth(column);
  if (integer !== undefined) return integer.bits / 8;
  switch (column.valueType) {
    case "boolean":
      return 1;
    case "float32":
      return 4;
    case "float64":
      return 8;
    default:
      return canonicalBytes(column, value).length;
  }
}

function canonicalBytes(column: IndexColumn, value: IndexValue): number[] {
  const integer = integerWidth(column);
  if (integer !== undefined) {
    const number =
      typeof value === "bigint" || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : undefined;
    if (number === undefined) throw wrongType(column);
    const low = integer.signed ? -(1n << BigInt(integer.bits - 1)) : 0n;
    const shifted = number - low;
    if (shifted < 0n || shifted >= 1n << BigInt(integer.bits)) {
      throw new ConstraintError(`an indexed integer does not fit ${column.valueType}`, {
        remedy: "Give a value of the column's type.",
      });
    }
    return unsigned(shifted, integer.bits / 8);
  }
  switch (column.valueType) {
    case "boolean":
      if (typeof value !== "boolean") throw wrongType(column);
      return [value ? 1 : 0];
    case "float32":
    case "float64":
      if (typeof value !== "number") throw wrongType(column);
      return floatBytes(value, column.valueType === "float32" ? 4 : 8);
    case "string":
      if (typeof value !== "string" || /\p{Surrogate}/u.test(value)) throw wrongType(column);
      return [...new TextEncoder().encode(value)];
    default:
      if (!(value instanceof Uint8Array)) throw wrongType(column);
      return [...value];
  }
}

function floatBytes(value: number, length: 4 | 8): number[] {
  const canonical = Number.isNaN(value) ? Number.NaN : value + 0;
  const view = new DataView(new ArrayBuffer(length));
  if (length === 4) view.setFloat32(0, canonical);
  else view.setFloat64(0, canonical);
  // A float64 too small for a float32 becomes a signed zero on the way.
  if (length === 4 && view.getFloat32(0) === 0) view.setFloat32(0, 0);
  if (Number.isNaN(canonical)) view.setUint16(0, length === 4 ? 0x7fc0 : 0x7ff8);
  const bytes = [...new Uint8Array(view.buffer)];
  const negative = (bytes[0] as number) >= 0x80;
  return bytes.map((byte, i) => (negative ? 0xff - byte : i === 0 ? byte + 0x80 : byte));
}

function wrongType(column: IndexColumn): InvalidArgumentError {
  return new InvalidArgumentError(`an indexed value is not a ${column.valueType}`, {
    remedy: "Give a value of the column's type.",
  });
}
