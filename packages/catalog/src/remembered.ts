import type { Unchanged } from "./unchanged.js";

/** What something was made from: things compared by identity, the first of which is seldom shared. */
export type Origin = readonly unknown[];

interface Item<T> {
  readonly origin: Origin;
  readonly unchanged: Unchanged;
  readonly value: T;
  readonly weight: number;
}

/** Values by what they were made from. Keeps the youngest whose weights add up to no more than a limit. */
export class Remembered<T> {
  readonly #limit: number;
  readonly #items = new Map<unknown, Item<T>[]>();
  /** In the order in which they came. */
  readonly #ages: Item<T>[] = [];
  #weight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  find(origin: Origin): T | undefined {
    return this.#items.get(origin[0])?.find((item) => sameOrigin(item.origin, origin) && item.unchanged())?.value;
  }

  /** `unchanged` tells whether what the value was made from still holds what it held then. */
  keep(origin: Origin, unchanged: Unchanged, value: T, weight: number): void {
    const item = { origin, unchanged, value, weight };
    const siblings = this.#items.get(origin[0]);
    if (siblings === undefined) this.#items.set(origin[0], [item]);
    else siblings.push(item);
    this.#ages.push(item);
    this.#weight += weight;
    while (this.#weight > this.#limit) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#ages.shift();
    if (oldest === undefined) return;
    this.#weight -= oldest.weight;
    const siblings = this.#items.get(oldest.origin[0])?.filter((item) => item !== oldest) ?? [];
    if (siblings.length === 0) this.#items.delete(oldest.origin[0]);
    else this.#items.set(oldest.origin[0], siblings);
  }
}

function sameOrigin(a: Origin, b: Origin): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
