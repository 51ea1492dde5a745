import { getU64 } from "./bytes.js";
import { CorruptionError } from "./errors.js";
import { readFramed } from "./key-frame.js";

const idBytes = 8;

/** Reads the parts of one key in order. Every fault is a `CorruptionError`. */
export class KeyReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw this.#short();
    this.#at++;
    return byte;
  }

  id(): bigint {
    if (this.#bytes.length - this.#at < idBytes) throw this.#short();
    const id = getU64(this.#bytes, this.#at);
    this.#at += idBytes;
    return id;
  }

  framed(): Uint8Array {
    const framed = readFramed(this.#bytes, this.#at, 0);
    if (framed === undefined) throw new CorruptionError("key: a byte string is not framed as keys frame them");
    this.#at = framed.next;
    return framed.value;
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new CorruptionError(`key: ${left} bytes after the end of the key`);
  }

  unknown(what: string, byte: number): CorruptionError {
    return new CorruptionError(`key: unknown ${what} 0x${byte.toString(16).padStart(2, "0")}`);
  }

  #short(): CorruptionError {
    return new CorruptionError(`key: ends after ${this.#bytes.length} bytes, more are needed`);
  }
}
