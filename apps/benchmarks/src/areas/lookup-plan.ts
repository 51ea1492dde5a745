import type { ValueRun } from "../lake.js";
import { randomIntegers } from "../random.js";
import type { Sizes } from "../sizes.js";

/** Stored values are the even numbers, so that an odd one is a miss among them. */
const valueStep = 2;

/** Which rows are stored, and which of them the n-th call of a read asks for: the same for moraine and its peer. */
export class LookupPlan {
  readonly #sizes: Sizes;
  readonly #random: readonly number[];

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
    this.#random = randomIntegers(3, sizes.lookups, sizes.lookupRows);
  }

  get rows(): ValueRun {
    return { first: 0, step: valueStep, count: this.#sizes.lookupRows };
  }

  hit(call: number): number {
    return this.#row(call) * valueStep;
  }

  /** Another value with each call. */
  once(call: number): number {
    return ((call * 7919) % this.#sizes.lookupRows) * valueStep;
  }

  miss(call: number): number {
    return this.hit(call) + 1;
  }

  group(call: number): number {
    return Math.floor(this.#row(call) / this.#sizes.lookupFanOut);
  }

  /** Values spread over the whole index. */
  many(call: number): number[] {
    const { lookupManyKeys, lookupRows } = this.#sizes;
    const stride = Math.max(1, Math.floor(lookupRows / lookupManyKeys));
    return Array.from({ length: lookupManyKeys }, (_, i) => ((i * stride + call) % lookupRows) * valueStep);
  }

  /** A value from which on there are at least so many rows. */
  rangeStart(call: number, rows: number): number {
    return (this.#row(call) % (this.#sizes.lookupRows - rows)) * valueStep;
  }

  #row(call: number): number {
    return this.#random[call % this.#random.length] ?? 0;
  }
}
