import { randomInt } from "node:crypto";
import { hashPair } from "./key-hash.js";
import { filterBitsPerKey } from "./limits.js";

const processSeed = randomInt(0x1_0000_0000);
const blockWords = 8;
const blockBits = blockWords * 32;
/** Turns the product of a word and a number of words into a number of blocks. */
const blockShare = 2 ** -32 / blockWords;

/**
 * A set of byte keys that may say "perhaps" for a key that it does not hold, and never "no" for one that it does: a
 * split-block Bloom filter (the one of the Parquet specification: a key sets one bit in each of the eight words of one block).
 *
 * It grows by layers, as bits cannot be spread over a larger table afterwards: a full filter gets another table that takes
 * all further keys, and a key is looked for in all of them. Reading the keys again, to fill one larger table, would cost more
 * than the filter saves. Keys cannot be taken out; `noteGone` only counts them.
 */
export class KeyFilter {
  readonly #seed: number;
  readonly #hash = new Int32Array(2);
  readonly #layers: Int32Array[] = [];
  #keys = 0;
  #gone = 0;
  /** Keys from which the latest layer is full. */
  #fullAt = 0;
  #bytes = 0;

  /** `seed` makes a run repeatable in tests; the default differs from process to process. */
  constructor(expectedKeys: number, seed = processSeed) {
    this.#seed = seed;
    this.extend(expectedKeys);
  }

  /** Memory of a layer for so many keys. */
  static bytesFor(expectedKeys: number): number {
    return Math.max(1, Math.ceil((expectedKeys * filterBitsPerKey) / blockBits)) * blockWords * 4;
  }

  /** Different keys added, without those that looked as if they were there. */
  get keys(): number {
    return this.#keys;
  }

  /** How many of them are known to be gone. */
  get gone(): number {
    return this.#gone;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#keys >= this.#fullAt;
  }

  /** Makes room for so many more keys. */
  extend(moreKeys: number): void {
    const bytes = KeyFilter.bytesFor(moreKeys);
    this.#layers.push(new Int32Array(bytes / 4));
    this.#bytes += bytes;
    this.#fullAt = this.#keys + moreKeys;
  }

  /** Adds a key. A full filter takes it too, at the price of more false answers: extend it first. */
  add(data: Uint8Array, start: number, end: number): void {
    if (this.mayHold(data, start, end)) {
      // What comes back had been counted as gone.
      if (this.#gone > 0) this.#gone--;
      return;
    }
    setBits(this.#layers[this.#layers.length - 1]!, this.#hash[0]!, this.#hash[1]!);
    this.#keys++;
  }

  /** Whether the key may be in the set. `false` is certain. */
  mayHold(data: Uint8Array, start: number, end: number): boolean {
    const hash = this.#hash;
    hashPair(data, start, end, this.#seed, hash);
    const layers = this.#layers;
    for (let i = layers.length - 1; i >= 0; i--) if (hasBits(layers[i]!, hash[0]!, hash[1]!)) return true;
    return false;
  }

  /** Counts a key that left the set: its bits stay, as others may share them. */
  noteGone(): void {
    if (this.#gone < this.#keys) this.#gone++;
  }

  /** Counts anew which keys are gone. */
  forgetGone(): void {
    this.#gone = 0;
  }
}

/** Where the block of a hash begins: the hash as a share of the whole. */
function blockStart(words: Int32Array, hash: number): number {
  return (((hash >>> 0) * words.length * blockShare) | 0) * blockWords;
}

// The multipliers of the Parquet specification; the upper five bits of each product pick one bit of a word.

function setBits(words: Int32Array, place: number, hash: number): void {
  const at = blockStart(words, place);
  words[at]! |= 1 << (Math.imul(hash, 0x47b6_137b) >>> 27);
  words[at + 1]! |= 1 << (Math.imul(hash, 0x4497_4d91) >>> 27);
  words[at + 2]! |= 1 << (Math.imul(hash, 0x8824_ad5b) >>> 27);
  words[at + 3]! |= 1 << (Math.imul(hash, 0xa2b7_289d) >>> 27);
  words[at + 4]! |= 1 << (Math.imul(hash, 0x7054_95c7) >>> 27);
  words[at + 5]! |= 1 << (Math.imul(hash, 0x2df1_424b) >>> 27);
  words[at + 6]! |= 1 << (Math.imul(hash, 0x9efc_4947) >>> 27);
  words[at + 7]! |= 1 << (Math.imul(hash, 0x5c6b_fb31) >>> 27);
}

function hasBits(words: Int32Array, place: number, hash: number): boolean {
  const at = blockStart(words, place);
  return (
    ((words[at]! >>> (Math.imul(hash, 0x47b6_137b) >>> 27)) &
      (words[at + 1]! >>> (Math.imul(hash, 0x4497_4d91) >>> 27)) &
      (words[at + 2]! >>> (Math.imul(hash, 0x8824_ad5b) >>> 27)) &
      (words[at + 3]! >>> (Math.imul(hash, 0xa2b7_289d) >>> 27)) &
      (words[at + 4]! >>> (Math.imul(hash, 0x7054_95c7) >>> 27)) &
      (words[at + 5]! >>> (Math.imul(hash, 0x2df1_424b) >>> 27)) &
      (words[at + 6]! >>> (Math.imul(hash, 0x9efc_4947) >>> 27)) &
      (words[at + 7]! >>> (Math.imul(hash, 0x5c6b_fb31) >>> 27)) &
      1) !==
    0
  );
}
