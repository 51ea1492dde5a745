import { rememberedLoadBytes, rememberedLoadMs } from "./limits.js";

/**
 * The frames of the newest full load of a lake, for the next client that asks for the same revision: processes that attach one after
 * the other, to a lake that hardly changes, need not have it rendered again. Forgotten when nobody has asked for a while.
 */
export class RememberedLoad {
  readonly #mostBytes: number;
  readonly #mostMs: number;
  #revision: bigint | undefined;
  #frames: readonly Uint8Array[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(mostBytes: number = rememberedLoadBytes, mostMs: number = rememberedLoadMs) {
    this.#mostBytes = mostBytes;
    this.#mostMs = mostMs;
  }

  /** The frames of that revision, if they are remembered. */
  find(revision: bigint): readonly Uint8Array[] | undefined {
    if (this.#revision === undefined) return undefined;
    if (this.#revision !== revision) {
      // Revisions do not come back.
      if (this.#revision < revision) this.forget();
      return undefined;
    }
    this.#timer?.refresh();
    return this.#frames;
  }

  /** Passes frames on, and remembers them once they have come to their end. */
  async *through(revision: bigint, frames: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
    let kept: Uint8Array[] | undefined = [];
    let bytes = 0;
    for await (const frame of frames) {
      bytes += frame.buffer.byteLength;
      if (bytes > this.#mostBytes) kept = undefined;
      kept?.push(frame);
      yield frame;
    }
    if (kept === undefined || (this.#revision ?? 0n) > revision) return;
    this.forget();
    this.#revision = revision;
    this.#frames = kept;
    this.#timer = setTimeout(() => this.forget(), this.#mostMs).unref();
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#revision = undefined;
    this.#frames = [];
  }
}
