import type { Db, DbReader, DbSnapshot, Db as SlateDb } from "@slatedb/uniffi";
import type { KeyRange, PackedKeys, PackedValues, RowBlock, ScanOptions, WriteBatch } from "./interface.js";

/** Anything of the binding that can be read. */
export type SlateReadable = Db | DbSnapshot | DbReader;

/**
 * The loops that touch every key or row. Everything else of the store (opening, flushing, fencing, closing) is written
 * once above them, so an implementation in native code replaces these three functions and nothing more. Errors are
 * thrown as the binding raises them; the caller maps them.
 */
export interface StoreLoops {
  readonly name: string;
  /**
   * Whether the engine may keep idle connections to S3. False where a future is polled on the JavaScript thread and
   * woken through koffi: giving a pooled connection to another request wakes that request's future on the JavaScript
   * thread, while another thread may be waking the same future, holding its lock and waiting for the JavaScript thread.
   * Both then wait for ever (seen with 16 uncached reads at a time).
   */
  readonly pooledConnections: boolean;
  /** `window`: gets at the same time. */
  getMany(from: SlateReadable, keys: PackedKeys, window: number): Promise<PackedValues>;
  scan(from: SlateReadable, range: KeyRange, options: ScanOptions): AsyncIterableIterator<RowBlock>;
  /** Applies a batch without waiting for durability, or with it. The batch is copied before the call returns. Gives its sequence number. */
  write(to: SlateDb, batch: WriteBatch, awaitDurable: boolean): Promise<bigint>;
}
