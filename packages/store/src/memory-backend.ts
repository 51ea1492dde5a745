import { ObjectStore } from "@slatedb/uniffi";
import { NotFoundError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import { parseLocation, type StoreLocation } from "./location.js";
import type { ManifestHead } from "./manifest.js";

/** One store in memory. It lives as long as the process, or until it is dropped. */
interface MemoryStore {
  readonly objectStore: ObjectStore;
  /** Counted here because nothing but the binding can look into a store in memory, and the binding shows no manifest. */
  writerEpoch: bigint;
  opening: Promise<unknown>;
}

const stores = new Map<string, MemoryStore>();

/** Forgets the store at a `memory://` location; handles that are still open keep their data, later ones find nothing. */
export function dropMemoryStore(url: string): void {
  const location = parseLocation(url);
  if (location.kind === "memory") stores.delete(location.name);
}

export function memoryBackend(location: StoreLocation & { readonly kind: "memory" }): Backend {
  let store = stores.get(location.name);
  if (store === undefined) {
    store = { objectStore: ObjectStore.resolve("memory:///"), writerEpoch: 0n, opening: Promise.resolve() };
    stores.set(location.name, store);
  }
  return new MemoryBackend(location, store);
}

class MemoryBackend implements Backend {
  readonly path = "store";
  readonly folder = null;
  readonly objectStore: ObjectStore;
  readonly #store: MemoryStore;

  constructor(
    readonly location: StoreLocation,
    store: MemoryStore,
  ) {
    this.#store = store;
    this.objectStore = store.objectStore;
  }

  prepareForWriting(): Promise<void> {
    return Promise.resolve();
  }

  async prepareForReading(): Promise<void> {
    if ((await this.readManifest()) === undefined) {
      throw new NotFoundError(`there is no store at ${this.location.url}`, {
        remedy: "Check the location, or open it for writing first.",
      });
    }
  }

  /** One opening at a time, so that the count of openings is the order in which SlateDB saw them. */
  openWriter<T>(open: () => Promise<T>): Promise<T> {
    const opened = this.#store.opening.then(async () => {
      const result = await open();
      this.#store.writerEpoch += 1n;
      return result;
    });
    this.#store.opening = opened.catch(() => undefined);
    return opened;
  }

  readManifest(): Promise<ManifestHead | undefined> {
    const { writerEpoch } = this.#store;
    return Promise.resolve(writerEpoch === 0n ? undefined : { writerEpoch, replayAfterWalId: 0n });
  }

  diagnose(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): void {}
}
