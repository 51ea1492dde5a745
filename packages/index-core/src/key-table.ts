import { randomInt } from "node:crypto";
import { UnsupportedError } from "@moraine/codec";
import type { PackedKeys } from "@moraine/store";
import { hashRange } from "./key-hash.js";
import { keyTableInitialKeys, keyTableMaxBytes } from "./limits.js";
import { rowIdWords } from "./row-id-words.js";

const processSeed = randomInt(0x1_0000_0000);
/** A slot is a pair: the key's number plus one (0: empty), and its hash. */
const slotWords = 2;

/**
 * A set of byte keys with a state and a row id for each, in flat buffers: keys back to back, an open-addressing table of
 * (number, hash) pairs that is never more than two thirds full, and one array per property. A key's number is its
 * position in order of arrival; it never changes and keys are never removed, so numbers can be kept elsewhere.
 *
 * The arrays are replaced when the table grows: read `states`, `rowWords` and `keyBytes` again after `findOrAdd`.
 */
export class KeyTable {
  readonly #seed: number;
  #slots: Uint32Array;
  #slotMask: number;
  #growAt: number;
  #count = 0;
  #keyBytes: Uint8Array;
  #keyEnds: Uint32Array;
  #states: Uint8Array;
  #rowIds: BigUint64Array;
  #rowWords: Uint32Array;

  /** `seed` makes a run repeatable in tests; the default differs from process to process. */
  constructor(expectedKeys = keyTableInitialKeys, seed = processSeed) {
    this.#seed = seed;
    let slotCount = 16;
    while (slotCount * 2 < expectedKeys * 3) slotCount *= 2;
    this.#slots = new Uint32Array(slotCount * slotWords);
    this.#slotMask = slotCount - 1;
    this.#growAt = Math.floor((slotCount * 2) / 3);
    this.#keyBytes = new Uint8Array(expectedKeys * 32);
    this.#keyEnds = new Uint32Array(expectedKeys);
    this.#states = new Uint8Array(expectedKeys);
    this.#rowIds = new BigUint64Array(expectedKeys);
    this.#rowWords = rowIdWords(this.#rowIds);
  }

  /** Keys held. */
  get count(): number {
    return this.#count;
  }

  /** All keys back to back. */
  get keyBytes(): Uint8Array {
    return this.#keyBytes;
  }

  /** One byte a key, 0 for a key that was just added; the meaning belongs to the user of the table. */
  get states(): Uint8Array {
    return this.#states;
  }

  /** Two words a key, see `rowIdWords`. */
  get rowWords(): Uint32Array {
    return this.#rowWords;
  }

  rowId(key: number): bigint {
    return this.#rowIds[key]!;
  }

  keyStart(key: number): number {
    return key === 0 ? 0 : this.#keyEnds[key - 1]!;
  }

  keyEnd(key: number): number {
    return this.#keyEnds[key]!;
  }

  /** Keys `first` (inclusive) to `last` (exclusive) by number, packed without a copy of their bytes. */
  packed(first: number, last: number): PackedKeys {
    const from = first === last ? 0 : this.keyStart(first);
    const ends = this.#keyEnds.slice(first, last);
    for (let i = 0; i < ends.length; i++) ends[i] = ends[i]! - from;
    return { data: this.#keyBytes.subarray(from, from + (ends[ends.length - 1] ?? 0)), ends };
  }

  /** Number of a key, or -1. */
  find(data: Uint8Array, start: number, end: number): number {
    const hash = hashRange(data, start, end, this.#seed);
    const slot = this.#slotOf(data, start, end, hash);
    return this.#slots[slot]! - 1;
  }

  /** Number of a key, which is added with state 0 and row id 0 when the table does not hold it. */
  findOrAdd(data: Uint8Array, start: number, end: number): number {
    const hash = hashRange(data, start, end, this.#seed);
    let slot = this.#slotOf(data, start, end, hash);
    const found = this.#slots[slot]!;
    if (found !== 0) return found - 1;
    if (this.#count >= this.#growAt) {
      this.#growSlots();
      slot = this.#slotOf(data, start, end, hash);
    }
    const key = this.#count;
    this.#append(data, start, end);
    this.#slots[slot] = key + 1;
    this.#slots[slot + 1] = hash;
    return key;
  }

  /** The slot that holds the key, or the empty one where it would go. */
  #slotOf(data: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = this.#slotMask;
    const length = end - start;
    const keyBytes = this.#keyBytes;
    const keyEnds = this.#keyEnds;
    for (let index = hash & mask; ; index = (index + 1) & mask) {
      const slot = index * slotWords;
      const number = slots[slot]!;
      if (number === 0) return slot;
      if (slots[slot + 1] !== hash) continue;
      const from = number === 1 ? 0 : keyEnds[number - 2]!;
      if (keyEnds[number - 1]! - from !== length) continue;
      let i = 0;
      while (i < length && keyBytes[from + i] === data[start + i]) i++;
      if (i === length) return slot;
    }
  }

  #append(data: Uint8Array, start: number, end: number): void {
    const from = this.#count === 0 ? 0 : this.#keyEnds[this.#count - 1]!;
    const to = from + (end - start);
    if (to > this.#keyBytes.length) this.#growKeyBytes(to);
    if (this.#count === this.#keyEnds.length) this.#growProperties();
    const keyBytes = this.#keyBytes;
    for (let i = start, at = from; i < end; i++, at++) keyBytes[at] = data[i]!;
    this.#keyEnds[this.#count] = to;
    this.#count++;
  }

  #growSlots(): void {
    const old = this.#slots;
    const slotCount = (this.#slotMask + 1) * 2;
    const slots = new Uint32Array(slotCount * slotWords);
    const mask = slotCount - 1;
    for (let from = 0; from < old.length; from += slotWords) {
      if (old[from] === 0) continue;
      let index = old[from + 1]! & mask;
      while (slots[index * slotWords] !== 0) index = (index + 1) & mask;
      slots[index * slotWords] = old[from]!;
      slots[index * slotWords + 1] = old[from + 1]!;
    }
    this.#slots = slots;
    this.#slotMask = mask;
    this.#growAt = Math.floor((slotCount * 2) / 3);
  }

  #growKeyBytes(needed: number): void {
    if (needed > keyTableMaxBytes) {
      throw new UnsupportedError(`${needed} bytes of index keys in one pass; the limit is ${keyTableMaxBytes}`, {
        remedy: "Split the work: load fewer rows in one commit, or index shorter values.",
      });
    }
    const grown = new Uint8Array(Math.min(keyTableMaxBytes, Math.max(needed, this.#keyBytes.length * 2)));
    grown.set(this.#keyBytes);
    this.#keyBytes = grown;
  }

  #growProperties(): void {
    const capacity = Math.max(keyTableInitialKeys, this.#keyEnds.length * 2);
    const keyEnds = new Uint32Array(capacity);
    keyEnds.set(this.#keyEnds);
    this.#keyEnds = keyEnds;
    const states = new Uint8Array(capacity);
    states.set(this.#states);
    this.#states = states;
    const rowIds = new BigUint64Array(capacity);
    rowIds.set(this.#rowIds);
    this.#rowIds = rowIds;
    this.#rowWords = rowIdWords(rowIds);
  }
}
