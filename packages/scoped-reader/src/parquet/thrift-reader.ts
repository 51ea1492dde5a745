import { limits } from "../limits.js";
import { MalformedFile } from "../malformed.js";

/** Wire types of the Thrift compact protocol. */
export const thriftType = {
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the Thrift compact protocol, in which Parquet writes footers, page headers and page indexes. Strict: a field of
 * another type than asked for, a value outside its range, too much nesting and every read past the end are
 * `MalformedFile`. Never allocates more than the input's size.
 */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #depth = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Offset of the next byte. */
  get at(): number {
    return this.#at;
  }

  /** Reads a struct. `onField` consumes the field's value and returns true, or returns false to have it skipped. */
  struct(onField: (id: number, type: number) => boolean): void {
    this.#enter();
    let id = 0;
    for (;;) {
      const byte = this.#byte();
      const type = byte & 0x0f;
      if (byte === 0) break;
      const delta = byte >> 4;
      id = delta === 0 ? this.#zigzag(16) : id + delta;
      if (!onField(id, type)) this.skip(type);
    }
    this.#depth--;
  }

  /** Reads a list. `onElement` consumes one element of the given type. */
  list(type: number, onElement: (elementType: number, index: number) => void): void {
    this.#expect(type, thriftType.list);
    this.#enter();
    const head = this.#byte();
    const elementType = head & 0x0f;
    const count = head >> 4 === 15 ? this.#varint(32) : head >> 4;
    if (count > this.#bytes.length - this.#at) throw new MalformedFile("a list is longer than its metadata");
    for (let i = 0; i < count; i++) onElement(elementType, i);
    this.#depth--;
  }

  boolean(type: number): boolean {
    if (type === thriftType.true) return true;
    this.#expect(type, thriftType.false);
    return false;
  }

  i8(type: number): number {
    this.#expect(type, thriftType.i8);
    return (this.#byte() << 24) >> 24;
  }

  i32(type: number): number {
    this.#expect(type, thriftType.i32);
    return this.#zigzag(32);
  }

  /** A 64-bit integer that must be a safe one: every 64-bit number of Parquet metadata is an offset, a size or a count. */
  i64(type: number): number {
    this.#expect(type, thriftType.i64);
    return this.#zigzag(64);
  }

  /** A 64-bit offset, size or count, which cannot be negative. */
  u63(type: number): number {
    const value = this.i64(type);
    if (value < 0) throw new MalformedFile("an offset, size or count is negative");
    return value;
  }

  text(type: number): string {
    this.#expect(type, thriftType.binary);
    const length = this.#varint(32);
    if (length > this.#bytes.length - this.#at) throw new MalformedFile("a string is longer than its metadata");
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    try {
      return utf8.decode(bytes);
    } catch (error) {
      throw new MalformedFile("a name is not valid UTF-8", { cause: error });
    }
  }

  skip(type: number): void {
    switch (type) {
      case thriftType.true:
      case thriftType.false:
        return;
      case thriftType.i8:
        this.#move(1);
        return;
      case thriftType.i16:
      case thriftType.i32:
      case thriftType.i64:
        this.#skipVarint();
        return;
      case thriftType.double:
        this.#move(8);
        return;
      case thriftType.binary:
        this.#move(this.#varint(32));
        return;
      case thriftType.list:
      case thriftType.set:
        this.list(thriftType.list, (elementType) => this.#skipElement(elementType));
        return;
      case thriftType.struct:
        this.struct(() => false);
        return;
      default:
        throw new MalformedFile(`metadata holds a field of the unknown type ${type}`);
    }
  }

  #skipElement(type: number): void {
    // Booleans take a byte of their own inside lists only.
    if (type === thriftType.true || type === thriftType.false) this.#move(1);
    else this.skip(type);
  }

  #expect(found: number, wanted: number): void {
    if (found !== wanted) throw new MalformedFile("a metadata field has an unexpected type");
  }

  #enter(): void {
    this.#depth++;
    if (this.#depth > limits.thriftDepth) throw new MalformedFile("metadata is nested too deeply");
  }

  #move(count: number): void {
    if (count > this.#bytes.length - this.#at) throw new MalformedFile("metadata ends early");
    this.#at += count;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new MalformedFile("metadata ends early");
    this.#at++;
    return byte;
  }

  #skipVarint(): void {
    for (let i = 0; i < 10; i++) if (this.#byte() < 0x80) return;
    throw new MalformedFile("an integer is too long");
  }

  #varint(bits: 16 | 32 | 64): number {
    const mostBytes = Math.ceil(bits / 7);
    let low = 0;
    let scale = 1;
    for (let i = 0; i < mostBytes; i++) {
      const byte = this.#byte();
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (low > 2 ** 53) throw new MalformedFile("an integer is out of range");
        return low;
      }
      scale *= 128;
    }
    throw new MalformedFile("an integer is too long");
  }

  #zigzag(bits: 16 | 32 | 64): number {
    const value = this.#varint(bits);
    const half = Math.floor(value / 2);
    return value % 2 === 0 ? half : -half - 1;
  }
}
