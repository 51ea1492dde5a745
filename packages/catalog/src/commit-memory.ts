import type { IndexKeys } from "@moraine/codec";
import { rememberedEntriesPerCommit, rememberedRowsPerCommit } from "./engine/limits.js";
import type { InlineContent } from "./inline/content.js";
import { Remembered } from "./remembered.js";

/** Entries of many rows for one index, as they were made for rows whose first id was `rowIdStart`. */
export interface DerivedEntries {
  readonly keys: IndexKeys;
  readonly rowIdStart: bigint;
}

/**
 * What one commit keeps from one run of its closure to the next. A later run begins on a newer state, where the same rows
 * get other ids; what was made of the rows themselves is the same, and is not made again, so that a large commit that is
 * run again in its turn does not hold up all others.
 *
 * Rows are told by identity: by the arrays that the closure passes, and their elements or bytes. A closure that makes new
 * ones, or fills its arrays anew, has them encoded anew.
 */
export class CommitMemory {
  // Made when first asked for: most commits are small and keep nothing.
  #encoded: Remembered<readonly InlineContent[]> | undefined;
  #entries: Remembered<DerivedEntries> | undefined;
  #holdsTurn = false;
  #hasWaited = false;
  #slices = 0;

  get encoded(): Remembered<readonly InlineContent[]> {
    this.#encoded ??= new Remembered(rememberedRowsPerCommit);
    return this.#encoded;
  }

  get entries(): Remembered<DerivedEntries> {
    this.#entries ??= new Remembered(rememberedEntriesPerCommit);
    return this.#entries;
  }

  /** A run of the closure begins, in a turn. */
  begin(): void {
    this.#holdsTurn = true;
    this.#hasWaited = false;
  }

  /** The turn is given away while the run goes on. */
  leaveTurn(): void {
    this.#holdsTurn = false;
  }

  /** A closure has returned, `late` if it returned a promise. */
  closureReturned(late: boolean): void {
    if (late && !this.#holdsTurn) this.#hasWaited = true;
  }

  /** The preparation of rows waits for what other commits may have changed meanwhile. */
  readsState(): void {
    this.#hasWaited = true;
  }

  /**
   * Whether the latest run waited for something of its own, so that a commit that landed meanwhile may have cost it its
   * race. One that only had its many rows encoded and read ahead loses none: it is as if it had come later.
   */
  get hasWaited(): boolean {
    return this.#hasWaited;
  }

  /** Whether rows are prepared that wait for nothing but turns of the event loop. */
  get isSlicing(): boolean {
    return this.#slices > 0;
  }

  /** Notes that rows are prepared in slices until `work` settles. Gives what it gives. */
  async slicing<T>(work: Promise<T>): Promise<T> {
    this.#slices += 1;
    try {
      return await work;
    } finally {
      this.#slices -= 1;
    }
  }
}
