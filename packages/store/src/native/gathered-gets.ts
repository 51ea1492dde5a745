import type { PackedKeys, PackedValues } from "../interface.js";

/** A getMany over keys that belong together. */
export type GetBatch<From> = (from: From, keys: PackedKeys) => Promise<PackedValues>;

interface Waiting {
  readonly resolve: (values: PackedValues) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the single gets of one microtask into one call. Many lookups side by side, each of one key, then cost about as much
 * as one lookup of many keys; a lookup by itself is a call of one key. Keys are copied at the call.
 */
export class GatheredGets<From extends object> {
  readonly #getBatch: GetBatch<From>;
  #gathered = new Map<From, Gathered>();
  /** Whether the microtask that sends them is queued. */
  #isDue = false;

  constructor(getBatch: GetBatch<From>) {
    this.#getBatch = getBatch;
  }

  get(from: From, key: Uint8Array): Promise<PackedValues> {
    return new Promise((resolve, reject) => {
      const others = this.#gathered.get(from);
      if (others !== undefined) {
        others.add(key, { resolve, reject });
        return;
      }
      const gathered = new Gathered(key, { resolve, reject });
      if (!this.#isDue) {
        this.#isDue = true;
        queueMicrotask(() => this.#send());
      }
      this.#gathered.set(from, gathered);
    });
  }

  /** Sends what waits for a readable now: before it ends, which gets that were asked for earlier must not notice. */
  sendNow(from: From): void {
    const gathered = this.#gathered.get(from);
    if (gathered === undefined) return;
    this.#gathered.delete(from);
    this.#sendOne(from, gathered);
  }

  #send(): void {
    this.#isDue = false;
    const all = this.#gathered;
    this.#gathered = new Map();
    for (const [from, gathered] of all) this.#sendOne(from, gathered);
  }

  #sendOne(from: From, { keys, waiting }: Gathered): void {
    const fail = (error: unknown): void => {
      for (const { reject } of waiting) reject(error);
    };
    try {
      this.#getBatch(from, keys).then(
        (values) => waiting.forEach(({ resolve }, i) => resolve(valuesOfOne(values, i))),
        fail,
      );
    } catch (error) {
      // Nobody could catch it above this, and the gets of other readables have yet to be sent.
      fail(error);
    }
  }
}

/** Keys of one readable, back to back, and who waits for the value of each. */
class Gathered {
  readonly waiting: Waiting[];
  readonly #ends: number[];
  #data: Uint8Array;

  constructor(key: Uint8Array, waiting: Waiting) {
    this.#data = key.slice();
    this.#ends = [key.length];
    this.waiting = [waiting];
  }

  get keys(): PackedKeys {
    return { data: this.#data, ends: Uint32Array.from(this.#ends) };
  }

  add(key: Uint8Array, waiting: Waiting): void {
    const start = this.#ends.at(-1) ?? 0;
    const end = start + key.length;
    if (end > this.#data.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#data.length));
      grown.set(this.#data);
      this.#data = grown;
    }
    this.#data.set(key, start);
    this.#ends.push(end);
    this.waiting.push(waiting);
  }
}

/** Value `i` as a result of one key. Its bytes stay where they are. */
function valuesOfOne({ data, offsets, lengths }: PackedValues, i: number): PackedValues {
  return { data, offsets: offsets.subarray(i, i + 1), lengths: lengths.subarray(i, i + 1) };
}
