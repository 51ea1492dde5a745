import { CommitConflictError } from "@moraine/codec";
import type { ChangeSet } from "../model/changes.js";
import { conflicts } from "../model/conflicts.js";
import type { CatalogState } from "../model/state.js";
import { premiseHistoryCommits } from "./limits.js";

/**
 * The state that the next commit builds on: the head, or the head with commits on top that are staged and not durable yet.
 * Tips form a chain, so that a commit which began on an older tip can ask what happened since.
 */
export class Tip {
  readonly state: CatalogState;
  /** What the commit that made this tip changed; `undefined` for the tip that opening loaded. */
  readonly changes: ChangeSet | undefined;
  #parent: Tip | undefined;
  #discarded = false;
  readonly #depth: number;

  constructor(state: CatalogState, parent?: Tip, changes?: ChangeSet) {
    this.state = state;
    this.changes = changes;
    this.#parent = parent;
    this.#depth = parent === undefined ? 0 : parent.#depth + 1;
  }

  /** Marks a tip whose commit did not land: nothing may build on it. */
  discard(): void {
    this.#discarded = true;
  }

  get discarded(): boolean {
    return this.#discarded;
  }

  /** Whether this tip is a commit's that came after the one of `base`, and that one was not taken back. */
  isOnTopOf(base: Tip): boolean {
    return !base.#discarded && base.#depth < this.#depth;
  }

  /** Lets go of tips that are older than the window. */
  forgetOld(): void {
    const keepFrom = this.#depth - premiseHistoryCommits;
    for (const tip of this.#ancestry()) {
      if (tip.#depth > keepFrom) continue;
      tip.#parent = undefined;
      return;
    }
  }

  /**
   * Decides whether a commit that began on `base` may be repeated on this tip: throws `commit_conflict` when a commit in
   * between touched what it touches. A discarded base never existed for anybody, so nothing is compared with it.
   */
  checkPremise(base: Tip, changes: ChangeSet): void {
    if (base.#discarded) return;
    let lowest: Tip | undefined;
    for (const tip of this.#ancestry()) {
      if (tip === base) {
        if (lowest === undefined) return;
        throw new CommitConflictError(`concurrent commit ${lowest.state.head.snapshotId} touched the same state`);
      }
      if (tip.changes !== undefined && conflicts(tip.changes, changes) !== undefined) lowest = tip;
    }
    throw new CommitConflictError(
      `more than ${premiseHistoryCommits} commits landed while this one was being prepared`,
    );
  }

  /** This tip and what it was built on, the youngest first. */
  *#ancestry(): IterableIterator<Tip> {
    yield this;
    let tip = this.#parent;
    while (tip !== undefined) {
      const parent: Tip | undefined = tip.#parent;
      yield tip;
      tip = parent;
    }
  }
}
