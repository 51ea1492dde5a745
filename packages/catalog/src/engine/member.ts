import { MoraineError, StoreError } from "@moraine/codec";
import type { IndexChange } from "@moraine/index-core";
import type { Attempt, AttemptRunner, StagedCommit } from "./attempt.js";
import type { Tip } from "./tip.js";

/** A caller's commit, or group of commits, on its way to the store. */
export interface Member {
  readonly run: AttemptRunner<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Stops listening to the caller's signal. */
  unwatch: () => void;
  attempts: number;
  base: Tip | undefined;
  /** How often commits had been taken back when the latest attempt began. */
  ground: number;
  latest: Attempt | undefined;
  settled: boolean;
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
  return commit.writes.size > 0;
}

export function indexChangesOf(member: Member): readonly IndexChange[] {
  return member.settled ? [] : commitsOf(member).flatMap((commit) => commit.indexChanges);
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
