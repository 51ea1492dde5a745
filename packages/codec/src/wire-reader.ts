import { CorruptionError } from "./errors.js";
import { maxSkippedGroups } from "./limits.js";
import { isUtf8, readUtf8 } from "./utf8.js";
import { highWord, lowWord } from "./words.js";
import { wireTypes } from "./wire-writer.js";

const scratch64 = new BigUint64Array(1);
const scratch32 = new Uint32Array(scratch64.buffer);
const signed64 = new BigInt64Array(scratch64.buffer);
const smallIntegers: readonly bigint[] = Array.from({ length: 0x80 }, (_, i) => BigInt(i));

/** Reads protobuf primitives. Every fault is a `CorruptionError` that names the message. */
export class WireReader {
  #bytes: Uint8Array;
  readonly #messageName: string;
  #at: number;
  #end: number;

  constructor(bytes: Uint8Array, at: number, messageName: string) {
    this.#bytes = bytes;
    this.#messageName = messageName;
    this.#at = at;
    this.#end = bytes.length;
  }

  /** Goes on with another value of the same message, at `at` up to `end` of the bytes. */
  reset(bytes: Uint8Array, at: number, end: number): void {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get atEnd(): boolean {
    return this.#at >= this.#end;
  }

  fault(what: string): CorruptionError {
    return new CorruptionError(`value ${this.#messageName}: ${what}`);
  }

  /** The next field's number and wire type, as one number. */
  tag(): number {
    const first = this.#bytes[this.#at] as number;
    if (first < 0x80) {
      this.#at++;
      if (first < 8) throw this.fault("a field has the number 0");
      return first;
    }
    this.#varint();
    const low = scratch32[lowWord] as number;
    if (scratch32[highWord] !== 0 || low < 8) throw this.fault("a field number is out of range");
    return low;
  }

  u64(): bigint {
    if (this.#at < this.#end) {
      const first = this.#bytes[this.#at] as number;
      if (first < 0x80) {
        this.#at++;
        return smallIntegers[first] as bigint;
      }
    }
    this.#varint();
    return scratch32[highWord] === 0 ? BigInt(scratch32[lowWord] as number) : (scratch64[0] as bigint);
  }

  /** The same as two 32-bit words of this machine. */
  u64Words(out: Uint32Array, at: number): void {
    this.#varint();
    out[at] = scratch32[0] as number;
    out[at + 1] = scratch32[1] as number;
  }

  i64(): bigint {
    this.#varint();
    return signed64[0] as bigint;
  }

  bool(): boolean {
    this.#varint();
    return (scratch32[0] as number) !== 0 || (scratch32[1] as number) !== 0;
  }

  /** A view of the input, not a copy. */
  bytes(): Uint8Array {
    const length = this.#length();
    const view = new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, length);
    this.#at += length;
    return view;
  }

  /** Copies a text that is well-formed to `out`, which has room for it, and gives where the copy ends. `room` is asked for that room. */
  stringBytes(at: number, room: (bytes: number) => Uint8Array): number {
    const length = this.#length();
    const out = room(at + length);
    const start = this.#at;
    let plain = true;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) {
      const byte = bytes[start + i] as number;
      if (byte >= 0x80) plain = false;
      out[at + i] = byte;
    }
    if (!plain && !isUtf8(bytes, start, start + length)) throw this.fault("a text field is not UTF-8");
    this.#at = start + length;
    return at + length;
  }

  string(): string {
    const end = this.#length() + this.#at;
    const text = readUtf8(this.#bytes, this.#at, end);
    if (text === undefined) throw this.fault("a text field is not UTF-8");
    this.#at = end;
    return text;
  }

  /** Narrows the reader to a length-delimited part; `leave` takes what this returned. */
  enter(): number {
    const length = this.#length();
    const outerEnd = this.#end;
    this.#end = this.#at + length;
    return outerEnd;
  }

  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case wireTypes.varint:
        this.#varint();
        return;
      case wireTypes.fixed64:
        return this.#advance(8);
      case wireTypes.lengthDelimited:
        return this.#advance(this.#length());
      case wireTypes.fixed32:
        return this.#advance(4);
      case wireTypes.startGroup:
        return this.#skipGroup(tag, depth);
      default:
        throw this.fault("a field has no valid wire type");
    }
  }

  #skipGroup(startTag: number, depth: number): void {
    if (depth >= maxSkippedGroups) throw this.fault("groups are nested too deeply");
    const endTag = startTag - wireTypes.startGroup + wireTypes.endGroup;
    while (!this.atEnd) {
      const tag = this.tag();
      if (tag === endTag) return;
      this.skip(tag, depth + 1);
    }
    throw this.fault("a group does not end");
  }

  #advance(length: number): void {
    if (length > this.#end - this.#at) throw this.#short();
    this.#at += length;
  }

  #length(): number {
    if (this.#at < this.#end) {
      const first = this.#bytes[this.#at] as number;
      if (first < 0x80) {
        this.#at++;
        if (first > this.#end - this.#at) throw this.#short();
        return first;
      }
    }
    this.#varint();
    const length = scratch32[lowWord] as number;
    if (scratch32[highWord] !== 0 || length > this.#end - this.#at) throw this.#short();
    return length;
  }

  /** Leaves a varint of up to 64 bits in the scratch words. */
  #varint(): void {
    let low = 0;
    let high = 0;
    let at = this.#at;
    for (let shift = 0; ; shift += 7) {
      if (at >= this.#end) throw this.#short();
      const byte = this.#bytes[at++] as number;
      if (shift < 28) {
        low |= (byte & 0x7f) << shift;
      } else if (shift === 28) {
        low |= (byte & 0x0f) << 28;
        high = (byte & 0x7f) >> 4;
      } else if (shift < 63) {
        high |= (byte & 0x7f) << (shift - 32);
      } else {
        // The tenth byte has room for one bit and cannot go on.
        if (byte > 1) throw this.fault("an integer is longer than 64 bits");
        high |= byte << 31;
      }
      if (byte < 0x80) break;
    }
    this.#at = at;
    scratch32[lowWord] = low;
    scratch32[highWord] = high;
  }

  #short(): CorruptionError {
    return this.fault("a field reaches past the end");
  }
}
