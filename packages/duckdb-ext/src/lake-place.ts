import {
  Catalog,
  genesisOf,
  type LakeOutline,
  outlineOf,
  ReadOnlyCatalog,
  readStoreLakes,
  type RowChanges,
  type StoreLakes,
  writeStoreLakes,
} from "@moraine/catalog";
import { ConfigurationError, type MoraineError, NotFoundError } from "@moraine/codec";
import { recordedDataPath, StoreLock } from "@moraine/runtime";
import {
  DataStoreSet,
  openStore,
  openStoreReader,
  type ReadableStore,
  type S3Options,
  type StoreOptions,
  type WritableStore,
} from "@moraine/store";
import { attachOptions } from "./attach-options.js";
import { checkSameFolder, inFolder } from "./data-folder.js";
import { fileInPlace } from "./file-in-place.js";
import type { LakeSettings, OpenedCatalog, WritableLake } from "./lake.js";
import { s3OptionsOf } from "./s3-secret.js";

/**
 * Opens the lake in one place in this process: with the settings of the attachment that comes first, whatever others say. Only a
 * secret for another server is refused, where the bucket of the same name is another one.
 */
export class LakePlace {
  readonly #location: string;
  readonly #storeLocation: string;
  readonly #onFailure: (error: MoraineError) => void;
  #opened: OpenedCatalog | undefined;
  #store: ReadableStore | undefined;
  #writer: WritableStore | undefined;
  #first: LakeSettings | undefined;
  /** Was read before somebody came who writes. Whoever reads in it still does not lose it. */
  #reader: ReadOnlyCatalog | undefined;
  #lock: StoreLock | undefined;
  /** For data stores that are opened from now on: the newest secret that came for them. */
  readonly #dataOptions: { s3?: S3Options } = {};

  /**
   * `location` is canonical: an absolute path or a URL. `storeLocation` is that of the whole store, where this is the place of one of
   * its other lakes: data files lie in no part of it. `onFailure` is told when a store that is written to ends by itself.
   */
  constructor(location: string, onFailure: (error: MoraineError) => void, storeLocation: string = location) {
    this.#location = location;
    this.#storeLocation = storeLocation;
    this.#onFailure = onFailure;
  }

  /** Why the store that was opened is of no use any more. */
  get failure(): Error | null {
    return this.#store?.failure ?? null;
  }

  /** Whether the store may be written to. */
  get isWritable(): boolean {
    return this.#writer !== undefined;
  }

  /** The catalog, `undefined` where there is none. Where the store has one lake only, settings that do not fit it are refused. */
  async open(settings: LakeSettings): Promise<OpenedCatalog | undefined> {
    this.#checkServer(settings);
    if (this.#opened === undefined || (this.#opened.access === "read" && !settings.readOnly)) {
      const outline = await this.#outline(settings);
      if (outline === undefined) return undefined;
      // Before another writer is fenced.
      if (this.#isAlone(outline.lakes)) this.#use(settings, outline.dataPath);
      this.#opened = settings.readOnly
        ? { access: "read", catalog: await this.#openReadOnly(settings) }
        : { access: "write", catalog: await this.#openWritable(settings, outline) };
      this.#first ??= settings;
      return this.#opened;
    }
    if (this.#isAlone(await this.lakes())) await this.use(settings);
    return this.#opened;
  }

  /** An attachment has turned out to be of this lake. Refuses settings that do not fit it; takes the secret for its data files. */
  async use(settings: LakeSettings): Promise<void> {
    this.#use(settings, (await this.#opened?.catalog.snapshot())?.dataPath());
  }

  /** The lakes of the store that is open here. */
  async lakes(): Promise<StoreLakes> {
    if (this.#store === undefined) throw new NotFoundError("a store that was not opened");
    return await readStoreLakes(this.#store);
  }

  async recordLakes(lakes: StoreLakes): Promise<void> {
    if (this.#writer === undefined) throw new NotFoundError("a store that was opened for writing");
    await writeStoreLakes(this.#writer, lakes);
  }

  /** Makes the lake. `schema` is recorded with it, where it is the store's own lake. */
  async create(settings: LakeSettings, schema: string, changes: RowChanges): Promise<WritableLake> {
    const { dataPath, encrypted } = genesisOf(changes);
    const options = attachOptions(settings.options);
    this.#checkDataPath(settings, dataPath, options.dataPath);
    if (options.encrypted !== undefined && options.encrypted !== encrypted) {
      throw new ConfigurationError(`META_ENCRYPTED is ${options.encrypted}, and the lake is made with ${encrypted}`, {
        remedy: "Leave META_ENCRYPTED out: ENCRYPTED counts.",
      });
    }
    recordedDataPath(inFolder(settings.cwd, dataPath), this.#storeLocation, { mayContainStore: true });
    this.#takeDataSecret(settings);
    const catalog = await this.#openWritable(settings, { genesis: changes, schema });
    this.#first = settings;
    this.#opened = { access: "write", catalog };
    return catalog;
  }

  /** Makes the lake, an empty one. */
  async make(settings: LakeSettings): Promise<WritableLake> {
    const catalog = await this.#openWritable(settings, { dataPath: undefined });
    this.#first = settings;
    this.#opened = { access: "write", catalog };
    return catalog;
  }

  /** Lets others open the store for writing. To be called when the lake has been closed. */
  async close(): Promise<void> {
    try {
      await this.#reader?.close();
    } finally {
      this.#lock?.release();
      this.#lock = undefined;
    }
  }

  #isAlone({ others }: StoreLakes): boolean {
    return this.#location === this.#storeLocation && others.length === 0;
  }

  #use(settings: LakeSettings, recorded: string | undefined): void {
    const { dataPath } = attachOptions(settings.options);
    if (recorded !== undefined) this.#checkDataPath(settings, recorded, dataPath);
    this.#takeDataSecret(settings);
  }

  #checkServer({ storeSecret }: LakeSettings): void {
    if (this.#first === undefined) return;
    if (s3OptionsOf(storeSecret)?.endpoint === s3OptionsOf(this.#first.storeSecret)?.endpoint) return;
    throw new ConfigurationError(
      `the S3 secret names another endpoint than the one at which ${this.#location} is open`,
      {
        remedy: "Give the secret the same ENDPOINT, or stop the service of that store first.",
      },
    );
  }

  /** A client finds the secret by the recorded data path, which it learns by a first attachment, without one. */
  #takeDataSecret({ dataSecret }: LakeSettings): void {
    Object.assign(this.#dataOptions, s3Part(dataSecret));
  }

  #checkDataPath({ cwd }: LakeSettings, recorded: string, given: string | undefined): void {
    checkSameFolder(recorded, this.#first?.cwd ?? cwd, cwd);
    if (given === undefined) return;
    const [there, here] = [inFolder(cwd, recorded), inFolder(cwd, given)].map((path) => path.replace(/\/+$/u, ""));
    if (there === here) return;
    throw new ConfigurationError(`the lake's data path is ${recorded}, and META_DATA_PATH says ${given}`, {
      remedy: "Leave META_DATA_PATH out: the recorded one counts.",
    });
  }

  /** What the store holds; undefined where there is no lake, or a store in which whoever made it got no further. */
  async #outline({
    readOnly,
    storeSecret,
  }: LakeSettings): Promise<(LakeOutline & { readonly lakes: StoreLakes }) | undefined> {
    const file = fileInPlace(this.#location);
    if (file !== undefined) {
      if (readOnly) return undefined;
      throw new ConfigurationError(`the store ${this.#location} cannot be made: ${file} is a file`, {
        remedy: "Give a folder, or a path where nothing is yet.",
      });
    }
    let store: ReadableStore;
    try {
      store = await openStoreReader(this.#location, s3Part(storeSecret));
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
    try {
      const outline = await outlineOf(store);
      return outline && { ...outline, lakes: await readStoreLakes(store) };
    } finally {
      await store.close();
    }
  }

  async #openReadOnly({ cwd, storeSecret }: LakeSettings): Promise<ReadOnlyCatalog> {
    const store = await openStoreReader(this.#location, s3Part(storeSecret));
    try {
      const openDataFiles = (root: string): DataStoreSet => this.#dataStores(cwd, root);
      this.#reader = await ReadOnlyCatalog.open({ store, openDataFiles });
      this.#store = store;
      return this.#reader;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** For a lake that is there, or for one that is made by a transaction of DuckLake. */
  async #openWritable(settings: LakeSettings, from: LakeOutline | NewLake): Promise<Catalog> {
    const { cwd, storeSecret } = settings;
    const { dataPath, encrypted, flushIntervalMs = 0 } = attachOptions(settings.options);
    // A recorded data path stays as it is; where there is none, the lake adopts the one given.
    const adopted =
      "genesis" in from || from.dataPath !== undefined || dataPath === undefined
        ? undefined
        : recordedDataPath(inFolder(cwd, dataPath), this.#storeLocation, { mayContainStore: true });
    const lock = StoreLock.acquire(this.#location, false, undefined, "service");
    try {
      const store = await openStore(this.#location, {
        ...s3Part(storeSecret),
        onFailure: this.#onFailure,
        ...(flushIntervalMs === 0 ? {} : { flush: { intervalMs: flushIntervalMs } }),
      });
      if ("genesis" in from) await this.#recordOwnSchema(store, from.schema);
      const catalog = await Catalog.open({
        store,
        ...("genesis" in from ? { genesis: from.genesis } : { dataPath: adopted }),
        ...("genesis" in from || encrypted === undefined ? {} : { encrypted }),
        openDataFiles: (recorded) => this.#dataStores(cwd, recorded),
      });
      this.#store = store;
      this.#writer = store;
      this.#lock = lock;
      return catalog;
    } catch (error) {
      lock?.release();
      throw error;
    }
  }

  /** Before the lake is there: whoever finds one knows its schema. */
  async #recordOwnSchema(store: WritableStore, schema: string): Promise<void> {
    try {
      if (this.#location !== this.#storeLocation || (await outlineOf(store)) !== undefined) return;
      const { ownSchema } = await readStoreLakes(store);
      if (ownSchema !== schema) await writeStoreLakes(store, { ownSchema: schema, others: [] });
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  #dataStores(cwd: string, root: string): DataStoreSet {
    return new DataStoreSet(inFolder(cwd, root), this.#dataOptions);
  }
}

/** A lake that a transaction of DuckLake makes. */
interface NewLake {
  readonly genesis: RowChanges;
  readonly schema: string;
}

function s3Part(secret: ReadonlyMap<string, string>): Pick<StoreOptions, "s3"> {
  const s3 = s3OptionsOf(secret);
  return s3 === undefined ? {} : { s3 };
}
