import { CorruptionError } from "@moraine/codec";
import type { RowBlock } from "@moraine/store";
import { rowIdBytes, type RowIdList } from "./row-id-words.js";

/** Bytes of an index key before the values: subspace, shape and index id. */
export const indexKeyPrefixBytes = 10;

/** The two physical shapes of an entry: keyed by value alone, or by value and row id. */
export type EntryShape = "unique" | "multi";

/** Appends the row id of one entry of a block: the value of a value-keyed entry, the end of the key of the other shape. */
export function appendRowId(block: RowBlock, row: number, shape: EntryShape, into: RowIdList): void {
  const keyStart = row === 0 ? 0 : block.ends[2 * row - 1]!;
  const keyEnd = block.ends[2 * row]!;
  const valueEnd = block.ends[2 * row + 1]!;
  if (shape === "unique") {
    if (valueEnd - keyEnd !== rowIdBytes) throw wrongValue(valueEnd - keyEnd, rowIdBytes);
    into.appendBytes(block.data, keyEnd);
    return;
  }
  // A number of rows says nothing to a reader: all of them have that row id.
  if (valueEnd !== keyEnd && valueEnd - keyEnd !== rowIdBytes) throw wrongValue(valueEnd - keyEnd, 0);
  if (keyEnd - keyStart <= indexKeyPrefixBytes + rowIdBytes) {
    throw new CorruptionError(`an index entry with a row id in its key has a key of only ${keyEnd - keyStart} bytes`);
  }
  into.appendBytes(block.data, keyEnd - rowIdBytes);
}

export function wrongValue(found: number, expected: number): CorruptionError {
  return new CorruptionError(`an index entry holds ${found} bytes in place of ${expected}`);
}
