import { ClosedError } from "@moraine/codec";
import type { NativeAddon } from "./addon.js";

/**
 * A pinned cut of a `Db` that the native loops took and that only they can read. Forgetting one without disposing it
 * releases it too, late.
 */
export class NativeSnapshot {
  readonly #addon: NativeAddon;
  readonly #beforeDispose: (snapshot: NativeSnapshot) => void;
  #handle: bigint | null;

  /** `beforeDispose` begins the reads that were asked for and have not begun. */
  constructor(addon: NativeAddon, handle: bigint, beforeDispose: (snapshot: NativeSnapshot) => void) {
    this.#addon = addon;
    this.#handle = handle;
    this.#beforeDispose = beforeDispose;
    forgotten.register(this, { addon, handle }, this);
  }

  /** For the next call of the addon only: `dispose` frees what it points to. */
  get handle(): bigint {
    if (this.#handle === null) throw new ClosedError("the snapshot has been released");
    return this.#handle;
  }

  /** Reads that are under way go on. Disposing again does nothing. */
  dispose(): void {
    if (this.#handle === null) return;
    this.#beforeDispose(this);
    forgotten.unregister(this);
    this.#addon.releaseSnapshot(this.#handle);
    this.#handle = null;
  }
}

const forgotten = new FinalizationRegistry<{ readonly addon: NativeAddon; readonly handle: bigint }>(
  ({ addon, handle }) => addon.releaseSnapshot(handle),
);
