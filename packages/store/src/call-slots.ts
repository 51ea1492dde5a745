import { limits } from "./limits.js";

/**
 * Bounds the reads of the binding that are in flight in this thread, over all stores. koffi, through which the binding is
 * called, keeps 256 places for completions that arrive on other threads at the same time, and crashes the process (SIGSEGV
 * in its RelayCallback, koffi 2.16) when they run out; each read that waits for a file or an object completes on a thread
 * of its own. Other calls complete on few threads and fit into the rest.
 */
export class CallSlots {
  #free: number;
  /** First come, first served; `#next` is the first that still waits. */
  #waiting: (() => void)[] = [];
  #next = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot at once, if one is free and nobody waits for it. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Waits for a slot. */
  take(): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Gives a slot back, to whoever has waited longest. */
  release(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#next += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    next();
  }

  /** Runs one call in a slot. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (!this.tryTake()) await this.take();
    try {
      return await call();
    } finally {
      this.release();
    }
  }
}

/** One for all stores of this thread. */
export const readSlots = new CallSlots(limits.readsInFlight);
