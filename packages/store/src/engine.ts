import { DbBuilder, SstBlockSize, type Db } from "@slatedb/uniffi";
import { FencedError, OpenRacedError, StoreError, StoreUnavailableError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import { FlushGroup } from "./flush-group.js";
import { limits } from "./limits.js";
import { storeErrorFrom } from "./slate-errors.js";
import type { StoreLoops } from "./loops.js";
import { writerSettings } from "./slate-settings.js";
import type { SlateSnapshot } from "./snapshot.js";
import { within } from "./within.js";

export interface EngineOptions {
  readonly blockCache: boolean;
  readonly walMinAgeMs: number;
  readonly flushDelayMs: number;
  readonly walObjectsPerCheckpoint: number;
}

/** One opened `Db` of the binding. A writer normally has one for life, and a second one after a stall. */
export class Engine {
  readonly db: Db;
  /** The writer epoch under which this engine writes. */
  readonly epoch: bigint;
  readonly flushes: FlushGroup;
  readonly snapshots = new Set<SlateSnapshot>();
  readonly #loops: StoreLoops;
  readonly #walObjectsPerCheckpoint: number;
  /** Write-ahead objects made since memory was last moved to tables. */
  #walObjects = 0;
  #checkpoint: Promise<void> | null = null;

  private constructor(db: Db, loops: StoreLoops, epoch: bigint, options: EngineOptions) {
    this.db = db;
    this.#loops = loops;
    this.epoch = epoch;
    this.flushes = new FlushGroup(() => this.#flush(), options.flushDelayMs);
    this.#walObjectsPerCheckpoint = options.walObjectsPerCheckpoint;
  }

  static async open(backend: Backend, loops: StoreLoops, options: EngineOptions): Promise<Engine> {
    return backend.openWriter(async () => {
      const before = (await backend.readManifest())?.writerEpoch ?? 0n;
      const db = await buildDb(backend, loops, options);
      try {
        const epoch = backend.location.kind === "memory" ? before + 1n : await ownEpoch(backend, db, before);
        return new Engine(db, loops, epoch, options);
      } catch (error) {
        await shutdownQuietly(loops, db);
        throw error;
      }
    });
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
    await this.#loops.shutdown(this.db);
  }

  /** Ends the engine, whatever state it is in. */
  async shutdown(reason: Error): Promise<void> {
    for (const snapshot of this.snapshots) snapshot.lose(reason);
    this.snapshots.clear();
    await shutdownQuietly(this.#loops, this.db);
  }

  async #flush(): Promise<void> {
    await this.#loops.flush(this.db);
    this.#walObjects += 1;
  }
}

async function buildDb(backend: Backend, loops: StoreLoops, options: EngineOptions): Promise<Db> {
  const builder = new DbBuilder(backend.path, backend.objectStore);
  const settings = writerSettings(options.walMinAgeMs);
  try {
    builder.with_settings(settings);
    builder.with_sst_block_size(SstBlockSize.Block4Kib);
    if (!options.blockCache) builder.with_db_cache_disabled();
    const building = builder.build();
    try {
      return await within(building, limits.openTimeoutMs, () => tooSlow(backend));
    } catch (error) {
      // An opening that was given up can still succeed later: it must not stay behind as a second writer.
      building.then(
        (late) => shutdownQuietly(loops, late),
        () => undefined,
      );
      throw error;
    }
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

function tooSlow(backend: Backend): StoreUnavailableError {
  return new StoreUnavailableError(`${backend.location.url} did not open within ${limits.openTimeoutMs} ms`, {
    remedy: "Check that the place answers and that its credentials are those of the environment.",
  });
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

/** Shuts a `Db` down where nothing can be done about a failure: it is fenced or given up, and nothing of it is waited for. */
export async function shutdownQuietly(loops: StoreLoops, db: Db): Promise<void> {
  try {
    await within(loops.shutdown(db), limits.closeTimeoutMs, () => new Error("shutdown took too long"));
  } catch {
    // Already closed, fenced or unreachable: it has no unacknowledged promise to keep.
  }
  db.dispose();
}
