import { CorruptionError } from "@moraine/codec";

/**
 * Checked access to the tables of a flatbuffer, as Arrow's messages are made of them. Every offset comes from outside, so
 * every step is bounds-checked; what lies outside of the message is damage and never read.
 */

/** Bytes of one struct in the vectors of an Arrow record batch: two 64-bit numbers. */
export const flatStructBytes = 16;

const maxCount = 0x7fff_ffffn;

/** Where a vector begins and how many elements it has. */
export interface FlatVector {
  readonly position: number;
  readonly count: number;
}

const noElements: FlatVector = { position: 0, count: 0 };

/** The error for bytes that are no Arrow message. */
export function damagedMessage(what: string): CorruptionError {
  return new CorruptionError(`inline Arrow message: ${what}`);
}

/** A signed 64-bit count, length or offset. A negative one, or one above 2^31 - 1, is damage. */
export function readFlatCount(view: DataView, position: number): number {
  const value = view.getBigInt64(position, true);
  if (value < 0n || value > maxCount) throw damagedMessage("length out of range");
  return Number(value);
}

/** One table of a flatbuffer. Fields are named by their number in Arrow's schema files. */
export class FlatTable {
  readonly #view: DataView;
  readonly #position: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;

  private constructor(view: DataView, position: number) {
    this.#view = view;
    this.#position = position;
    if (position + 4 > view.byteLength) throw damagedMessage("table outside of the message");
    this.#vtable = position - view.getInt32(position, true);
    if (this.#vtable < 0 || this.#vtable + 4 > view.byteLength)
      throw damagedMessage("table description outside of the message");
    this.#vtableBytes = view.getUint16(this.#vtable, true);
    if (this.#vtable + this.#vtableBytes > view.byteLength) throw damagedMessage("table description cut short");
  }

  /** The root table of a message. */
  static root(view: DataView): FlatTable {
    if (view.byteLength < 4) throw damagedMessage("message cut short");
    return new FlatTable(view, view.getUint32(0, true));
  }

  #field(index: number, bytes: number): number | undefined {
    const slot = 4 + 2 * index;
    if (slot + 2 > this.#vtableBytes) return undefined;
    const offset = this.#view.getUint16(this.#vtable + slot, true);
    if (offset === 0) return undefined;
    const position = this.#position + offset;
    if (position + bytes > this.#view.byteLength) throw damagedMessage("field outside of the message");
    return position;
  }

  uint8(index: number): number {
    const position = this.#field(index, 1);
    return position === undefined ? 0 : this.#view.getUint8(position);
  }

  int32(index: number): number {
    const position = this.#field(index, 4);
    return position === undefined ? 0 : this.#view.getInt32(position, true);
  }

  /** A 64-bit count or offset, see {@link readFlatCount}. */
  count(index: number): number {
    const position = this.#field(index, 8);
    return position === undefined ? 0 : readFlatCount(this.#view, position);
  }

  has(index: number): boolean {
    return this.#field(index, 1) !== undefined;
  }

  table(index: number): FlatTable | undefined {
    const position = this.#field(index, 4);
    return position === undefined ? undefined : this.#follow(position);
  }

  #follow(position: number): FlatTable {
    return new FlatTable(this.#view, position + this.#view.getUint32(position, true));
  }

  /** A vector whose elements of `elementBytes` lie wholly within the message; a string is a vector of bytes. */
  vector(index: number, elementBytes: number): FlatVector {
    const position = this.#field(index, 4);
    if (position === undefined) return noElements;
    const start = position + this.#view.getUint32(position, true);
    if (start + 4 > this.#view.byteLength) throw damagedMessage("vector outside of the message");
    const count = this.#view.getUint32(start, true);
    if (start + 4 + count * elementBytes > this.#view.byteLength) throw damagedMessage("vector cut short");
    return { position: start + 4, count };
  }

  /** The tables of a vector of tables, checked as they are asked for. */
  *tables(index: number): Generator<FlatTable> {
    const { position, count } = this.vector(index, 4);
    for (let i = 0; i < count; i++) yield this.#follow(position + 4 * i);
  }
}
