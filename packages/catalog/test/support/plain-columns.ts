import type { ColumnData } from "../../src/rows/column-data.js";
import { isValid } from "../../src/rows/slice-columns.js";
import type { PlainValue } from "./row-batches.js";

const utf8 = new TextDecoder();

/** The values of a column of integers to 64 bits, booleans or text: the inverse of `columnOf` for these. */
export function plainValues({ type, rows, validity, values, offsets }: ColumnData): PlainValue[] {
  const bytes = values ?? new Uint8Array(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: rows }, (_, row): PlainValue => {
    if (!isValid(validity, row)) return null;
    if (offsets !== undefined) return utf8.decode(bytes.subarray(offsets[row], offsets[row + 1]));
    if (type === "BOOLEAN") return isValid(bytes, row);
    return type === "INTEGER" ? BigInt(view.getInt32(4 * row, true)) : view.getBigInt64(8 * row, true);
  });
}
