import { frameScratchBytes, maxFrameBytes } from "../limits.js";
import { ProtocolError } from "./protocol-error.js";

const utf8 = new TextEncoder();
const maxU32 = 0xffff_ffff;
const lengthBytes = 4;

/**
 * Builds one frame: room for its length, and then whatever is written. Room is reserved in a statement of its own, because
 * that may replace the buffer and its view.
 */
export class ByteWriter {
  #bytes = new Uint8Array(frameScratchBytes);
  #view = new DataView(this.#bytes.buffer);
  #at = lengthBytes;

  /** Makes room for about so many bytes that are about to be written, so that it is made once. */
  makeRoom(byteLength: number): void {
    const needed = Math.min(this.#at + byteLength, lengthBytes + maxFrameBytes);
    if (needed > this.#bytes.length) this.#grow(needed);
  }

  u8(value: number): void {
    const at = this.#reserve(1);
    this.#view.setUint8(at, within(value, 0xff));
  }

  u16(value: number): void {
    const at = this.#reserve(2);
    this.#view.setUint16(at, within(value, 0xffff), true);
  }

  u32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setUint32(at, within(value, maxU32), true);
  }

  u64(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) throw new ProtocolError("a number is no unsigned one of 64 bits");
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, value, true);
  }

  i64(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value) throw new ProtocolError("a number is no signed one of 64 bits");
    const at = this.#reserve(8);
    this.#view.setBigInt64(at, value, true);
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  put(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  text(value: string): void {
    if (!value.isWellFormed()) throw new ProtocolError("a text holds a lone surrogate, which UTF-8 has no bytes for");
    const bytes = utf8.encode(value);
    this.u32(bytes.length);
    this.put(bytes);
  }

  /** The frame with its length in front. */
  finish(): Uint8Array {
    this.#view.setUint32(0, this.#at - lengthBytes, true);
    return this.#bytes.subarray(0, this.#at);
  }

  #reserve(byteLength: number): number {
    const at = this.#at;
    const needed = at + byteLength;
    if (needed - lengthBytes > maxFrameBytes) {
      throw new ProtocolError(`the frame is longer than ${maxFrameBytes} bytes`);
    }
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#at = needed;
    return at;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

function within(value: number, most: number): number {
  if (!Number.isInteger(value) || value < 0 || value > most) throw new ProtocolError(`${value} is not 0 to ${most}`);
  return value;
}
