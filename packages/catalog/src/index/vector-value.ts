import { type ColumnVector, fromIndexValue, type IndexValue } from "@moraine/codec";

const utf8 = new TextDecoder();

/** One value of a column, as callers write it: what `toIndexValue` takes for the column's type. */
export function plainValueAt(vector: ColumnVector, row: number, columnType: string): unknown {
  return fromIndexValue(columnType, valueAt(vector, row));
}

function valueAt(vector: ColumnVector, row: number): IndexValue {
  if (vector.validity !== null && vector.validity[row] === 0) return null;
  const { values } = vector;
  switch (vector.type) {
    case "string":
      return utf8.decode(variableAt(vector, row));
    case "bytes":
      return variableAt(vector, row).slice();
    case "boolean":
      return values[row] === 1;
    case "int128":
      return int128At(values as Uint8Array, row);
    case "float32":
    case "float64":
      return values[row] as number;
    default:
      return BigInt(values[row] ?? 0);
  }
}

function variableAt(vector: ColumnVector, row: number): Uint8Array {
  const bytes = vector.values as Uint8Array;
  return bytes.subarray(vector.offsets?.[row], vector.offsets?.[row + 1]);
}

function int128At(bytes: Uint8Array, row: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + 16 * row, 16);
  return (view.getBigInt64(8, true) << 64n) | view.getBigUint64(0, true);
}
