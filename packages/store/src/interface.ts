import type { MoraineError } from "@moraine/codec";
import type { S3Options } from "./data/s3-client.js";

/**
 * The store's whole contract: an ordered key-value store with one writer. Everything is batch first, in packed buffers, so
 * that an implementation can cross into native code once a call. No caller may loop over single gets.
 */

/** Length that stands for "absent" in `PackedValues` and for "delete this key" in `WriteBatch`. */
export const absent = 0xffff_ffff;

/** Keys back to back: key `i` is `data.subarray(ends[i - 1] ?? 0, ends[i])`. */
export interface PackedKeys {
  readonly data: Uint8Array;
  readonly ends: Uint32Array;
}

/** Values of a `getMany`, in the order of its keys: value `i` is `data.subarray(offsets[i], offsets[i] + lengths[i])`; `lengths[i] === absent`: no such key. */
export interface PackedValues {
  readonly data: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/** Rows of a scan, in scan order: key `i` spans `ends[2i - 1] ?? 0` to `ends[2i]`, its value from there to `ends[2i + 1]`. */
export interface RowBlock {
  readonly count: number;
  readonly data: Uint8Array;
  readonly ends: Uint32Array;
}

/**
 * Entries to write as one atomic batch, in order; a later entry for a key wins. Entry `i` has its key from
 * `ends[2i - 1]` to `ends[2i]`, then its value to `ends[2i + 1]`. For a delete `ends[2i + 1] === absent`, and the next key
 * begins at `ends[2i]`. Build one with `BatchBuilder`.
 */
export interface WriteBatch {
  readonly count: number;
  readonly data: Uint8Array;
  readonly ends: Uint32Array;
}

/** Keys from `start` (inclusive) to `end` (exclusive); `undefined` leaves a side open. */
export interface KeyRange {
  readonly start?: Uint8Array | undefined;
  readonly end?: Uint8Array | undefined;
}

export interface ScanOptions {
  /** Descending key order. Default false. */
  readonly reverse?: boolean;
  /** Most rows to return in all. Default: no limit. */
  readonly limit?: number;
  /** Most rows in one block. Default `limits.scanBlockRows`. */
  readonly blockRows?: number;
}

/** A view that can be read: the writer's latest written state, a snapshot, or a reader that follows a writer. */
export interface ReadView {
  /** Values of all keys, read at bounded concurrency. */
  getMany(keys: PackedKeys): Promise<PackedValues>;
  /** Rows of a key range in blocks. Leaving the loop early ends the scan. The event loop is yielded to between blocks. */
  scan(range: KeyRange, options?: ScanOptions): AsyncIterableIterator<RowBlock>;
}

/**
 * A pinned cut of the store. Release it when it is no longer read; reads after that fail with `closed`. A `getMany` that
 * was called before is answered, and a scan that has given rows goes on. Releasing again does nothing.
 */
export interface StoreSnapshot extends ReadView {
  release(): void;
}

/** What a durable write reports. */
export interface WriteReceipt {
  /** The store's own sequence number of the batch. */
  readonly sequence: bigint;
}

/**
 * The one writer of a store. Its own reads see what it has written, durable or not; whoever must not show what a crash
 * could take back pins a snapshot while nothing is in flight.
 */
export interface WritableStore extends ReadView {
  readonly location: string;
  /** Writes one atomic batch and resolves when it is durable under the flush policy. Never resolves for a batch that was lost. */
  write(batch: WriteBatch): Promise<WriteReceipt>;
  snapshot(): Promise<StoreSnapshot>;
  /** Moves what is in memory to sorted tables, so that the next open replays nothing. */
  checkpointMemory(): Promise<void>;
  /** Why the store can no longer be used, or `null`. Once set it stays: open a new handle. Looks at a local store's folder. */
  readonly failure: Error | null;
  /** Flushes and closes. Calls in flight finish or fail with `closed`. Closing twice is harmless. */
  close(): Promise<void>;
}

/**
 * A handle that reads only and never fences; it follows the writer by polling. What it reads is pinned by a checkpoint in the
 * store's manifest, so that garbage collection leaves it alone: a reader, too, needs the right to write manifests.
 */
export interface ReadableStore extends ReadView {
  readonly location: string;
  /** Why the store cannot be read at present, or `null`: a local one whose folder is gone. Passes when it is put back. */
  readonly failure: Error | null;
  close(): Promise<void>;
}

/** Durable when written, at once (`eager`), or with at most one PUT in so many milliseconds. */
export type FlushPolicy = "eager" | { readonly intervalMs: number };

export interface StoreOptions {
  /** Default `eager`. */
  readonly flush?: FlushPolicy;
  /**
   * Whether blocks that were read are kept in memory. Default true. The binding fixes the sizes: at most
   * `limits.blockCacheBytes` of blocks and `limits.metadataCacheBytes` of filters and indexes for each open store.
   */
  readonly blockCache?: boolean;
  /**
   * How long one read may take, or one write until it is durable. A write that takes longer ends the handle, because its
   * outcome is not known. Default `limits.requestTimeoutMs`.
   */
  readonly requestTimeoutMs?: number;
  /** How long opening may take to find out that the place cannot be used. Default `limits.preflightTimeoutMs`. */
  readonly preflightTimeoutMs?: number;
  /**
   * Write-ahead objects (one for each flush) after which memory is moved to tables in the background. More of them make
   * opening after a crash slower, fewer make more tables. Default `limits.walObjectsPerCheckpoint`.
   */
  readonly walObjectsPerCheckpoint?: number;
  /** Youngest write-ahead object that garbage collection may delete. Default one hour; less is refused. */
  readonly walMinAgeMs?: number;
  /** S3: endpoint, region, credentials. Default: the environment and the AWS configuration files. */
  readonly s3?: S3Options;
  /** Called once when the handle ends by itself, with what is `failure` from then on. */
  readonly onFailure?: (error: MoraineError) => void;
  /** Wall clock in milliseconds, for tests of the stall guard. */
  readonly now?: () => number;
}

export interface ReaderOptions {
  /** How often to look for a newer state. Default `limits.readerPollIntervalMs`. */
  readonly pollIntervalMs?: number;
  /** How long one read may take. Default `limits.requestTimeoutMs`. */
  readonly requestTimeoutMs?: number;
  /** How long opening may take to find out that the place cannot be used. Default `limits.preflightTimeoutMs`. */
  readonly preflightTimeoutMs?: number;
  /** S3: endpoint, region, credentials. Default: the environment and the AWS configuration files. */
  readonly s3?: S3Options;
}

/** One object of a data store. */
export interface DataObject {
  /** Path relative to the data store's root, with `/` between parts. */
  readonly path: string;
  readonly sizeBytes: number;
}

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Byte-range access to the data files of a lake: a local folder or a bucket prefix. */
export interface DataStore {
  /** The root as given, for messages. */
  readonly location: string;
  /** Size of an object. Fails with `not_found`. */
  head(path: string): Promise<DataObject>;
  /** Bytes of each range, in the order asked for. Near ranges are fetched together; requests in flight are bounded. */
  readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]>;
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** Deleting what is absent succeeds. */
  delete(path: string): Promise<void>;
  /** Objects whose path starts with `prefix`, in path order. */
  list(prefix: string): AsyncIterableIterator<DataObject>;
  close(): Promise<void>;
}
