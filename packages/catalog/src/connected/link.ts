import type { SnapshotId } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { RecordedCommit } from "./recorded-commit.js";

/** A durable head of a catalog in another process, and the cut of its store there. Reads fail with `closed` when it is gone. */
export interface RemoteCut {
  readonly revision: bigint;
  readonly view: ReadView;
  /** Lets the other side let go of it. Releasing again does nothing. */
  release(): void;
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
  /** Pins the durable head. Gives `held` itself where that is still the head, else a cut for the caller to release. */
  pin(held: RemoteCut | undefined): Promise<RemoteCut>;
  /** Has the commits of others wait, for a while, until a commit that came too late has been made again. */
  claim(): Promise<void>;
  /** Makes a recorded commit durable. Gives the snapshot of each member; `"stale"` where the head was not the commit's base. */
  commit(commit: RecordedCommit, signal: AbortSignal | undefined): Promise<readonly SnapshotId[] | "stale">;
  call(method: RemoteMethod, args: unknown, onProgress?: (value: unknown) => void): Promise<unknown>;
  close(): Promise<void>;
}
