import {
  BatchBuilder,
  collectRows,
  dropMemoryStore,
  packKeys,
  type StoreOptions,
  type StoreSnapshot,
  type WritableStore,
  type WriteBatch,
} from "../../src/index.js";
import { limits } from "../../src/limits.js";
import type { NativeAddon } from "../../src/native/addon.js";
import { NativeLoops } from "../../src/native/native-loops.js";
import { openStoreWith } from "../../src/open-store.js";

const encoder = new TextEncoder();
const count = 400;
const largeValue = "-".repeat((3 * limits.nativeCopyBytes) / count);

function key(i: number): Uint8Array {
  return encoder.encode(`k${String(i).padStart(6, "0")}`);
}

/** What the calls in flight have come to. Errors that are no typed ones are named. */
export interface Tally {
  answered: number;
  closed: number;
  other: string[];
}

/** A store in memory and a way to keep calls of every kind in flight. */
export class BusyStore {
  readonly store: WritableStore;
  readonly tally: Tally = { answered: 0, closed: 0, other: [] };
  readonly #url: string;
  readonly #keys = packKeys(Array.from({ length: count }, (_, i) => key(2 * i)));
  readonly #pending = new Set<Promise<void>>();

  private constructor(store: WritableStore, url: string) {
    this.store = store;
    this.#url = url;
  }

  static async open(addon: NativeAddon, url: string, options: StoreOptions = {}): Promise<BusyStore> {
    const busy = new BusyStore(await openStoreWith(new NativeLoops(addon), url, options), url);
    await busy.store.write(busy.#batch(0));
    await busy.store.checkpointMemory();
    await busy.store.write(busy.#batch(1));
    return busy;
  }

  /** Starts one call of each kind; `salt` makes them differ. */
  start(salt: number): void {
    this.#watch(this.store.getMany(this.#keys));
    this.#watch(this.store.getMany(packKeys([key(salt % count)])));
    this.#watch(this.store.getMany(packKeys([key(salt % count), encoder.encode("absent")])));
    this.#watch(collectRows(this.store.scan({}, { reverse: salt % 2 === 0, blockRows: 60 })));
    this.#watch(collectRows(this.store.scan({}, { limit: 10 })));
    this.#watch(this.store.write(this.#batch(salt)));
    // In several parts, so that one may be open when all ends.
    this.#watch(this.store.write(this.#batch(salt, largeValue)));
    this.#watch(this.#readSnapshot(this.store.snapshot()));
  }

  /** Settles when everything that was started has. */
  async settled(): Promise<Tally> {
    await Promise.all(this.#pending);
    return this.tally;
  }

  async close(): Promise<void> {
    await this.store.close();
    dropMemoryStore(this.#url);
  }

  async #readSnapshot(taking: Promise<StoreSnapshot>): Promise<void> {
    const snapshot = await taking;
    const reading = Promise.all([snapshot.getMany(this.#keys), snapshot.getMany(packKeys([key(0)]))]);
    snapshot.release();
    await reading;
  }

  #batch(salt: number, suffix = ""): WriteBatch {
    const batch = new BatchBuilder();
    for (let i = 0; i < count; i++) batch.put(key(2 * i), encoder.encode(`v${i + salt}${suffix}`));
    return batch.finish();
  }

  #watch(call: Promise<unknown>): void {
    const watched = call.then(
      () => void this.tally.answered++,
      (error: unknown) => {
        if (isClosed(error)) this.tally.closed++;
        else this.tally.other.push(String(error));
      },
    );
    this.#pending.add(watched);
    void watched.then(() => this.#pending.delete(watched));
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "closed";
}
