import { type IndexKeys, indexPrefix } from "@moraine/codec";
import { type IndexChange, keyStartOf } from "./index-change.js";
import { highWord, lowWord, rowIdWords } from "./row-id-words.js";

/**
 * DuckLake's row ids of rows that were inserted and updated in one transaction, from which on two rows of a table may have the
 * same one (rfcs/format.md, 2.1).
 */
export const firstProvisionalRowId = 1_000_000_000_000_000_000n;

const firstHigh = Number(firstProvisionalRowId >> 32n);
const firstLow = Number(firstProvisionalRowId & 0xffff_ffffn);

/** Whether row id `i` is provisional. */
export function isProvisional(rowWords: Uint32Array, i: number): boolean {
  const high = rowWords[i * 2 + highWord]!;
  return high > firstHigh || (high === firstHigh && rowWords[i * 2 + lowWord]! >= firstLow);
}

/**
 * Which entries of a list stand for any number of rows: those with a provisional row id in their key. `undefined`, as for all lists
 * but a few: none.
 */
export function countedEntries({ multi, rowIds, count }: IndexKeys): Uint32Array | undefined {
  const words = rowIdWords(rowIds);
  let found: number[] | undefined;
  for (let i = 0; i < count; i++) {
    if (multi[i] !== 0 && isProvisional(words, i)) (found ??= []).push(i);
  }
  return found === undefined ? undefined : Uint32Array.from(found);
}

const [, countedShape] = indexPrefix("multi");

/** Whether a key that a planner decides is that of a counted entry, and not of a value-keyed one. */
export function isCounted(keyBytes: Uint8Array, start: number): boolean {
  return keyBytes[start + 1] === countedShape;
}

/** Visits the keys of all counted entries of some changes. */
export function eachCountedKey(
  changes: readonly IndexChange[],
  visit: (data: Uint8Array, start: number, end: number) => void,
): void {
  for (const { additions, removals } of changes) {
    for (const keys of [removals, additions]) {
      if (keys === undefined) continue;
      for (const i of countedEntries(keys) ?? []) visit(keys.data, keyStartOf(keys, i), keys.ends[i]!);
    }
  }
}
