import { channel } from "node:diagnostics_channel";

/** One equality lookup, told on `moraine:index.lookup` when it is resolved. */
export interface LookupEvent {
  readonly index: bigint;
  /** Keys asked for, and how many of them were different. A key with NULL counts as asked for only. */
  readonly requested: number;
  readonly distinct: number;
  /** Different keys under which at least one entry was found, and those without. */
  readonly hits: number;
  readonly misses: number;
  /** Row ids found. */
  readonly rows: number;
  /** Most reads of the store in flight together. */
  readonly peakInFlight: number;
  readonly durationMs: number;
}

/** Commits that landed in one durable batch, told on `moraine:commit` before their callers are. */
export interface CommitEvent {
  /** The newest snapshot of the batch. */
  readonly snapshot: bigint;
  readonly commits: number;
  /** Commits that were refused or cancelled while the batch was put together. */
  readonly refused: number;
  /** Records of the batch, index entries included, and their bytes. */
  readonly records: number;
  readonly bytes: number;
  /** Index entries put, deleted, and found as they should be. */
  readonly entriesPut: number;
  readonly entriesDeleted: number;
  readonly entriesUnchanged: number;
  /** Stored keys read for uniqueness; those found, those absent, and keys known to be absent without a read. */
  readonly probes: number;
  readonly probeHits: number;
  readonly probeMisses: number;
  readonly knownAbsent: number;
  /** Reading and planning, and the durable write. */
  readonly planMs: number;
  readonly writeMs: number;
}

/** Without subscribers nothing is measured. */
export const lookupChannel = channel("moraine:index.lookup");
export const commitChannel = channel("moraine:commit");
