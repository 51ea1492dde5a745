/** Callers that wait for something, in the order in which they came. */
export class WaitQueue {
  readonly #waiting: (() => void)[] = [];

  async wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Lets the first one go on. False when none waits. */
  wakeFirst(): boolean {
    const wake = this.#waiting.shift();
    wake?.();
    return wake !== undefined;
  }
}

/** Runs at most `count` pieces of work at a time; the others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #queue = new WaitQueue();

  constructor(count: number) {
    this.#free = count;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await this.#queue.wait();
    try {
      return await work();
    } finally {
      // A slot goes straight to the next in line: a newcomer cannot overtake it.
      if (!this.#queue.wakeFirst()) this.#free++;
    }
  }
}

/**
 * Works through `items` with at most `workers` under way. The first failure stops the rest: `stop` is aborted, what is
 * under way is waited for, and then the failure is thrown. Nothing runs on after the promise has settled.
 */
export async function forEachBounded<Item>(
  items: readonly Item[],
  workers: number,
  work: (item: Item, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const failures: unknown[] = [];
  let next = 0;
  const runWorker = async (): Promise<void> => {
    while (failures.length === 0 && next < items.length) {
      const item = items[next++] as Item;
      try {
        await work(item, stop.signal);
      } catch (error) {
        failures.push(error);
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, items.length) }, runWorker));
  if (failures.length > 0) throw failures[0];
}
