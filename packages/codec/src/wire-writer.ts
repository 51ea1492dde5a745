import { copyBytes } from "./bytes.js";
import { InvalidArgumentError } from "./errors.js";
import { valueScratchBytes } from "./limits.js";
import { maxUtf8BytesPerUnit, writeUtf8 } from "./utf8.js";
import { highWord, lowWord } from "./words.js";

const scratch64 = new BigUint64Array(1);
const scratch32 = new Uint32Array(scratch64.buffer);
const maxU64 = 0xffff_ffff_ffff_ffffn;
const maxVarintBytes = 10;
/** A length below this takes one byte, which is reserved before the length is known. */
const oneByteLengths = 0x80;

/** Protobuf wire types. */
export const wireTypes = { varint: 0, fixed64: 1, lengthDelimited: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** Appends protobuf primitives to one growing buffer, which is used again for the next value. */
export class WireWriter {
  readonly #header: Uint8Array;
  #bytes = new Uint8Array(valueScratchBytes);
  #at: number;

  /** `header` is what every value begins with. */
  constructor(header: Uint8Array) {
    this.#header = header;
    this.#bytes.set(header);
    this.#at = header.length;
  }

  /** Header and what was written since `clear`, as a copy. */
  copy(): Uint8Array {
    return copyBytes(this.#bytes, 0, this.#at);
  }

  /** Drops what was written. A buffer that one large value has grown is given back. */
  clear(): void {
    this.#at = this.#header.length;
    if (this.#bytes.length === valueScratchBytes) return;
    this.#bytes = new Uint8Array(valueScratchBytes);
    this.#bytes.set(this.#header);
  }

  /** A field's number and wire type. */
  tag(fieldNumber: number, wireType: number): void {
    this.#reserve(maxVarintBytes);
    this.#smallVarint((fieldNumber << 3) | wireType);
  }

  bool(value: unknown, field: string): void {
    if (typeof value !== "boolean") throw notA("a boolean", field);
    this.#reserve(1);
    this.#bytes[this.#at++] = value ? 1 : 0;
  }

  u64(value: unknown, field: string): void {
    if (typeof value !== "bigint" || value < 0n || value > maxU64) throw notA("an unsigned 64-bit integer", field);
    this.#bits64(value);
  }

  i64(value: unknown, field: string): void {
    if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value) throw notA("a signed 64-bit integer", field);
    this.#bits64(value);
  }

  /** Length, then the bytes. */
  bytes(value: unknown, field: string): void {
    if (!(value instanceof Uint8Array)) throw notA("a Uint8Array", field);
    this.#reserve(maxVarintBytes + value.length);
    this.#smallVarint(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Length, then UTF-8. */
  string(value: unknown, field: string): void {
    if (typeof value !== "string") throw notA("a string", field);
    this.#reserve(maxVarintBytes + value.length * maxUtf8BytesPerUnit);
    const lengthAt = this.#at;
    this.#at++;
    const end = writeUtf8(this.#bytes, this.#at, value);
    if (end < 0) throw notA("well-formed text (it holds a lone surrogate)", field);
    this.#at = end;
    this.closeLength(lengthAt);
  }

  /** Begins a part whose length is written by `closeLength`. */
  openLength(): number {
    this.#reserve(1);
    return this.#at++;
  }

  /** Writes the length of what follows `openLength`. Longer parts move up to make room for it. */
  closeLength(lengthAt: number): void {
    const length = this.#at - lengthAt - 1;
    if (length >= oneByteLengths) {
      this.#reserve(maxVarintBytes);
      const lengthBytes = varintBytes(length);
      this.#bytes.copyWithin(lengthAt + lengthBytes, lengthAt + 1, this.#at);
      this.#at = lengthAt;
      this.#smallVarint(length);
      this.#at += length;
    } else {
      this.#bytes[lengthAt] = length;
    }
  }

  #bits64(value: bigint): void {
    this.#reserve(maxVarintBytes);
    scratch64[0] = BigInt.asUintN(64, value);
    let low = scratch32[lowWord] as number;
    let high = scratch32[highWord] as number;
    while (high !== 0) {
      this.#bytes[this.#at++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.#smallVarint(low);
  }

  #smallVarint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  #reserve(extra: number): void {
    const needed = this.#at + extra;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) bytes++;
  return bytes;
}

function notA(what: string, field: string): InvalidArgumentError {
  return new InvalidArgumentError(`${field} is not ${what}`, { remedy: `Pass ${what} for this field.` });
}
