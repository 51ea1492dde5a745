/** A small reproducible source of random choices (xorshift32): the same seed gives the same sequence on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b) >>> 0 || 1;
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state % limit;
  }

  chance(probability: number): boolean {
    return this.below(1_000_000) < probability * 1_000_000;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const swap = out[i]!;
      out[i] = out[j]!;
      out[j] = swap;
    }
    return out;
  }
}
