import { ProtocolError } from "./protocol-error.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the fields of one message. Whatever does not fit is a `ProtocolError`. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    // A Buffer, which sockets give, would hand its own kind on: one whose slices are no copies.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  bool(): boolean {
    const value = this.u8();
    if (value > 1) throw new ProtocolError(`a flag is ${value}, neither 0 nor 1`);
    return value === 1;
  }

  /** The next bytes. A view of the message, not a copy. */
  take(byteLength: number): Uint8Array {
    const at = this.#advance(byteLength);
    return this.#bytes.subarray(at, at + byteLength);
  }

  text(): string {
    const bytes = this.take(this.u32());
    try {
      return utf8.decode(bytes);
    } catch (cause) {
      throw new ProtocolError(`a text of ${bytes.length} bytes is not UTF-8 (${String(cause)})`);
    }
  }

  /** Refuses bytes that are left over. */
  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new ProtocolError(`${left} bytes are left over behind the message`);
  }

  #advance(byteLength: number): number {
    const at = this.#at;
    const left = this.#bytes.length - at;
    if (byteLength > left) throw new ProtocolError(`a field of ${byteLength} bytes has only ${left} left`);
    this.#at = at + byteLength;
    return at;
  }
}
