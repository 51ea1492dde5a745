/**
 * Time limits for many short calls: one timer looks at all of them now and then, so that a call that takes microseconds
 * does not pay for a timer of its own. A limit is noticed late by up to one tick.
 */
export class Deadlines {
  readonly #pending = new Set<Pending>();
  readonly #limitMs: number;
  readonly #tickMs: number;
  readonly #onTimeout: () => Error;
  #timer: NodeJS.Timeout | null = null;

  constructor(limitMs: number, onTimeout: () => Error) {
    this.#limitMs = limitMs;
    this.#tickMs = Math.max(10, Math.min(1000, limitMs / 8));
    this.#onTimeout = onTimeout;
  }

  /**
   * Settles as the call does, or rejects when it takes too long; `typed` makes the error that is given on. The call itself
   * goes on then, and its outcome is dropped.
   */
  limit<T>(call: Promise<T>, typed: (error: unknown) => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const fail = (error: unknown): void => reject(typed(error));
      const pending: Pending = { endsAtMs: performance.now() + this.#limitMs, fail };
      this.#pending.add(pending);
      this.#timer ??= this.#startTimer();
      call.then(
        (value) => {
          this.#pending.delete(pending);
          resolve(value);
        },
        (error: unknown) => {
          this.#pending.delete(pending);
          fail(error);
        },
      );
    });
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #startTimer(): NodeJS.Timeout {
    const timer = setInterval(() => this.#tick(), this.#tickMs);
    timer.unref();
    return timer;
  }

  #tick(): void {
    const now = performance.now();
    for (const pending of this.#pending) {
      // In order of arrival and all with the same limit: the first one that has time left ends the search.
      if (pending.endsAtMs > now) break;
      this.#pending.delete(pending);
      pending.fail(this.#onTimeout());
    }
    if (this.#pending.size === 0) this.close();
  }
}

interface Pending {
  readonly endsAtMs: number;
  readonly fail: (error: unknown) => void;
}
