import { checkKnown, checkOptionalString, invalid, type Names } from "./verbs/arguments.js";

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

export function checkCommitOptions(options: CommitOptions): void {
  const { author, message, extraInfo, signal } = checkKnown(options, commitNames, "options");
  checkOptionalString(author, "options.author");
  checkOptionalString(message, "options.message");
  checkOptionalString(extraInfo, "options.extraInfo");
  if (signal !== undefined && !((signal as unknown) instanceof AbortSignal))
    throw invalid("options.signal", "an AbortSignal");
}
