import { DbBuilder, SstBlockSize, type Db } from "@slatedb/uniffi";
import { FencedError, OpenRacedError, StoreError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import { FlushGroup } from "./flush-group.js";
import type { HeldFolder } from "./held-folder.js";
import { limits } from "./limits.js";
import { Opened } from "./opened.js";
import { storeErrorFrom } from "./slate-errors.js";
import type { StoreLoops } from "./loops.js";
import { writerSettings } from "./slate-settings.js";
import type { SlateSnapshot } from "./snapshot.js";

export interface EngineOptions {
  readonly blockCache: boolean;
  readonly walMinAgeMs: number;
  readonly flushDelayMs: number;
  readonly walObjectsPerCheckpoint: number;
}

/** One opened `Db` of the binding. A writer normally has one for life, and a second one after a stall. */
export class Engine {
  /** The writer epoch under which this engine writes. */
  readonly epoch: bigint;
  readonly flushes: FlushGroup;
  readonly snapshots = new Set<SlateSnapshot>();
  readonly #opened: Opened<Db>;
  readonly #loops: StoreLoops;
  readonly #folder: HeldFolder | null;
  readonly #walObjectsPerCheckpoint: number;
  /** Write-ahead objects made since memory was last moved to tables. */
  #walObjects = 0;
  #checkpoint: Promise<void> | null = null;

  private constructor(opened: Opened<Db>, epoch: bigint, backend: Backend, loops: StoreLoops, options: EngineOptions) {
    this.#opened = opened;
    this.#loops = loops;
    this.#folder = backend.folder;
    this.epoch = epoch;
    this.flushes = new FlushGroup(() => this.#flush(), options.flushDelayMs);
    this.#walObjectsPerCheckpoint = options.walObjectsPerCheckpoint;
  }

  static async open(backend: Backend, loops: StoreLoops, options: EngineOptions): Promise<Engine> {
    return backend.openWriter(async () => {
      requireFolder(backend.folder);
      const before = (await backend.readManifest())?.writerEpoch ?? 0n;
      const opened = await buildDb(backend, loops, options);
      try {
        const epoch = backend.location.kind === "memory" ? before + 1n : await ownEpoch(backend, opened.db, before);
        requireFolder(backend.folder);
        return new Engine(opened, epoch, backend, loops, options);
      } catch (error) {
        await opened.endQuietly();
        throw error;
      }
    });
  }

  get db(): Db {
    return this.#opened.db;
  }

  /** Waits until everything up to `sequence` is durable, flushing as the policy says. */
  async durable(sequence: bigint): Promise<void> {
    await this.flushes.join();
    // The second half of a pair: a flush that reports success must have moved the engine's own mark.
    if (this.#loops.durableSequence(this.db) < sequence) {
      throw new StoreError("a flush succeeded without making its writes durable", {
        remedy: "Open the store again and report this.",
      });
    }
  }

  /** Moves memory to sorted tables. Calls during one that has begun wait for it and begin another. */
  async checkpoint(): Promise<void> {
    while (this.#checkpoint !== null) await this.#checkpoint;
    this.#walObjects = 0;
    const running = this.#loops.moveToTables(this.db).finally(() => {
      this.#checkpoint = null;
    });
    this.#checkpoint = running;
    await running;
  }

  /** Whether so many write-ahead objects have gathered that memory should be moved to tables now. */
  get checkpointDue(): boolean {
    return this.#checkpoint === null && this.#walObjects >= this.#walObjectsPerCheckpoint;
  }

  /** Makes everything durable, leaves nothing to replay, and shuts the engine down. */
  async finish(): Promise<void> {
    await this.flushes.joinNow();
    await this.checkpoint();
    await this.#opened.end();
  }

  /** Ends the engine, whatever state it is in. */
  async shutdown(reason: Error): Promise<void> {
    for (const snapshot of this.snapshots) snapshot.lose(reason);
    this.snapshots.clear();
    await this.#opened.endQuietly();
  }

  async #flush(): Promise<void> {
    await this.#loops.flush(this.db);
    // Before anybody is told: a folder that was moved or deleted during the flush may hold its writes or not.
    const gone = this.#folder?.glance();
    if (gone !== undefined) throw gone;
    this.#walObjects += 1;
  }
}

/** Fails with `store_gone` where the folder is not the one any more that was opened. */
function requireFolder(folder: HeldFolder | null): void {
  const gone = folder?.look();
  if (gone !== undefined) throw gone;
}

async function buildDb(backend: Backend, loops: StoreLoops, options: EngineOptions): Promise<Opened<Db>> {
  const builder = new DbBuilder(backend.path, backend.objectStore);
  const settings = writerSettings(options.walMinAgeMs);
  try {
    builder.with_settings(settings);
    builder.with_sst_block_size(SstBlockSize.Block4Kib);
    if (!options.blockCache) builder.with_db_cache_disabled();
    return await Opened.open(backend, loops, () => builder.build());
  } catch (error) {
    // Two first openings of a store write the same first manifest, and one of them loses.
    if (error instanceof Error && /version already exists/u.test(error.message)) {
      throw new OpenRacedError("another writer made the store at the same moment", {
        remedy: "Open the store again if this process should be its writer.",
        cause: error,
      });
    }
    throw storeErrorFrom(error, "the store could not be opened");
  } finally {
    settings.dispose();
    builder.dispose();
  }
}

/**
 * The epoch that our opening got. Each opening adds one, so normally it is the next one; otherwise another writer opened at
 * the same time, and either ours is the latest, or the engine finds out at its next look at the manifest that it is not.
 */
async function ownEpoch(backend: Backend, db: Db, before: bigint): Promise<bigint> {
  let epoch = (await backend.readManifest())?.writerEpoch ?? 0n;
  if (epoch === before + 1n) return epoch;
  for (let attempt = 0; attempt < limits.stallRecoveries; attempt++) {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 2 * limits.manifestPollIntervalMs);
    });
    if (db.status().close_reason !== undefined) break;
    const now = (await backend.readManifest())?.writerEpoch ?? 0n;
    if (now === epoch) return epoch;
    epoch = now;
  }
  throw new FencedError("other writers opened this store at the same time");
}
