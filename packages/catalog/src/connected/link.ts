import type { SnapshotId } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { News } from "./news.js";
import type { RecordedCommit } from "./recorded-commit.js";

/** A durable head of a catalog in another process, and the cut of its store there. Reads fail with `closed` when it is gone. */
export interface RemoteCut {
  readonly revision: bigint;
  readonly view: ReadView;
  /** What it has that the state which was named in the request has not, where that is little. */
  readonly news: News | undefined;
  /** Lets the other side let go of it. Releasing again does nothing. */
  release(): void;
}

export interface LandedCommit {
  /** The snapshot of each member. */
  readonly snapshots: readonly SnapshotId[];
  /** The head right after the commit, for the caller to release. */
  readonly cut: RemoteCut;
}

/** Calls that the other process answers as a whole: those that need its data files, or more than one commit. */
export type RemoteMethod =
  | "flushInlined"
  | "maintain"
  | "recordMaintenancePass"
  | "reclaimIndexEntries"
  | "scopedFileIndexEntries"
  | "scopedBackfillEntries";

/**
 * What a catalog needs of the process that holds its store. Errors of the other side come as they were there; where it cannot be
 * reached, `store_unavailable`.
 */
export interface CatalogLink {
  /**
   * Pins the durable head. Gives `held` itself where that is still the head, else a cut for the caller to release. `since` is the
   * newest snapshot that the caller knows.
   */
  pin(held: RemoteCut | undefined, since: bigint | undefined): Promise<RemoteCut>;
  /** Has the commits of others wait, for a while, until a commit that came too late has been made again; or no longer. */
  claim(holds: boolean): Promise<void>;
  /** Makes a recorded commit durable; `"stale"` where the head was not the commit's base. */
  commit(commit: RecordedCommit, signal: AbortSignal | undefined): Promise<LandedCommit | "stale">;
  call(method: RemoteMethod, args: unknown, onProgress?: (value: unknown) => void): Promise<unknown>;
  close(): Promise<void>;
}
