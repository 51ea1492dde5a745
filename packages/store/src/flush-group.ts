/**
 * Runs one flush at a time and lets writes share it. A write may only count on a flush that began after the write was
 * applied, so whoever arrives during a flush waits for the next one, together with all others that arrive meanwhile.
 * With a delay, a flush begins that long after the first write that waits for it, so that more can share it.
 */
export class FlushGroup {
  readonly #flush: () => Promise<void>;
  readonly #delayMs: number;
  #running: Promise<void> | null = null;
  #waiting: Waiting | null = null;

  constructor(flush: () => Promise<void>, delayMs = 0) {
    this.#flush = flush;
    this.#delayMs = delayMs;
  }

  /** Settles with a flush that begins after this call. */
  join(): Promise<void> {
    if (this.#waiting !== null) return this.#waiting.promise;
    if (this.#running === null && this.#delayMs === 0) return this.#start();
    const waiting = newWaiting();
    this.#waiting = waiting;
    if (this.#delayMs > 0) {
      waiting.timer = setTimeout(() => {
        waiting.timer = null;
        this.#startWaiting();
      }, this.#delayMs);
    }
    return waiting.promise;
  }

  /** Like `join`, but without the delay. */
  joinNow(): Promise<void> {
    const joined = this.join();
    if (this.#waiting !== null && this.#waiting.timer !== null) {
      clearTimeout(this.#waiting.timer);
      this.#waiting.timer = null;
      this.#startWaiting();
    }
    return joined;
  }

  #start(): Promise<void> {
    const running = this.#flush().finally(() => {
      this.#running = null;
      this.#startWaiting();
    });
    this.#running = running;
    return running;
  }

  #startWaiting(): void {
    const waiting = this.#waiting;
    if (waiting === null || this.#running !== null) return;
    if (waiting.timer !== null) return;
    this.#waiting = null;
    this.#start().then(waiting.resolve, waiting.reject);
  }
}

interface Waiting {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
  timer: NodeJS.Timeout | null;
}

function newWaiting(): Waiting {
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject, timer: null };
}
