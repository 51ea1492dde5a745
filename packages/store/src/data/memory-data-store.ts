import type { ByteRange, DataObject, DataStore } from "../interface.js";
import { checkBytes } from "./arguments.js";
import { Lifetime } from "./lifetime.js";
import { endsEarly, missingObject } from "./local-errors.js";
import { checkDataPath, checkDataPrefix, comparePaths } from "./path.js";
import { checkRanges } from "./plan-reads.js";
import { readPlanned } from "./read-ranges.js";

/** Contents of the memory stores of this process, by name. A name goes when its store is empty and closed. */
const contents = new Map<string, { readonly objects: Map<string, Uint8Array>; handles: number }>();

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
  readonly #objects: Map<string, Uint8Array>;
  readonly #options: MemoryDataStoreOptions;
  readonly #lifetime: Lifetime;

  constructor(location: string, name: string, prefix: string, options: MemoryDataStoreOptions) {
    this.location = location;
    this.#name = name;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#options = options;
    this.#lifetime = new Lifetime(location);
    const shared = contents.get(name) ?? { objects: new Map<string, Uint8Array>(), handles: 0 };
    contents.set(name, shared);
    shared.handles++;
    this.#objects = shared.objects;
  }

  async head(path: string): Promise<DataObject> {
    checkDataPath(path);
    return await this.#lifetime.run(() => Promise.resolve({ path, sizeBytes: this.#find(path).length }));
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    checkDataPath(path);
    checkRanges(ranges);
    return await this.#lifetime.run(async () => {
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
    await this.#lifetime.run(() => Promise.resolve(this.#objects.set(this.#prefix + path, Uint8Array.from(bytes))));
  }

  async delete(path: string): Promise<void> {
    checkDataPath(path);
    await this.#lifetime.run(() => Promise.resolve(this.#objects.delete(this.#prefix + path)));
  }

  async *list(prefix: string): AsyncGenerator<DataObject, void, undefined> {
    checkDataPrefix(prefix);
    const start = this.#prefix + prefix;
    const paths = await this.#lifetime.run(() =>
      Promise.resolve([...this.#objects.keys()].filter((path) => path.startsWith(start)).sort(comparePaths)),
    );
    for (const path of paths) {
      const bytes = await this.#lifetime.run(() => Promise.resolve(this.#objects.get(path)));
      if (bytes !== undefined) yield { path: path.slice(this.#prefix.length), sizeBytes: bytes.length };
    }
  }

  async close(): Promise<void> {
    await this.#lifetime.close(() => {
      const shared = contents.get(this.#name);
      if (shared !== undefined) {
        shared.handles--;
        if (shared.handles === 0 && shared.objects.size === 0) contents.delete(this.#name);
      }
      return Promise.resolve();
    });
  }

  #find(path: string): Uint8Array {
    const bytes = this.#objects.get(this.#prefix + path);
    if (bytes === undefined) throw missingObject({ verb: "read", path, location: this.location });
    return bytes;
  }
}
