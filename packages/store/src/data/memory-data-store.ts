import type { ByteRange, DataObject, DataStore } from "../interface.js";
import { checkBytes } from "./arguments.js";
import { Lifetime } from "./lifetime.js";
import { endsEarly, missingObject } from "./local-errors.js";
import { checkDataPath, checkDataPrefix, comparePaths } from "./path.js";
import { checkRanges, lastByteOf } from "./plan-reads.js";
import { readPlanned } from "./read-ranges.js";

/** Contents of the memory stores of this process, by name. A name goes when its store is empty and closed. */
const contents = new Map<string, SharedContents>();

interface SharedContents {
  readonly objects: Map<string, Uint8Array>;
  handles: number;
}

/** Forgets the contents of a `memory://` data store. Handles that are still open go on with what they have. */
export function dropMemoryDataStore(name: string): void {
  contents.delete(name);
}

export interface MemoryDataStoreOptions {
  readonly requestsInFlight: number;
  readonly gapBytes: number;
  readonly readBytes: number;
}

/** Data files in this process's memory, for tests. Stores of one name share their contents, which outlive `close`. */
export class MemoryDataStore implements DataStore {
  readonly location: string;
  readonly #name: string;
  /** Ends with `/` unless empty. */
  readonly #prefix: string;
  readonly #shared: SharedContents;
  readonly #options: MemoryDataStoreOptions;
  readonly #lifetime: Lifetime;

  constructor(location: string, name: string, prefix: string, options: MemoryDataStoreOptions) {
    this.location = location;
    this.#name = name;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#options = options;
    this.#lifetime = new Lifetime(location);
    const shared = contents.get(name) ?? { objects: new Map(), handles: 0 };
    contents.set(name, shared);
    shared.handles++;
    this.#shared = shared;
  }

  async head(path: string): Promise<DataObject> {
    checkDataPath(path);
    return await this.#lifetime.run(() => Promise.resolve({ path, sizeBytes: this.#find(path).length }));
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    checkDataPath(path);
    checkRanges(ranges);
    return await this.#lifetime.run(async () => {
      if (lastByteOf(ranges) === 0) return ranges.map(() => new Uint8Array());
      const bytes = this.#find(path);
      const action = { verb: "read", path, location: this.location } as const;
      return await readPlanned(
        ranges,
        { ...this.#options, readsInFlight: this.#options.requestsInFlight },
        (offset, target) => {
          const end = offset + target.length;
          if (end > bytes.length) return Promise.reject(endsEarly(action, end, bytes.length));
          target.set(bytes.subarray(offset, end));
          return Promise.resolve();
        },
      );
    });
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    checkDataPath(path);
    checkBytes(bytes);
    await this.#lifetime.run(() =>
      Promise.resolve(this.#shared.objects.set(this.#prefix + path, Uint8Array.from(bytes))),
    );
  }

  async delete(path: string): Promise<void> {
    checkDataPath(path);
    await this.#lifetime.run(() => Promise.resolve(this.#shared.objects.delete(this.#prefix + path)));
  }

  async *list(prefix: string): AsyncGenerator<DataObject, void, undefined> {
    checkDataPrefix(prefix);
    const start = this.#prefix + prefix;
    const paths = await this.#lifetime.run(() =>
      Promise.resolve([...this.#shared.objects.keys()].filter((path) => path.startsWith(start)).sort(comparePaths)),
    );
    for (const path of paths) {
      const bytes = await this.#lifetime.run(() => Promise.resolve(this.#shared.objects.get(path)));
      if (bytes !== undefined) yield { path: path.slice(this.#prefix.length), sizeBytes: bytes.length };
    }
  }

  async close(): Promise<void> {
    await this.#lifetime.close(() => {
      this.#shared.handles--;
      const isUnused = this.#shared.handles === 0 && this.#shared.objects.size === 0;
      if (isUnused && contents.get(this.#name) === this.#shared) contents.delete(this.#name);
      return Promise.resolve();
    });
  }

  #find(path: string): Uint8Array {
    const bytes = this.#shared.objects.get(this.#prefix + path);
    if (bytes === undefined) throw missingObject({ verb: "read", path, location: this.location });
    return bytes;
  }
}
