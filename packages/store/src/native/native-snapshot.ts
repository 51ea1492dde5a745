import { ClosedError } from "@moraine/codec";
import type { NativeAddon, NativePin } from "./addon.js";

/** A pinned cut of a `Db` that the native loops took and that only they can read. Forgetting it releases it too, late. */
export class NativeSnapshot {
  readonly #addon: NativeAddon;
  readonly #beforeDispose: (snapshot: NativeSnapshot) => void;
  #pin: NativePin | null;

  /** `beforeDispose` begins the reads that were asked for and have not begun. */
  constructor(addon: NativeAddon, pin: NativePin, beforeDispose: (snapshot: NativeSnapshot) => void) {
    this.#addon = addon;
    this.#pin = pin;
    this.#beforeDispose = beforeDispose;
  }

  get pin(): NativePin {
    if (this.#pin === null) throw new ClosedError("the snapshot has been released");
    return this.#pin;
  }

  /** Reads that are under way go on. Disposing again does nothing. */
  dispose(): void {
    if (this.#pin === null) return;
    this.#beforeDispose(this);
    this.#addon.releaseSnapshot(this.#pin);
    this.#pin = null;
  }
}
