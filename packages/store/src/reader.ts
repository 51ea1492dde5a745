import { DbReaderBuilder, type DbReader } from "@slatedb/uniffi";
import { ClosedError, StoreUnavailableError } from "@moraine/codec";
import { isRemote, type Backend } from "./backend.js";
import { Deadlines } from "./deadlines.js";
import type { KeyRange, PackedKeys, PackedValues, ReadableStore, RowBlock, ScanOptions } from "./interface.js";
import { limits } from "./limits.js";
import type { StoreLoops } from "./loops.js";
import { Opened } from "./opened.js";
import { getChecked, scanChecked, type ReadSource } from "./reads.js";
import { isEngineStopped, storeErrorFrom } from "./slate-errors.js";

export interface FollowerOptions {
  readonly pollIntervalMs: number;
  readonly requestTimeoutMs: number;
}

/**
 * A handle that follows the writer of a store. It fences nobody; it pins what it reads by a checkpoint in the manifest, for
 * which it needs the right to write manifests.
 *
 * A store whose folder is not where it was opened is not read, though the engine could go on in a folder that was moved: what lies at
 * the path counts. Once it is back there, it is the same store again.
 *
 * SlateDB's reader stops for good when its checkpoint has run out before it was renewed: after a suspension, or where the
 * place did not answer for long. A read that finds it so opens another one, and repeats itself where nothing was shown yet.
 */
export class SlateReader implements ReadableStore {
  readonly location: string;
  readonly #backend: Backend;
  readonly #loops: StoreLoops;
  readonly #options: FollowerOptions;
  readonly #deadlines: Deadlines;
  #reader: Opened<DbReader>;
  #source: ReadSource;
  /** The source whose engine was found stopped, until another one is open. */
  #stopped: ReadSource | null = null;
  #reopening: Promise<ReadSource> | null = null;
  #closed: Promise<void> | null = null;

  private constructor(backend: Backend, loops: StoreLoops, options: FollowerOptions, reader: Opened<DbReader>) {
    this.location = backend.location.url;
    this.#backend = backend;
    this.#loops = loops;
    this.#options = options;
    this.#deadlines = new Deadlines(options.requestTimeoutMs, () => {
      return new StoreUnavailableError(`a read took longer than ${options.requestTimeoutMs} ms`, {
        remedy: "Check that the store's place answers, then read again.",
      });
    });
    this.#reader = reader;
    this.#source = this.#sourceOf(reader);
  }

  static async open(backend: Backend, loops: StoreLoops, options: FollowerOptions): Promise<SlateReader> {
    return new SlateReader(backend, loops, options, await openEngine(backend, loops, options));
  }

  get failure(): Error | null {
    return this.#backend.folder?.look() ?? null;
  }

  async getMany(keys: PackedKeys): Promise<PackedValues> {
    // Not waited for where it is there: a read that was called before the handle is closed begins before that.
    const ready = this.#ready();
    const source = ready instanceof Promise ? await ready : ready;
    try {
      return await getChecked(source, keys);
    } catch (error) {
      if (this.#stopped !== source) throw error;
      return getChecked(await this.#ready(), keys);
    }
  }

  scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    return scanChecked(() => this.#ready(), range, options);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #sourceOf({ db }: Opened<DbReader>): ReadSource {
    const source: ReadSource = {
      from: db,
      loops: this.#loops,
      remote: isRemote(this.#backend.location),
      deadlines: this.#deadlines,
      failed: (error, doing) => {
        if (this.#closed !== null) return closedReader();
        const gone = this.#backend.folder?.look();
        if (gone !== undefined) {
          // What the engine read meanwhile is not to be relied on, should the folder come back.
          if (source === this.#source) this.#stopped = source;
          return gone;
        }
        if (!isEngineStopped(error)) return storeErrorFrom(error, doing);
        if (source === this.#source) this.#stopped = source;
        return new StoreUnavailableError("the reader lost its hold on the store", {
          remedy: "Read again: it takes a new one.",
          cause: error,
        });
      },
    };
    return source;
  }

  #ready(): ReadSource | Promise<ReadSource> {
    if (this.#closed !== null) throw closedReader();
    const gone = this.#backend.folder?.glanceAgain();
    if (gone !== undefined) throw gone;
    if (this.#stopped === null) return this.#source;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null;
    });
    return this.#reopening;
  }

  async #reopen(): Promise<ReadSource> {
    const reader = await openEngine(this.#backend, this.#loops, this.#options);
    const old = this.#reader;
    this.#reader = reader;
    this.#source = this.#sourceOf(reader);
    this.#stopped = null;
    await old.endQuietly();
    return this.#source;
  }

  async #close(): Promise<void> {
    this.#deadlines.close();
    // An opening under way ends first, so that nothing of it stays behind.
    if (this.#reopening !== null) await Promise.allSettled([this.#reopening]);
    try {
      // One that has stopped, or whose folder is gone, has nothing to put in order.
      if (this.#stopped !== null || this.failure !== null) await this.#reader.endQuietly();
      else await this.#reader.end();
    } catch (error) {
      throw storeErrorFrom(error, "the reader could not be closed cleanly");
    } finally {
      this.#backend.close();
    }
  }
}

async function openEngine(backend: Backend, loops: StoreLoops, options: FollowerOptions): Promise<Opened<DbReader>> {
  const builder = new DbReaderBuilder(backend.path, backend.objectStore);
  try {
    builder.with_options({
      manifest_poll_interval_ms: options.pollIntervalMs,
      checkpoint_lifetime_ms: Math.max(limits.readerCheckpointLifetimeMs, 2 * options.pollIntervalMs),
      max_memtable_bytes: limits.readerMemtableBytes,
      skip_wal_replay: false,
    });
    return await Opened.open(backend, loops, () => builder.build());
  } catch (error) {
    throw storeErrorFrom(error, "the store could not be opened for reading");
  } finally {
    builder.dispose();
  }
}

function closedReader(): ClosedError {
  return new ClosedError("the reader has been closed");
}
