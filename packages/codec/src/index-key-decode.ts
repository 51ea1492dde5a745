import { compareBytes, getU64 } from "./bytes.js";
import { valueTypeBytes } from "./component.js";
import { CorruptionError } from "./errors.js";
import { type IndexColumn, type IndexLayout, type IndexValue, maxIndexedValueBytes } from "./index-value.js";
import { readFramed } from "./key-frame.js";
import { decodeKey } from "./key-codec.js";
import { readUtf8 } from "./utf8.js";

const signBit64 = 1n << 63n;
const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);
/** The one NaN that keys hold, of each width. */
const nan32 = new Uint8Array([0x7f, 0xc0, 0, 0]);
const nan64 = new Uint8Array([0x7f, 0xf8, 0, 0, 0, 0, 0, 0]);

/** An index key's meaning. `rowId` is `undefined` where the entry's value holds it. */
export interface DecodedIndexKey {
  readonly multi: boolean;
  readonly values: IndexValue[];
  readonly rowId: bigint | undefined;
}

/**
 * The values and the row id of an index key. Integers come as `bigint`.
 *
 * Errors: `corruption` for bytes that `IndexKeyBuilder` does not write for this layout.
 */
export function decodeIndexKey(layout: IndexLayout, key: Uint8Array): DecodedIndexKey {
  const parts = decodeKey(key);
  if (parts.subspace !== "index") throw fault("the key is not an index entry's");
  if (parts.indexId !== layout.indexId) throw fault(`the key belongs to index ${parts.indexId}, not ${layout.indexId}`);
  const values = readComponents(layout, parts.canonical);
  const multi = parts.shape === "multi";
  if (multi !== (!layout.unique || values.includes(null))) throw fault("the key's shape does not fit its values");
  return { multi, values, rowId: parts.shape === "multi" ? parts.rowId : undefined };
}

function readComponents(layout: IndexLayout, canonical: Uint8Array): IndexValue[] {
  const values: IndexValue[] = [];
  let at = 0;
  let total = 0;
  for (const column of layout.columns) {
    const flag = canonical[at++];
    if (flag !== 0 && flag !== 1) throw fault("a component has no valid flag");
    if ((flag === 0) === column.nullsFirst) {
      values.push(null);
      continue;
    }
    const framed = readFramed(canonical, at, column.descending ? 0xff : 0);
    if (framed === undefined) throw fault("a component is not framed as components are");
    at = framed.next;
    total += framed.value.length;
    values.push(readValue(column, framed.value));
  }
  if (at < canonical.length) throw fault("there are more components than columns");
  if (total > maxIndexedValueBytes) throw fault(`the values have ${total} bytes, more than ${maxIndexedValueBytes}`);
  return values;
}

function readValue(column: IndexColumn, bytes: Uint8Array): IndexValue {
  const { valueType } = column;
  const width = valueTypeBytes[valueType];
  if (width !== undefined && bytes.length !== width) throw fault(`a ${valueType} has ${bytes.length} bytes`);
  switch (valueType) {
    case "boolean":
      if ((bytes[0] as number) > 1) throw fault("a boolean is neither 0 nor 1");
      return bytes[0] === 1;
    case "float32":
    case "float64":
      return readFloat(bytes);
    case "string": {
      const text = readUtf8(bytes, 0, bytes.length);
      if (text === undefined) throw fault("a string is not UTF-8");
      return text;
    }
    case "bytes":
      return bytes.slice();
    default:
      return readInteger(bytes, valueType.startsWith("int"));
  }
}

function readInteger(bytes: Uint8Array, signed: boolean): bigint {
  const width = bytes.length;
  if (width === 8) return signed ? BigInt.asIntN(64, getU64(bytes, 0) ^ signBit64) : getU64(bytes, 0);
  if (width === 16) return (BigInt.asIntN(64, getU64(bytes, 0) ^ signBit64) << 64n) | getU64(bytes, 8);
  let value = 0;
  for (const byte of bytes) value = value * 0x100 + byte;
  return BigInt(signed ? value - 2 ** (8 * width - 1) : value);
}

function readFloat(ordered: Uint8Array): number {
  const bits = scratchBytes.subarray(0, ordered.length);
  const flip = (ordered[0] as number) >= 0x80 ? 0 : 0xff;
  for (let i = 0; i < ordered.length; i++) bits[i] = (ordered[i] as number) ^ flip;
  if (flip === 0) bits[0] = (bits[0] as number) ^ 0x80;
  const value = ordered.length === 4 ? scratch.getFloat32(0) : scratch.getFloat64(0);
  if (Number.isNaN(value) && compareBytes(bits, ordered.length === 4 ? nan32 : nan64) !== 0) {
    throw fault("a float is a NaN of another pattern than the one that keys hold");
  }
  if (Object.is(value, -0)) throw fault("a float is a negative zero, which keys do not hold");
  return value;
}

function fault(what: string): CorruptionError {
  return new CorruptionError(`index key: ${what}`);
}
