import { resolve as absolutePath } from "node:path";
import { ClosedError, ConfigurationError, describePath } from "@moraine/codec";
import type { ByteRange, DataObject, DataStore } from "../interface.js";
import { dataLimits } from "./limits.js";
import { type DataLocation, isAbsoluteDataPath, parseDataLocation } from "./location.js";
import { type DataStoreOptions, openDataStore } from "./open-data-store.js";
import { checkDataPath } from "./path.js";

/**
 * Puts a recorded path below the path of what holds it, as DuckLake does: a relative one is appended, another one stands on
 * its own. Apply it from the schema's path over the table's to the file's; the result is what `DataStoreSet.resolve` takes.
 * A path that is neither relative to the lake nor absolute is relative to the working directory, as DuckDB takes it.
 */
export function resolveDataPath(parent: string, path: string, pathIsRelative: boolean): string {
  if (!pathIsRelative) return isAbsoluteDataPath(path) ? path : absolutePath(path);
  return parent === "" || parent.endsWith("/") ? parent + path : `${parent}/${path}`;
}

/** A data store, and the path of an object in it. */
export interface ResolvedPath {
  readonly store: DataStore;
  readonly path: string;
}

interface OpenStore {
  readonly opening: Promise<DataStore>;
  users: number;
}

/** An open store on loan. Give it back exactly once. */
interface Loan {
  readonly store: DataStore;
  giveBack(): Promise<void>;
}

/**
 * The data stores of one lake: its data path, and whatever else absolute file paths lead to. Stores are opened at the first
 * call that needs them. Beside the data path, `dataLimits.openStores` stay open; of more than that, those not in use are
 * closed, and opened again when they are needed.
 */
export class DataStoreSet {
  readonly #root: string | undefined;
  readonly #options: DataStoreOptions;
  readonly #mostOpen: number;
  /** By URL, in order of last use, the oldest first. */
  readonly #stores = new Map<string, OpenStore>();
  #closing: Promise<void> | undefined;

  /** `root` is the lake's data path, or undefined when it has none yet: then only absolute paths can be resolved. */
  constructor(root: string | undefined, options: DataStoreOptions = {}, mostOpen: number = dataLimits.openStores) {
    if (root !== undefined) parseDataLocation(root);
    this.#root = root;
    this.#options = options;
    this.#mostOpen = mostOpen;
  }

  /** Stores that are open now, that of the data path included. */
  get openStores(): number {
    return this.#stores.size;
  }

  /** The store of the lake's data path. Fails with `configuration` when there is none. */
  get root(): DataStore {
    return this.#shared(this.#rootUrl());
  }

  /**
   * Where the object of a path lies: below the data path, or, for an absolute path or URL, wherever it says. The stores
   * returned need not be closed; closing the set does. Fails with `invalid_argument`, `configuration` or `unsupported`.
   */
  resolve(path: string): ResolvedPath {
    if (typeof path !== "string" || !isAbsoluteDataPath(path)) {
      checkDataPath(path);
      return { store: this.#shared(this.#rootUrl()), path };
    }
    const location = parseDataLocation(path);
    const inRoot = this.#root === undefined ? undefined : pathBelow(parseDataLocation(this.#root), location);
    const found = inRoot === undefined ? splitLocation(location) : { url: this.#rootUrl(), path: inRoot };
    checkDataPath(found.path);
    return { store: this.#shared(found.url), path: found.path };
  }

  /** Closes every store. Calls under way finish or fail with `closed`. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll([...this.#stores.values()]);
    return this.#closing;
  }

  #rootUrl(): string {
    if (this.#root !== undefined) return this.#root;
    throw new ConfigurationError("the lake has no data path, so relative file paths lead nowhere", {
      remedy: "Open the catalog with a data path.",
    });
  }

  #shared(url: string): DataStore {
    return new SharedDataStore(url, () => this.#borrow(url));
  }

  async #borrow(url: string): Promise<Loan> {
    if (this.#closing !== undefined)
      throw new ClosedError(`the data stores of ${describePath(this.#root ?? "a lake")}`);
    const entry = this.#take(url);
    entry.users++;
    const giveBack = async (): Promise<void> => {
      entry.users--;
      await this.#closeSurplus();
    };
    try {
      return { store: await entry.opening, giveBack };
    } catch (error) {
      await giveBack();
      throw error;
    }
  }

  #take(url: string): OpenStore {
    const known = this.#stores.get(url);
    if (known !== undefined) {
      this.#stores.delete(url);
      this.#stores.set(url, known);
      return known;
    }
    const entry: OpenStore = { opening: openDataStore(url, this.#options), users: 0 };
    this.#stores.set(url, entry);
    // A store that could not be opened is tried anew by the next call; the failure reaches the caller of this one.
    entry.opening.catch(() => {
      if (this.#stores.get(url) === entry) this.#stores.delete(url);
    });
    return entry;
  }

  async #closeSurplus(): Promise<void> {
    const others = [...this.#stores].filter(([url]) => url !== this.#root);
    const surplus = others.length - this.#mostOpen;
    if (surplus <= 0 || this.#closing !== undefined) return;
    const idle = others.filter(([, { users }]) => users === 0).slice(0, surplus);
    for (const [url] of idle) this.#stores.delete(url);
    await this.#closeAll(idle.map(([, entry]) => entry));
  }

  async #closeAll(entries: readonly OpenStore[]): Promise<void> {
    // One that never opened needs no closing, and its caller was told.
    const openings = await Promise.allSettled(entries.map(({ opening }) => opening));
    const opened = openings.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    await Promise.all(opened.map((store) => store.close()));
  }
}

/** A store of a set. Borrows the open store for each call, so that the set may close it in between. */
class SharedDataStore implements DataStore {
  readonly location: string;
  readonly #borrow: () => Promise<Loan>;

  constructor(location: string, borrow: () => Promise<Loan>) {
    this.location = location;
    this.#borrow = borrow;
  }

  async head(path: string): Promise<DataObject> {
    return await this.#use((store) => store.head(path));
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    return await this.#use((store) => store.readRanges(path, ranges));
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    await this.#use((store) => store.put(path, bytes));
  }

  async delete(path: string): Promise<void> {
    await this.#use((store) => store.delete(path));
  }

  async *list(prefix: string): AsyncGenerator<DataObject, void, undefined> {
    const loan = await this.#borrow();
    try {
      yield* loan.store.list(prefix);
    } finally {
      await loan.giveBack();
    }
  }

  /** Closing is up to the set. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #use<Result>(work: (store: DataStore) => Promise<Result>): Promise<Result> {
    const loan = await this.#borrow();
    try {
      return await work(loan.store);
    } finally {
      await loan.giveBack();
    }
  }
}

/** The path of `location` relative to `root`, when it lies below. */
function pathBelow(root: DataLocation, location: DataLocation): string | undefined {
  const from = splitLocation(root);
  const to = splitLocation(location);
  if (from.url !== to.url) return undefined;
  if (from.path === "") return to.path;
  return to.path.startsWith(`${from.path}/`) ? to.path.slice(from.path.length + 1) : undefined;
}

/** The widest store that holds a location, and the path in it. */
function splitLocation(location: DataLocation): { readonly url: string; readonly path: string } {
  switch (location.kind) {
    case "file":
      return { url: "/", path: location.root.slice(1) };
    case "s3":
      return { url: `s3://${location.bucket}`, path: location.prefix };
    case "memory":
      return { url: `memory://${location.name}`, path: location.prefix };
  }
}
