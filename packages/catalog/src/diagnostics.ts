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
  /** Stored keys read for uniqueness; those found, and those absent. */
  readonly probes: number;
  readonly probeHits: number;
  readonly probeMisses: number;
  /** Keys known to be absent without a read: by spans without entries, and by a filter in memory. */
  readonly knownAbsent: number;
  readonly knownAbsentByFilter: number;
  /** Reading and planning, and the durable write. */
  readonly planMs: number;
  readonly writeMs: number;
}

/**
 * What became of the memory in which the writer keeps the keys of one unique index, so that new keys need no read. Told on
 * `moraine:index.filter` when a build ends, and when one that was in use is given up. No outcome harms a commit.
 */
export interface FilterEvent {
  readonly index: bigint;
  /**
   * `ready`: built, and used from now on. `failed`: the index could not be scanned. `stopped`: the catalog was closed during
   * the build. `outgrown`: the keys do not fit the memory for filters. `evicted`: made place for another index's. `dropped`:
   * went with its index.
   */
  readonly outcome: "ready" | "failed" | "stopped" | "outgrown" | "evicted" | "dropped";
  /** Keys held, and the memory taken. */
  readonly keys: number;
  readonly bytes: number;
  /** How long the build took; 0 for a filter that was in use. */
  readonly durationMs: number;
  /** Why the build failed. */
  readonly error: unknown;
}

/** Without subscribers nothing is measured. */
export const lookupChannel = channel("moraine:index.lookup");
export const commitChannel = channel("moraine:commit");
export const filterChannel = channel("moraine:index.filter");
