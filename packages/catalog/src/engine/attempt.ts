import type { IndexChange } from "@moraine/index-core";
import type { CommitMemory } from "../commit-memory.js";
import type { InlineFacts } from "../inline/registry.js";
import type { ChangeSet } from "../model/changes.js";
import type { WriteSet } from "./pending-writes.js";
import type { Tip } from "./tip.js";

/** One logical commit, staged on a tip: everything that landing it needs, and nothing that can still fail except its index entries. */
export interface StagedCommit {
  /** State left behind; its head record carries the commit's own snapshot id. The base's own state if nothing is written. */
  readonly after: Tip;
  readonly changes: ChangeSet;
  readonly indexChanges: readonly IndexChange[];
  /** Records of the commit, without index entries and without `sys/head`. Empty if the commit staged nothing. */
  readonly writes: WriteSet;
  /** What may be taken for true about inline rows as soon as the commit is staged. */
  readonly facts: InlineFacts;
}

/** What an attempt of a member yields: its commits in order (several for an explicit group) and the caller's result. */
export interface StagedAttempt<T> {
  readonly commits: readonly StagedCommit[];
  readonly result: T;
}

/** Runs a member's closures against a tip. Its reads of the store must see what is staged and not durable (`PendingWrites.over`). */
export type AttemptRunner<T> = (base: Tip, memory: CommitMemory) => StagedAttempt<T> | Promise<StagedAttempt<T>>;

/** What running a member once came to. One that failed has no commits. */
export interface Attempt {
  readonly commits: readonly StagedCommit[];
  /** What it changes, or would have changed: whether it may be repeated on a newer state, or has lost a race. */
  readonly changes: readonly ChangeSet[];
  readonly outcome: { readonly result: unknown } | { readonly error: unknown };
}

/** An attempt whose closure had returned, and whose rows could not be prepared: what it meant to change is known. */
export class FailedPreparation extends Error {
  readonly changes: readonly ChangeSet[];

  constructor(changes: readonly ChangeSet[], cause: unknown) {
    super("the rows of a commit could not be prepared", { cause });
    this.changes = changes;
  }

  /** The same failure in a group, after commits of the group that were prepared. */
  after(commits: readonly StagedCommit[]): FailedPreparation {
    return new FailedPreparation([...commits.map(({ changes }) => changes), ...this.changes], this.cause);
  }
}

export function stagedAttempt({ commits, result }: StagedAttempt<unknown>): Attempt {
  return { commits, changes: commits.map(({ changes }) => changes), outcome: { result } };
}

export function failedAttempt(error: unknown): Attempt {
  if (error instanceof FailedPreparation)
    return { commits: [], changes: error.changes, outcome: { error: error.cause } };
  return { commits: [], changes: [], outcome: { error } };
}
