import { ConstraintError, type IndexKeys, type IndexLayout } from "@moraine/codec";
import { maxIndexBytesPerCommit, maxIndexEntriesPerCommit } from "./limits.js";
import { rowIdBytes } from "./row-id-words.js";

/** What one commit does to one index. */
export interface IndexChange {
  readonly layout: IndexLayout;
  /** For messages only. */
  readonly name: string;
  /** Entries of rows that the commit adds. */
  readonly additions: IndexKeys | undefined;
  /** Entries of rows that the commit ends, under the values they had. They are taken out before anything is added. */
  readonly removals: IndexKeys | undefined;
  /**
   * Take an entry out only when it belongs to the row named. For removals that a writer supplied, and for every removal
   * of an index that is still building or poisoned; a removal derived from rows of a ready index needs no read.
   */
  readonly guardRemovals: boolean;
  /** A duplicate marks the index as poisoned and drops the losing entry, in place of refusing the commit. */
  readonly poisonOnDuplicate: boolean;
}

/** Number of entries, and encoded bytes of their keys and values. */
export interface EntrySize {
  readonly entries: number;
  readonly bytes: number;
}

/** Bytes of all keys. */
export function keyBytesOf(keys: IndexKeys): number {
  return keys.count === 0 ? 0 : keys.ends[keys.count - 1]!;
}

/** Where key `i` begins. */
export function keyStartOf(keys: IndexKeys, i: number): number {
  return i === 0 ? 0 : keys.ends[i - 1]!;
}

/** Entries that a commit's changes name, removals included. */
export function countEntries(changes: readonly IndexChange[]): number {
  return changes.reduce((sum, { additions, removals }) => sum + (additions?.count ?? 0) + (removals?.count ?? 0), 0);
}

/** Entries and encoded bytes that a commit's changes name, removals included. */
export function measureChanges(changes: readonly IndexChange[]): EntrySize {
  let bytes = 0;
  for (const { additions, removals } of changes) {
    if (removals !== undefined) bytes += keyBytesOf(removals);
    if (additions !== undefined) {
      bytes += keyBytesOf(additions);
      for (let i = 0; i < additions.count; i++) if (additions.multi[i] === 0) bytes += rowIdBytes;
    }
  }
  return { entries: countEntries(changes), bytes };
}

/**
 * Refuses a commit whose index entries are over the fixed limits. Call it before any other work on the commit
 * (specification, "Commit size is bounded, and why it must be").
 *
 * @throws ConstraintError with the count, the limit and the remedy.
 */
export function checkCommitSize(changes: readonly IndexChange[]): EntrySize {
  const size = measureChanges(changes);
  if (size.entries > maxIndexEntriesPerCommit)
    throw tooLarge(`${size.entries} index entries`, maxIndexEntriesPerCommit);
  if (size.bytes > maxIndexBytesPerCommit)
    throw tooLarge(`${size.bytes} bytes of index entries`, maxIndexBytesPerCommit);
  return size;
}

/**
 * The same for a commit whose entries are counted before they are made.
 *
 * @throws ConstraintError with the count, the limit and the remedy.
 */
export function checkEntryCount(entries: number): void {
  if (entries > maxIndexEntriesPerCommit) throw tooLarge(`${entries} index entries`, maxIndexEntriesPerCommit);
}

function tooLarge(found: string, limit: number): ConstraintError {
  return new ConstraintError(`${found} in one commit; the limit is ${limit}`, {
    remedy: "Split the load into smaller commits; each indexed row counts once per index.",
  });
}
