import type { Db, DbReader, DbSnapshot } from "@slatedb/uniffi";
import type { FolderDescriptors } from "./folder-descriptors.js";
import type { KeyRange, PackedKeys, PackedValues, RowBlock, ScanOptions, WriteBatch } from "./interface.js";
import type { NativeSnapshot } from "./native/native-snapshot.js";

/** A pinned cut of a `Db`; of which kind depends on the loops that took it. */
export type SlateSnapshotHandle = DbSnapshot | NativeSnapshot;

/** Anything that the loops can read. */
export type SlateReadable = Db | DbReader | SlateSnapshotHandle;

/**
 * The calls that come with every key, row or commit. Everything else of the store (opening, fencing) is written once
 * above them, over the official binding, so an implementation in native code replaces these functions and nothing more; with
 * them come the long calls of a running store, in which a worker may end. Errors are thrown as the binding raises them; the
 * caller maps them.
 */
export interface StoreLoops {
  readonly name: "native" | "plain";
  /**
   * Whether the engine may keep idle connections to S3. False where a future is polled on the JavaScript thread and
   * woken through koffi: giving a pooled connection to another request wakes that request's future on the JavaScript
   * thread, while another thread may be waking the same future, holding its lock and waiting for the JavaScript thread.
   * Both then wait for ever (seen with 16 uncached reads at a time).
   */
  readonly pooledConnections: boolean;
  /** How folders are held open. */
  readonly folders: FolderDescriptors;
  /**
   * `remote`: whether a get that is not cached takes a round trip. It decides how many run at the same time. The keys are
   * copied before the call returns.
   */
  getMany(from: SlateReadable, keys: PackedKeys, remote: boolean): Promise<PackedValues>;
  scan(from: SlateReadable, range: KeyRange, options: ScanOptions): AsyncIterableIterator<RowBlock>;
  /**
   * Applies a batch without waiting for durability; batches of one `Db` are applied in the order of the calls. The batch must
   * not change until then. Gives its sequence number.
   */
  write(to: Db, batch: WriteBatch): Promise<bigint>;
  /** Settles when everything written before is durable. */
  flush(db: Db): Promise<void>;
  /** Moves what is in memory to sorted tables. */
  moveToTables(db: Db): Promise<void>;
  /** The sequence number up to which everything is durable. */
  durableSequence(db: Db): bigint;
  snapshot(db: Db): Promise<SlateSnapshotHandle>;
  /** Ends the engine. Gets that were called before begin before it. */
  shutdown(db: Db | DbReader): Promise<void>;
}
