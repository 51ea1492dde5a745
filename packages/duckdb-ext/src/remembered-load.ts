import { rememberedLoadBytes, rememberedLoadMs } from "./limits.js";

/** A full load that has been rendered. */
export interface RenderedLoad {
  readonly revision: bigint;
  readonly frames: readonly Uint8Array[];
  /** Of all frames. */
  readonly byteLength: number;
}

/**
 * The frames of the newest full load of a lake, for the next client that asks for the same revision, or that can follow from it:
 * processes that attach one after the other need not have everything rendered again. Forgotten when nobody has asked for a while.
 */
export class RememberedLoad {
  readonly #mostBytes: number;
  readonly #mostMs: number;
  #load: RenderedLoad | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(mostBytes: number = rememberedLoadBytes, mostMs: number = rememberedLoadMs) {
    this.#mostBytes = mostBytes;
    this.#mostMs = mostMs;
  }

  /** The newest load. Asking does not make it last longer: see `use`. */
  get newest(): RenderedLoad | undefined {
    return this.#load;
  }

  /** The frames of that revision, if they are remembered. */
  find(revision: bigint): readonly Uint8Array[] | undefined {
    return this.#load?.revision === revision ? this.use(this.#load) : undefined;
  }

  /** The frames of the newest load, which somebody is about to be sent. */
  use({ frames }: RenderedLoad): readonly Uint8Array[] {
    this.#timer?.refresh();
    return frames;
  }

  /** Passes frames on, and remembers them once they have come to their end. */
  async *through(revision: bigint, frames: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
    let kept: Uint8Array[] | undefined = [];
    let byteLength = 0;
    for await (const frame of frames) {
      byteLength += frame.buffer.byteLength;
      if (byteLength > this.#mostBytes) kept = undefined;
      kept?.push(frame);
      yield frame;
    }
    if (kept === undefined || (this.#load?.revision ?? 0n) > revision) return;
    this.forget();
    this.#load = { revision, frames: kept, byteLength };
    this.#timer = setTimeout(() => this.forget(), this.#mostMs).unref();
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#load = undefined;
  }
}
