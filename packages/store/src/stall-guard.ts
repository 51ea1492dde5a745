/**
 * Watches for a writer that was asleep for too long. SlateDB fences a displaced writer through the write-ahead objects of
 * its successor: the next object that the old writer creates already exists. Once garbage collection has removed those
 * objects (not before the minimum age), an old writer that wakes up creates its object without hindrance and would
 * acknowledge a write that nobody will ever read. So a writer may only trust a finished write while less than half of that
 * age has passed since it last knew that it was the writer.
 *
 * It knows so when it read the manifest and found its own epoch, or when a flush succeeded that began while the last
 * such moment was still fresh (a successor's objects would then still have been there). Both count from the moment at
 * which the request began.
 */
export class StallGuard {
  readonly #limitMs: number;
  readonly #now: () => number;
  #confirmedAtMs: number;
  #steadyAtMs: number;

  constructor(walMinAgeMs: number, now: () => number) {
    this.#limitMs = walMinAgeMs / 2;
    this.#now = now;
    this.#confirmedAtMs = now();
    this.#steadyAtMs = performance.now();
  }

  /** The present moment, to be given to `confirm` when the request that begins now has succeeded. */
  moment(): Moment {
    return { wallMs: this.#now(), steadyMs: performance.now() };
  }

  /** This process was the store's writer at that moment. */
  confirm(moment: Moment): void {
    this.#confirmedAtMs = moment.wallMs;
    this.#steadyAtMs = moment.steadyMs;
  }

  /**
   * Whether nothing that finishes now may be acknowledged. The wall clock also runs while a machine sleeps, the steady one
   * cannot be set back; a wall clock that was set back is taken for a stall, since it could hide one.
   */
  stalled(): boolean {
    const wallMs = this.#now() - this.#confirmedAtMs;
    return Math.abs(wallMs) > this.#limitMs || performance.now() - this.#steadyAtMs > this.#limitMs;
  }
}

export interface Moment {
  readonly wallMs: number;
  readonly steadyMs: number;
}
