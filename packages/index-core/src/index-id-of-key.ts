import { CorruptionError } from "@moraine/codec";
import { readWord } from "./row-id-words.js";
import { indexKeyPrefixBytes } from "./stored-row-ids.js";

/** Where the index id begins in an index key: after subspace and shape. */
const indexIdOffset = 2;

/** Index id of the key that begins at `start`. */
export function indexIdOfKey(data: Uint8Array, start: number, end: number): bigint {
  if (end - start <= indexKeyPrefixBytes) {
    throw new CorruptionError(`an index entry has a key of only ${end - start} bytes`);
  }
  const at = start + indexIdOffset;
  return (BigInt(readWord(data, at)) << 32n) | BigInt(readWord(data, at + 4));
}
