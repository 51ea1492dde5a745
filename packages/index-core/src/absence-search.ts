import type { IndexKeys } from "@moraine/codec";
import { type KeyRange, type ReadView, rowKey } from "@moraine/store";
import { AbsentSpans } from "./absent-spans.js";
import { compareRanges, successor } from "./bytes.js";
import { keyStartOf } from "./index-change.js";
import { absenceScanMinimumKeys, entriesPerTurn } from "./limits.js";
import type { ProbedList } from "./probed-lists.js";
import { atOnce, inTurns, sliced, type Slices } from "./slices.js";
import { indexKeyPrefixBytes } from "./stored-row-ids.js";

/**
 * Finds spans of the value-keyed range of an index in which the view holds nothing. For each index that gains many
 * entries it looks at the two ends of the span of the new keys: the first stored entry at or above the lowest of them, and
 * the last at or below the highest. New keys outside of those two are absent; all of them are when there is none (an empty
 * index, or values above everything indexed so far). Clipping the scans to the new keys keeps them clear of tombstones
 * elsewhere, such as those at the tail of a queue.
 *
 * This is not the shared range scan that the specification withdrew ("Point reads only"): two scans of one row an index
 * and commit, whatever the number of keys, and every key that they leave open is probed by itself.
 */
export class AbsenceSearch {
  readonly #spans = new Map<bigint, AbsentSpans>();

  /** What is known of one index so far. */
  spansOf(indexId: bigint): AbsentSpans | undefined {
    return this.#spans.get(indexId);
  }

  /** Forgets every span: others are going to write. */
  clear(): void {
    this.#spans.clear();
  }

  /**
   * Looks for spans that would spare probes of these lists, long ones in turns of the event loop. Returns the number of scans
   * spent.
   */
  async search(view: ReadView, lists: readonly ProbedList[]): Promise<number> {
    const gains = new Map<bigint, NewKeys>();
    for (const { indexId, keys, added } of lists) {
      if (!added) continue;
      let gain = gains.get(indexId);
      if (gain === undefined) gains.set(indexId, (gain = new NewKeys()));
      if (keys.count > entriesPerTurn) await inTurns(gain.include(keys));
      else atOnce(gain.include(keys));
    }
    let scans = 0;
    for (const [indexId, gain] of gains) {
      if (gain.count < absenceScanMinimumKeys) continue;
      let spans = this.#spans.get(indexId);
      if (spans === undefined) this.#spans.set(indexId, (spans = new AbsentSpans()));
      const span = { start: gain.lowest(), end: successor(gain.highest()) };
      if (spans.cover(span)) continue;
      const [first, last] = await Promise.all([endKey(view, span, false), endKey(view, span, true)]);
      scans += 2;
      if (first === undefined || last === undefined) {
        spans.add(span);
      } else {
        spans.add({ start: span.start, end: first });
        spans.add({ start: successor(last), end: span.end });
      }
    }
    return scans;
  }
}

/** First key of a range, or last with `reverse`. */
async function endKey(view: ReadView, range: KeyRange, reverse: boolean): Promise<Uint8Array | undefined> {
  for await (const block of view.scan(range, { reverse, limit: 1, blockRows: 1 })) {
    if (block.count > 0) return rowKey(block, 0).slice();
  }
  return undefined;
}

/** Number, lowest and highest of the value-keyed entries of several lists. */
class NewKeys {
  count = 0;
  #lowest: KeyPlace | undefined;
  #highest: KeyPlace | undefined;

  *include(keys: IndexKeys): Slices<undefined> {
    for (const [first, last] of sliced(keys.count)) {
      this.#include(keys, first, last);
      yield last - first;
    }
  }

  #include(keys: IndexKeys, first: number, last: number): void {
    const { data, ends, multi } = keys;
    // Positions after the prefix, which all keys of an index share.
    let lowest = -1;
    let highest = -1;
    let lowestStart = 0;
    let highestStart = 0;
    for (let i = first, keyStart = keyStartOf(keys, first); i < last; i++) {
      const end = ends[i]!;
      const start = keyStart + indexKeyPrefixBytes;
      keyStart = end;
      if (multi[i] !== 0) continue;
      this.count++;
      if (highest < 0) {
        lowest = highest = i;
        lowestStart = highestStart = start;
      } else if (compareRanges(data, start, end, data, highestStart, ends[highest]!) > 0) {
        highest = i;
        highestStart = start;
      } else if (compareRanges(data, start, end, data, lowestStart, ends[lowest]!) < 0) {
        lowest = i;
        lowestStart = start;
      }
    }
    if (lowest < 0) return;
    const low = keyPlace(keys, lowest);
    const high = keyPlace(keys, highest);
    if (this.#lowest === undefined || comparePlaces(low, this.#lowest) < 0) this.#lowest = low;
    if (this.#highest === undefined || comparePlaces(high, this.#highest) > 0) this.#highest = high;
  }

  /** A copy of the lowest key; empty when there is none. */
  lowest(): Uint8Array {
    return copyOf(this.#lowest);
  }

  highest(): Uint8Array {
    return copyOf(this.#highest);
  }
}

interface KeyPlace {
  readonly data: Uint8Array;
  readonly start: number;
  readonly end: number;
}

function keyPlace(keys: IndexKeys, i: number): KeyPlace {
  return { data: keys.data, start: keyStartOf(keys, i), end: keys.ends[i]! };
}

function comparePlaces(left: KeyPlace, right: KeyPlace): number {
  return compareRanges(left.data, left.start, left.end, right.data, right.start, right.end);
}

function copyOf(place: KeyPlace | undefined): Uint8Array {
  return place === undefined ? new Uint8Array(0) : place.data.slice(place.start, place.end);
}
