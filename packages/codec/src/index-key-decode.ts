import { compareBytes } from "./bytes.js";
import { valueTypeBytes } from "./component.js";
import { CorruptionError } from "./errors.js";
import { type IndexColumn, type IndexLayout, type IndexValue, maxIndexedValueBytes } from "./index-value.js";
import { readFramed } from "./key-frame.js";
import { decodeKey } from "./key-codec.js";
import { readUtf8 } from "./utf8.js";

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
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return signed ? value - (1n << BigInt(8 * bytes.length - 1)) : value;
}

function readFloat(ordered: Uint8Array): number {
  const positive = (ordered[0] as number) >= 0x80;
  const bits = ordered.map((byte, i) => (positive ? (i === 0 ? byte ^ 0x80 : byte) : byte ^ 0xff));
  const view = new DataView(bits.buffer);
  const value = bits.length === 4 ? view.getFloat32(0) : view.getFloat64(0);
  const canonicalNaN = bits.length === 4 ? [0x7f, 0xc0, 0, 0] : [0x7f, 0xf8, 0, 0, 0, 0, 0, 0];
  if (Number.isNaN(value) && compareBytes(bits, Uint8Array.from(canonicalNaN)) !== 0) {
    throw fault("a float is a NaN of another pattern than the one that keys hold");
  }
  if (Object.is(value, -0)) throw fault("a float is a negative zero, which keys do not hold");
  return value;
}

function fault(what: string): CorruptionError {
  return new CorruptionError(`index key: ${what}`);
}
