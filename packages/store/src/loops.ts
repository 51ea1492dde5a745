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
  getMany(from: SlateReadable, keys: PackedKeys): Promise<PackedValues>;
  scan(from: SlateReadable, range: KeyRange, options: ScanOptions): AsyncIterableIterator<RowBlock>;
  /** Applies a batch without waiting for durability, or with it. The batch is copied before the call returns. Gives its sequence number. */
  write(to: SlateDb, batch: WriteBatch, awaitDurable: boolean): Promise<bigint>;
}
