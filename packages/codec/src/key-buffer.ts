import { ConstraintError } from "./errors.js";
import { maxKeyBuilderBytes } from "./limits.js";

const nothing: Uint8Array = new Uint8Array(0);

/** One growing byte buffer. `at` is where the next byte goes; whoever writes has reserved room first. */
export class KeyBuffer {
  readonly #initialBytes: number;
  /** Made at the first reservation: a builder that is finished often stays unused. */
  bytes: Uint8Array = nothing;
  at = 0;

  constructor(initialBytes: number) {
    this.#initialBytes = initialBytes;
  }

  /** Makes room for `extra` bytes from `at` on. */
  reserve(extra: number): void {
    if (this.bytes.length - this.at < extra) this.bytes = grown(this.bytes, this.at, extra, this.#initialBytes);
  }
}

/** A copy of the first `used` bytes with room for `extra` more, at least twice as long, and at least so long. */
function grown(bytes: Uint8Array, used: number, extra: number, leastBytes: number): Uint8Array {
  const needed = used + extra;
  if (needed > maxKeyBuilderBytes) {
    throw new ConstraintError(`index keys of one builder exceed ${maxKeyBuilderBytes} bytes`, {
      remedy: "Build the keys in smaller parts.",
    });
  }
  const larger = new Uint8Array(Math.min(Math.max(needed, bytes.length * 2, leastBytes), maxKeyBuilderBytes));
  larger.set(bytes.subarray(0, used));
  return larger;
}
