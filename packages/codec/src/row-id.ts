import { checkU64, getU64, putU64 } from "./bytes.js";
import { CorruptionError } from "./errors.js";
import { idBytes } from "./keys.js";

/** The stored value of a single-row index entry: its row id, eight bytes, big-endian, without a frame. */
export function encodeRowId(rowId: bigint): Uint8Array {
  checkU64(rowId, "rowId");
  const bytes = new Uint8Array(idBytes);
  putU64(bytes, 0, rowId);
  return bytes;
}

/** The row id in a single-row index entry's value. Errors: `corruption` for any other length. */
export function decodeRowId(bytes: Uint8Array): bigint {
  if (bytes.length !== idBytes) {
    throw new CorruptionError(`an index entry's value has ${bytes.length} bytes, a row id has ${idBytes}`);
  }
  return getU64(bytes, 0);
}
