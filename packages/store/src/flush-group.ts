/**
 * Runs one flush at a time and lets writes share it. A write may only count on a flush that began after the write was
 * applied, so whoever arrives during a flush waits for the next one, together with all others that arrive meanwhile.
 * With an interval, a flush begins that long after the one before it began, or at once where that is longer ago: there are
 * never more of them than one in that time, and nobody waits longer for one to begin.
 */
export class FlushGroup {
  readonly #flush: () => Promise<void>;
  readonly #intervalMs: number;
  readonly #now: () => number;
  #beganMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;
  #waiting: Waiting | null = null;

  /** `now`: a clock that never goes back, in milliseconds. */
  constructor(flush: () => Promise<void>, intervalMs = 0, now: () => number = () => performance.now()) {
    this.#flush = flush;
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Settles with a flush that begins after this call. */
  join(): Promise<void> {
    if (this.#waiting !== null) return this.#waiting.promise;
    const delayMs = this.#beganMs + this.#intervalMs - this.#now();
    if (this.#running === null && delayMs <= 0) return this.#start();
    const waiting = newWaiting();
    this.#waiting = waiting;
    if (delayMs > 0) {
      waiting.timer = setTimeout(() => {
        waiting.timer = null;
        this.#startWaiting();
      }, Math.ceil(delayMs));
    }
    return waiting.promise;
  }

  /** Like `join`, but without waiting for the interval to pass. */
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
    this.#beganMs = this.#now();
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
