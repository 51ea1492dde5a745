import { DbReaderBuilder, type DbReader } from "@slatedb/uniffi";
import { ClosedError, StoreUnavailableError } from "@moraine/codec";
import { getWindowKeys, type Backend } from "./backend.js";
import { Deadlines } from "./deadlines.js";
import type { KeyRange, PackedKeys, PackedValues, ReadableStore, RowBlock, ScanOptions } from "./interface.js";
import { limits } from "./limits.js";
import type { StoreLoops } from "./loops.js";
import { getChecked, scanChecked, type ReadSource } from "./reads.js";
import { storeErrorFrom } from "./slate-errors.js";
import { within } from "./within.js";

export interface FollowerOptions {
  readonly pollIntervalMs: number;
  readonly requestTimeoutMs: number;
}

/** A handle that follows the writer of a store. It fences nobody; it pins what it reads by a checkpoint in the manifest. */
export class SlateReader implements ReadableStore {
  readonly location: string;
  readonly #backend: Backend;
  readonly #reader: DbReader;
  readonly #source: ReadSource;
  #closed: Promise<void> | null = null;

  private constructor(backend: Backend, loops: StoreLoops, options: FollowerOptions, reader: DbReader) {
    this.location = backend.location.url;
    this.#backend = backend;
    this.#reader = reader;
    const deadlines = new Deadlines(options.requestTimeoutMs, () => {
      return new StoreUnavailableError(`a read took longer than ${options.requestTimeoutMs} ms`, {
        remedy: "Check that the store's place answers, then read again.",
      });
    });
    this.#source = {
      from: reader,
      loops,
      windowKeys: getWindowKeys(backend.location),
      deadlines,
      failed: (error, doing) => (this.#closed !== null ? closedReader() : storeErrorFrom(error, doing)),
    };
  }

  static async open(backend: Backend, loops: StoreLoops, options: FollowerOptions): Promise<SlateReader> {
    const builder = new DbReaderBuilder(backend.path, backend.objectStore);
    try {
      builder.with_options({
        manifest_poll_interval_ms: options.pollIntervalMs,
        checkpoint_lifetime_ms: Math.max(limits.readerCheckpointLifetimeMs, 2 * options.pollIntervalMs),
        max_memtable_bytes: limits.readerMemtableBytes,
        skip_wal_replay: false,
      });
      const building = builder.build();
      const reader = await within(building, limits.openTimeoutMs, () => {
        building.then(
          (late) => void late.shutdown().catch(() => undefined),
          () => undefined,
        );
        return new StoreUnavailableError(`${backend.location.url} did not open within ${limits.openTimeoutMs} ms`, {
          remedy: "Check that the place answers and that its credentials are those of the environment.",
        });
      });
      return new SlateReader(backend, loops, options, reader);
    } catch (error) {
      throw storeErrorFrom(error, "the store could not be opened for reading");
    } finally {
      builder.dispose();
    }
  }

  getMany(keys: PackedKeys): Promise<PackedValues> {
    if (this.#closed !== null) return Promise.reject(closedReader());
    return getChecked(this.#source, keys);
  }

  scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    return scanChecked(() => this.#open(), range, options);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #open(): ReadSource {
    if (this.#closed !== null) throw closedReader();
    return this.#source;
  }

  async #close(): Promise<void> {
    this.#source.deadlines.close();
    try {
      await within(this.#reader.shutdown(), limits.closeTimeoutMs, () => new Error("closing took too long"));
    } catch (error) {
      throw storeErrorFrom(error, "the reader could not be closed cleanly");
    } finally {
      this.#reader.dispose();
      this.#backend.close();
    }
  }
}

function closedReader(): ClosedError {
  return new ClosedError("the reader has been closed");
}
