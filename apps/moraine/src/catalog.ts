import {
  Catalog as Engine,
  checkOpenable,
  ConnectedCatalog as ConnectedEngine,
  outlineOf,
  ReadOnlyCatalog as ReadOnlyEngine,
} from "@moraine/catalog";
import { InvalidArgumentError, NotFoundError, type SchemaId } from "@moraine/codec";
import { containsStore, parseLocation, recordedDataPath, StoreLock } from "@moraine/runtime";
import {
  DataStoreSet,
  openStore,
  openStoreReader,
  type ReadableStore,
  type ReadView,
  storeLimits,
  type WritableStore,
} from "@moraine/store";
import { measureStore } from "./census.js";
import type * as contract from "./interface.js";
import {
  checkNames,
  checkOptionalBoolean,
  checkOptionalCount,
  checkOptionalFunction,
  checkOptionalText,
  checkText,
  wrong,
} from "./options.js";
import { checkId, checkIndexTarget, checkRecentRow, checkRecentRows, checkScanInline } from "./read-arguments.js";
import { ReadScope } from "./read-scope.js";
import { readSnapshots } from "./snapshots.js";

/** The schema `main`, which every catalog is made with. */
export const mainSchema = 0n as SchemaId;

/** An engine of this process, or one that is connected to a service's. */
type WritingEngine = Engine | ConnectedEngine;

/** What all kinds of handle share: the reads of the engine, and those that walk the store. */
abstract class Reads implements contract.ReadOnlyCatalog {
  readonly #engine: WritingEngine | ReadOnlyEngine;
  readonly #view: ReadView;
  readonly #location: string;

  constructor(engine: WritingEngine | ReadOnlyEngine, view: ReadView, location: string) {
    this.#engine = engine;
    this.#view = view;
    this.#location = location;
  }

  async snapshot(): Promise<contract.CatalogSnapshot> {
    return await this.#engine.snapshot();
  }

  async snapshotAt(snapshot: Parameters<contract.ReadOnlyCatalog["snapshotAt"]>[0]): Promise<contract.CatalogSnapshot> {
    return await this.#engine.snapshotAt(snapshot);
  }

  async snapshots(args: contract.SnapshotsArguments = {}): Promise<contract.SnapshotRecord[]> {
    checkNames(args, "arguments", ["limit", "before"]);
    checkOptionalCount(args.limit, "limit", 0);
    if (args.before !== undefined) checkId(args.before, "before");
    // Records up to a head that has been acknowledged never change, so that the store may be read beside running commits.
    const head = (await this.#engine.snapshot()).currentSnapshot.id;
    return await readSnapshots(this.#view, head, args);
  }

  async indexLookup(args: contract.IndexLookupArguments): ReturnType<contract.ReadOnlyCatalog["indexLookup"]> {
    return await this.#engine.indexLookup(checkIndexTarget(args));
  }

  async indexLookupMany(args: contract.IndexLookupManyArguments): ReturnType<contract.ReadOnlyCatalog["indexLookup"]> {
    return await this.#engine.indexLookupMany(checkIndexTarget(args));
  }

  async indexRange(args: contract.IndexRangeArguments): ReturnType<contract.ReadOnlyCatalog["indexLookup"]> {
    return await this.#engine.indexRange(checkIndexTarget(args));
  }

  async indexNulls(args: contract.IndexNullsArguments): ReturnType<contract.ReadOnlyCatalog["indexLookup"]> {
    return await this.#engine.indexNulls(checkIndexTarget(args));
  }

  async recentRows(args: contract.RecentRowsArguments): Promise<contract.RecentRow[]> {
    return await this.#engine.recentRows(checkRecentRows(args));
  }

  async recentRow(args: contract.RecentRowArguments): Promise<contract.RecentRow | undefined> {
    return await this.#engine.recentRow(checkRecentRow(args));
  }

  async scanInline(args: contract.ScanInlineArguments): Promise<contract.RecentRow[]> {
    return await this.#engine.scanInline(checkScanInline(args));
  }

  async census(options: contract.CensusOptions = {}): Promise<contract.Census> {
    checkNames(options, "options", ["onProgress"]);
    checkOptionalFunction(options.onProgress, "onProgress");
    const snapshot = await this.#engine.snapshot();
    return await measureStore(this.#view, this.#location, snapshot, options.onProgress);
  }

  async deletedFileRows(args: contract.DeletedFileRowsArguments): Promise<contract.DeletedFileRow[]> {
    return await this.#engine.deletedFileRows(args);
  }

  async scopedFileIndexEntries(args: contract.ScopedFileIndexEntriesArguments): Promise<contract.FileIndexVectors[]> {
    return await this.#engine.scopedFileIndexEntries(args);
  }

  async scopedBackfillEntries(args: contract.BackfillEntriesArguments): Promise<contract.IndexEntry[]> {
    return await this.#engine.scopedBackfillEntries(args);
  }

  async inlineBackfillEntries(args: contract.BackfillEntriesArguments): Promise<contract.IndexEntry[]> {
    return await this.#engine.inlineBackfillEntries(args);
  }

  async maintenanceStatus(): Promise<contract.MaintenancePass[]> {
    return await this.#engine.maintenanceStatus();
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A catalog that is only read: see `ReadOnlyCatalog` in the interface file. Made by `Catalog.openReadOnly`. */
export class ReadOnlyCatalog extends Reads {}

/** A catalog open for reading and writing: see `Catalog` in the interface file. */
export class Catalog extends Reads implements contract.Catalog {
  readonly #engine: WritingEngine;
  readonly #lock: StoreLock | undefined;

  private constructor(engine: WritingEngine, view: ReadView, location: string, lock?: StoreLock) {
    super(opened(engine), view, location);
    this.#engine = engine;
    this.#lock = lock;
  }

  /** Opens a catalog for reading and writing. See `CatalogFactory` in the interface file. */
  static async open(options: contract.OpenOptions): Promise<Catalog> {
    checkOpenOptions(options);
    const { store: location, flush, requestTimeoutMs, blockCache, encrypted } = options;
    const dataPath = options.dataPath === undefined ? undefined : await givenDataPath(options.dataPath, options);
    // Finds out before the store is opened, and another writer fenced, that nothing can be read there.
    if (dataPath !== undefined) await new DataStoreSet(dataPath).close();
    const lock = StoreLock.acquire(location, options.takeOver ?? false);
    let store: WritableStore | undefined;
    try {
      if (mayDisplace(location, lock)) await checkBeforeFencing(location, dataPath, requestTimeoutMs);
      store = await openStore(location, {
        ...(flush === undefined ? {} : { flush }),
        ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
        ...(blockCache === undefined ? {} : { blockCache }),
      });
      const engine = await Engine.open({
        store,
        dataPath,
        openDataFiles: (root) => new DataStoreSet(root),
        ...(encrypted === undefined ? {} : { encrypted }),
      });
      return new Catalog(engine, store, store.location, lock);
    } catch (error) {
      await closeUseless(store);
      lock?.release();
      throw error;
    }
  }

  /** Connects to the service that holds a store. See `CatalogFactory` in the interface file. */
  static async connect(options: contract.ConnectOptions): Promise<Catalog> {
    checkNames(options, "options", connectNames satisfies readonly (keyof contract.ConnectOptions)[]);
    const { store, dataPath: given, encrypted, requestTimeoutMs = storeLimits.requestTimeoutMs } = options;
    checkText(store, "store");
    if (given !== undefined) checkText(given, "dataPath");
    checkOptionalBoolean(encrypted, "encrypted");
    checkOptionalCount(requestTimeoutMs, "requestTimeoutMs", 1);
    const dataPath = given === undefined ? undefined : recordedDataPath(given, store, { mayContainStore: true });
    // Loaded here: who opens a store by itself needs nothing of it.
    const { connectCatalog } = await import("@moraine/extension");
    const { catalog, location } = await connectCatalog({ store, dataPath, encrypted, requestTimeoutMs });
    return new Catalog(catalog, catalog.view, location);
  }

  /** Opens a catalog for reading only. See `CatalogFactory` in the interface file. */
  static async openReadOnly(options: contract.OpenReadOnlyOptions): Promise<ReadOnlyCatalog> {
    checkNames(options, "options", ["store", "pollIntervalMs", "requestTimeoutMs"]);
    const { pollIntervalMs, requestTimeoutMs } = options;
    checkOptionalCount(pollIntervalMs, "pollIntervalMs", 1);
    checkOptionalCount(requestTimeoutMs, "requestTimeoutMs", 1);
    const store = await openStoreReader(checkText(options.store, "store"), {
      ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
      ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    });
    try {
      const engine = await ReadOnlyEngine.open({ store, openDataFiles: (root) => new DataStoreSet(root) });
      return new ReadOnlyCatalog(engine, store, store.location);
    } catch (error) {
      await closeUseless(store);
      throw error;
    }
  }

  async commit<T>(
    closure: contract.CommitClosure<T>,
    options: contract.CommitOptions = {},
  ): Promise<contract.CommitResult<T>> {
    checkCommitOptions(options);
    return await this.#engine.commit(closure, options);
  }

  async commitGroup<T>(
    closures: readonly contract.CommitClosure<T>[],
    options: contract.CommitOptions = {},
  ): Promise<contract.CommitResult<T>[]> {
    checkCommitOptions(options);
    return await this.#engine.commitGroup(closures, options);
  }

  async reads(): Promise<contract.ReadScope> {
    return new ReadScope(await this.#engine.reads());
  }

  async flushInlined(args: contract.FlushInlinedArguments): Promise<contract.FlushInlinedResult> {
    return await this.#engine.flushInlined(args);
  }

  async maintain(options: contract.MaintainOptions = {}): Promise<contract.MaintainReport> {
    checkNames(options, "options", ["sweepIndexes", "sweepFileStatistics", "batchSize", "onProgress"]);
    checkOptionalBoolean(options.sweepIndexes, "sweepIndexes");
    checkOptionalBoolean(options.sweepFileStatistics, "sweepFileStatistics");
    checkOptionalCount(options.batchSize, "batchSize", 1);
    checkOptionalFunction(options.onProgress, "onProgress");
    return await this.#engine.maintain(options);
  }

  async recordMaintenancePass(pass: contract.MaintenancePass): Promise<void> {
    if (typeof (pass as Partial<contract.MaintenancePass> | null)?.startedAtMicros !== "bigint") {
      throw wrong("startedAtMicros", "microseconds since the epoch: a bigint");
    }
    await this.#engine.recordMaintenancePass(pass);
  }

  async reclaimIndexEntries(args: contract.ReclaimIndexEntriesArguments): Promise<number> {
    checkNames(args, "arguments", ["index", "limit"]);
    checkId(args.index, "index");
    if ((args.limit as unknown) === undefined) throw wrong("limit", "a whole number of at least 1");
    checkOptionalCount(args.limit, "limit", 1);
    return await this.#engine.reclaimIndexEntries(args);
  }

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      this.#lock?.release();
    }
  }
}

/** Refuses `new Catalog(...)`, which the types forbid and JavaScript does not. */
function opened(engine: WritingEngine): WritingEngine {
  if (engine instanceof Engine || engine instanceof ConnectedEngine) return engine;
  throw new InvalidArgumentError("a catalog is not made with new", { remedy: "Use Catalog.open({ store })." });
}

/** Whether another handle may be writing: one in memory or on this machine leaves its trace, one elsewhere does not. */
function mayDisplace(location: string, lock: StoreLock | undefined): boolean {
  return lock === undefined || lock.displaces || parseLocation(location).scheme !== "file";
}

/** Opening fences the writer that there may be, so what would refuse the opening is looked for before, by reading. */
async function checkBeforeFencing(
  location: string,
  dataPath: string | undefined,
  requestTimeoutMs: number | undefined,
): Promise<void> {
  await lookInto(location, requestTimeoutMs, (view) => checkOpenable(view, dataPath));
}

/** A data path contains the store only where it is recorded so already: SQL allows it. */
async function givenDataPath(
  given: string,
  { store: location, requestTimeoutMs }: contract.OpenOptions,
): Promise<string> {
  if (!containsStore(given, location)) return recordedDataPath(given, location);
  const recorded = (await lookInto(location, requestTimeoutMs, outlineOf))?.dataPath;
  const mayContainStore = recorded !== undefined && parseLocation(recorded).url === parseLocation(given).url;
  return recordedDataPath(given, location, { mayContainStore });
}

/** Reads in a store that is not opened for writing yet; `undefined` where there is none. */
async function lookInto<T>(
  location: string,
  requestTimeoutMs: number | undefined,
  look: (view: ReadableStore) => Promise<T>,
): Promise<T | undefined> {
  let reader: ReadableStore;
  try {
    reader = await openStoreReader(location, requestTimeoutMs === undefined ? {} : { requestTimeoutMs });
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
  try {
    return await look(reader);
  } finally {
    await reader.close();
  }
}

/** Closes a store that is of no use after an error, which is what the caller has to know; a failure to close is a warning. */
async function closeUseless(store: { close(): Promise<void> } | undefined): Promise<void> {
  try {
    await store?.close();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}

const connectNames = ["store", "dataPath", "encrypted", "requestTimeoutMs"] as const;
const openNames = ["store", "dataPath", "encrypted", "flush", "takeOver", "requestTimeoutMs", "blockCache"] as const;

function checkOpenOptions(options: contract.OpenOptions): void {
  checkNames(options, "options", openNames satisfies readonly (keyof contract.OpenOptions)[]);
  checkText(options.store, "store");
  if (options.dataPath !== undefined) checkText(options.dataPath, "dataPath");
  checkOptionalBoolean(options.encrypted, "encrypted");
  checkOptionalBoolean(options.takeOver, "takeOver");
  checkOptionalBoolean(options.blockCache, "blockCache");
  checkOptionalCount(options.requestTimeoutMs, "requestTimeoutMs", 1);
  const { flush } = options;
  if (flush === undefined || flush === "eager") return;
  if (typeof flush !== "object" || (flush as unknown) === null) throw wrong("flush", '"eager" or { intervalMs }');
  checkNames(flush, "flush", ["intervalMs"]);
  if ((flush as { readonly intervalMs?: unknown }).intervalMs === undefined)
    throw wrong("flush.intervalMs", "a number of milliseconds");
  checkOptionalCount(flush.intervalMs, "flush.intervalMs", 1);
}

function checkCommitOptions(options: contract.CommitOptions): void {
  checkNames(options, "options", ["author", "message", "extraInfo", "signal"]);
  checkOptionalText(options.author, "author");
  checkOptionalText(options.message, "message");
  checkOptionalText(options.extraInfo, "extraInfo");
  if (options.signal !== undefined && !((options.signal as unknown) instanceof AbortSignal)) {
    throw wrong("signal", "an AbortSignal");
  }
}
