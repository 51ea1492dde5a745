import { isDeepStrictEqual } from "node:util";
import { CommitConflictError, CorruptionError, InvalidArgumentError, type SnapshotId } from "@moraine/codec";
import type { Catalog } from "../catalog.js";
import type { CommitOptions } from "../commit-options.js";
import type { Transaction } from "../transaction.js";
import { type RecordedCommit, type RecordedMember, verbNames } from "./recorded-commit.js";

/** The head was not the base of a recorded commit: its closures have to run again. */
export class StaleBaseError extends CommitConflictError {
  constructor(base: bigint, head: bigint) {
    super(`the commit was made on revision ${base} of the lake, which is at ${head} by now`);
  }
}

const known: ReadonlySet<string> = new Set([...verbNames, "insertChunks"]);

/**
 * Commits what closures in another process did, on the very state that they ran on. Gives the snapshot of each member.
 *
 * Errors: `StaleBaseError` (`commit_conflict`) on any other state; those of `Catalog.commit`; `corruption` where a verb does not
 * give what it gave there.
 */
export async function commitRecorded(
  catalog: Pick<Catalog, "commit" | "commitGroup">,
  { base, members, author, message, extraInfo }: Omit<RecordedCommit, "baseSnapshot">,
  signal?: AbortSignal,
): Promise<SnapshotId[]> {
  const options: CommitOptions = {
    ...(author === undefined ? {} : { author }),
    ...(message === undefined ? {} : { message }),
    ...(extraInfo === undefined ? {} : { extraInfo }),
    ...(signal === undefined ? {} : { signal }),
  };
  const [first, ...others] = members.map((member) => (transaction: Transaction) => replay(transaction, member));
  if (first === undefined) return [];
  const onBase = (transaction: Transaction): void => {
    const { baseRevision } = transaction;
    if (baseRevision !== base) throw new StaleBaseError(base, baseRevision);
    first(transaction);
  };
  if (others.length === 0) return [(await catalog.commit(onBase, options)).snapshotId];
  const results = await catalog.commitGroup([onBase, ...others], options);
  return results.map(({ snapshotId }) => snapshotId);
}

function replay(transaction: Transaction, { verbs, uuids }: RecordedMember): void {
  transaction.takeUuids(uuids);
  for (const { verb, args, result } of verbs) {
    if (!known.has(verb)) {
      throw new InvalidArgumentError("a commit names a verb that there is none of", {
        remedy: "Use releases of one version in all processes.",
      });
    }
    const run = transaction[verb] as (this: Transaction, args: unknown) => unknown;
    if (isDeepStrictEqual(run.call(transaction, args), result)) continue;
    throw new CorruptionError(`${verb} gave another result here than in the process whose commit it is`, {
      remedy: "Use releases of one version in all processes.",
    });
  }
}
