import { InterruptedError, InvalidArgumentError } from "@moraine/codec";
import { groupMembers } from "./engine/limits.js";
import { checkArray, checkKnown, checkOptionalString, invalid, type Names } from "./verbs/arguments.js";

export interface CommitOptions {
  readonly author?: string;
  readonly message?: string;
  readonly extraInfo?: string;
  /** Cancels the commit. One that is being written already still lands; the caller is told at once. */
  readonly signal?: AbortSignal;
}

export interface CommitRowsOptions {
  /** The revision that the transaction began on. */
  readonly base: bigint;
  readonly signal?: AbortSignal | undefined;
}

export interface CommitRowsResult {
  /** The revision at which the commit stands. */
  readonly revision: bigint;
}

const commitNames: Names<CommitOptions> = { author: true, message: true, extraInfo: true, signal: true };

export function checkClosure(closure: unknown, argument: string): void {
  if (typeof closure !== "function") throw invalid(argument, "a function that takes the transaction");
}

export function checkClosures(closures: readonly unknown[]): void {
  for (const [at, closure] of checkArray(closures, "closures").entries()) checkClosure(closure, `closures[${at}]`);
  if (closures.length <= groupMembers) return;
  throw new InvalidArgumentError(
    `closures holds ${closures.length} functions, more than the limit of ${groupMembers}`,
    {
      remedy: "Commit them in several groups.",
    },
  );
}

/** For a commit that is begun inside of another one's closure. */
export function commitInClosure(): InvalidArgumentError {
  return new InvalidArgumentError("commit was called inside of a commit's closure", {
    remedy: "Use the transaction that the closure was given, or start the second commit after the first.",
  });
}

export function commitCancelled(signal: AbortSignal): InterruptedError {
  return new InterruptedError("the commit was cancelled", {
    remedy: "Read the head again to see whether it landed.",
    cause: signal.reason,
  });
}

export function checkCommitOptions(options: CommitOptions): void {
  const { author, message, extraInfo, signal } = checkKnown(options, commitNames, "options");
  checkOptionalString(author, "options.author");
  checkOptionalString(message, "options.message");
  checkOptionalString(extraInfo, "options.extraInfo");
  if (signal !== undefined && !((signal as unknown) instanceof AbortSignal))
    throw invalid("options.signal", "an AbortSignal");
}
