import type { IndexKeys } from "@moraine/codec";
import { highWord, lowWord, rowIdBytes, rowIdWords, writeWord } from "./row-id-words.js";

const wordValues = 0x1_0000_0000;

/**
 * The same entries for rows whose ids are `shift` higher, or lower where it is negative. `keys` stays as it is. What does not
 * change is shared with it, `ends` always: by that a planner knows values again that it has read ahead.
 */
export function shiftRowIds(keys: IndexKeys, shift: bigint): IndexKeys {
  if (shift === 0n) return keys;
  const { count, ends, multi } = keys;
  const by = rowIdWords(BigUint64Array.of(BigInt.asUintN(64, shift)));
  const rowIds = new BigUint64Array(count);
  const words = rowIdWords(rowIds);
  const before = rowIdWords(keys.rowIds);
  // A row id in the key itself means bytes of its own; most unique indexes have none.
  const data = multi.includes(1) ? keys.data.slice() : keys.data;
  for (let i = 0; i < count; i++) {
    const low = before[2 * i + lowWord]! + by[lowWord]!;
    const carry = low >= wordValues ? 1 : 0;
    words[2 * i + lowWord] = low;
    words[2 * i + highWord] = before[2 * i + highWord]! + by[highWord]! + carry;
    if (multi[i] === 0) continue;
    const at = ends[i]! - rowIdBytes;
    writeWord(data, at, words[2 * i + highWord]!);
    writeWord(data, at + 4, words[2 * i + lowWord]!);
  }
  return { layout: keys.layout, count, data, ends, rowIds, multi };
}
