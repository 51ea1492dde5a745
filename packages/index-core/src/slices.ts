import { nextTurn } from "@moraine/store";
import { entriesPerTurn } from "./limits.js";

/** Work on many entries, which tells after each slice on how many it worked: there the event loop may be let in. */
export type Slices<T> = Generator<number, T, undefined>;

/** Where each slice of so many entries begins and ends (exclusive). */
export function* sliced(entries: number): Generator<readonly [first: number, last: number], undefined, undefined> {
  for (let first = 0; first < entries; first += entriesPerTurn)
    yield [first, Math.min(entries, first + entriesPerTurn)];
}

export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Lets timers and I/O run about every `entriesPerTurn` entries. What the work is on must be left alone until it has ended. */
export async function inTurns<T>(work: Slices<T>): Promise<T> {
  let entries = 0;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    entries += step.value;
    if (entries < entriesPerTurn) continue;
    entries = 0;
    await nextTurn();
  }
}
