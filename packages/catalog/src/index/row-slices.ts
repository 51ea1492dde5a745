import { nextTurn } from "@moraine/store";
import { derivedEntriesPerTurn } from "../engine/limits.js";

/**
 * Takes rows of a list of columns in slices, with a turn of the event loop between them. `rows` numbers those to take,
 * `undefined` stands for all. Few rows are taken at once, and the slice is then what was given.
 */
export async function inSlices(
  count: number,
  rows: Uint32Array | undefined,
  take: (slice: Uint32Array | undefined) => void,
): Promise<void> {
  const total = rows?.length ?? count;
  if (total <= derivedEntriesPerTurn) {
    take(rows);
    return;
  }
  for (let first = 0; first < total; first += derivedEntriesPerTurn) {
    if (first > 0) await nextTurn();
    const last = Math.min(total, first + derivedEntriesPerTurn);
    take(rows?.subarray(first, last) ?? numbersFrom(first, last));
  }
}

function numbersFrom(first: number, last: number): Uint32Array {
  const numbers = new Uint32Array(last - first);
  for (let i = 0; i < numbers.length; i++) numbers[i] = first + i;
  return numbers;
}
