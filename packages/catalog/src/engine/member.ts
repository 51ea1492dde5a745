import { MoraineError, StoreError } from "@moraine/codec";
import { countEntries, type IndexChange } from "@moraine/index-core";
import { CommitMemory } from "../commit-memory.js";
import type { Attempt, AttemptRunner, StagedCommit } from "./attempt.js";
import { exclusiveFromAttempt, largeCommitEntries } from "./limits.js";
import type { Tip } from "./tip.js";

/** A caller's commit, or group of commits, on its way to the store. */
export interface Member {
  readonly run: AttemptRunner<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Stops listening to the caller's signal. */
  unwatch: () => void;
  /** What the closure's runs share. */
  readonly memory: CommitMemory;
  /** Whether it holds its turn from its first attempt on. */
  readonly alone: boolean;
  attempts: number;
  base: Tip | undefined;
  /** What has landed since `base` and was compared with the latest attempt: no conflict up to here. */
  checked: Tip | undefined;
  /** How often commits had been taken back when the latest attempt began. */
  ground: number;
  latest: Attempt | undefined;
  settled: boolean;
}

export function newMember(
  run: AttemptRunner<unknown>,
  { resolve, reject, alone }: Pick<Member, "resolve" | "reject" | "alone">,
): Member {
  return {
    run,
    resolve,
    reject,
    unwatch: () => undefined,
    memory: new CommitMemory(),
    alone,
    attempts: 0,
    base: undefined,
    checked: undefined,
    ground: 0,
    latest: undefined,
    settled: false,
  };
}

/** Calls `abort` when the signal fires, for as long as the member is watched. */
export function watchSignal(member: Member, signal: AbortSignal, abort: () => void): void {
  if (signal.aborted) {
    abort();
    return;
  }
  signal.addEventListener("abort", abort, { once: true });
  // One signal may serve many commits, and must not keep those that are done.
  member.unwatch = () => signal.removeEventListener("abort", abort);
}

/** A member that cannot land: because an index refuses it, or without an attempt because its caller has given it up. */
export interface Refusal {
  readonly member: Member;
  readonly attempt: Attempt | undefined;
}

export function commitsOf(member: Member): readonly StagedCommit[] {
  return member.latest?.commits ?? [];
}

export function writesSomething(commit: StagedCommit): boolean {
  return !commit.writes.isEmpty;
}

export function indexChangesOf(member: Member): readonly IndexChange[] {
  return member.settled ? [] : commitsOf(member).flatMap((commit) => commit.indexChanges);
}

/** Whether its latest attempt holds its turn while its closure runs and its rows are prepared. */
export function holdsTurn({ alone, attempts }: Member): boolean {
  return alone || attempts >= exclusiveFromAttempt;
}

export function isLarge(member: Member): boolean {
  return countEntries(indexChangesOf(member)) >= largeCommitEntries;
}

/** Whether an attempt is done after one pass of the event loop, or within a limit where one is given. */
export function settledWithin(attempt: Promise<void>, limitMs: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = (): void => resolve(false);
    const timer = limitMs === undefined ? undefined : setTimeout(giveUp, limitMs);
    const immediate = limitMs === undefined ? setImmediate(giveUp) : undefined;
    void attempt.then(() => {
      clearTimeout(timer);
      clearImmediate(immediate);
      resolve(true);
    });
  });
}

export function asMoraineError(error: unknown): MoraineError {
  if (error instanceof MoraineError) return error;
  return new StoreError("the commit could not be written", {
    remedy: "Open the store again and read its head.",
    cause: error,
  });
}
