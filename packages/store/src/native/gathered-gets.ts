import type { PackedKeys, PackedValues } from "../interface.js";
import { packKeys } from "../packed.js";

/** A getMany over keys that belong together. */
export type GetBatch<From> = (from: From, keys: PackedKeys) => Promise<PackedValues>;

interface Waiting {
  readonly key: Uint8Array;
  readonly resolve: (values: PackedValues) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the single gets of one microtask into one call. Many lookups side by side, each of one key, then cost about as much
 * as one lookup of many keys; a lookup by itself is a call of one key.
 */
export class GatheredGets<From extends object> {
  readonly #getBatch: GetBatch<From>;
  #waiting = new Map<From, Waiting[]>();

  constructor(getBatch: GetBatch<From>) {
    this.#getBatch = getBatch;
  }

  get(from: From, key: Uint8Array): Promise<PackedValues> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { key, resolve, reject };
      const others = this.#waiting.get(from);
      if (others !== undefined) {
        others.push(waiting);
        return;
      }
      if (this.#waiting.size === 0) queueMicrotask(() => this.#send());
      this.#waiting.set(from, [waiting]);
    });
  }

  #send(): void {
    const all = this.#waiting;
    this.#waiting = new Map();
    for (const [from, gets] of all) this.#sendOne(from, gets);
  }

  #sendOne(from: From, gets: readonly Waiting[]): void {
    const keys = packKeys(gets.map(({ key }) => key));
    this.#getBatch(from, keys).then(
      (values) => gets.forEach(({ resolve }, i) => resolve(valuesOfOne(values, i))),
      (error: unknown) => {
        for (const { reject } of gets) reject(error);
      },
    );
  }
}

/** Value `i` as a result of one key. Its bytes stay where they are. */
function valuesOfOne({ data, offsets, lengths }: PackedValues, i: number): PackedValues {
  return { data, offsets: offsets.subarray(i, i + 1), lengths: lengths.subarray(i, i + 1) };
}
