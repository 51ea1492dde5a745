import { CorruptionError } from "@moraine/codec";

const offsetBytes = 4;
const maxCount = 0x7fff_ffff;
/** Other readers take the size of a description for a signed number, and half of a slot for a whole one. */
const largestTableDescription = 0x7fff;

/** Where the elements of a vector begin, and how many there are. */
export interface FlatVector {
  readonly position: number;
  readonly count: number;
}

/** Checked access to the tables of a flatbuffer. Every offset comes from outside, so every step is bounds-checked. */
export class FlatTable {
  readonly #view: DataView;
  readonly #what: string;
  readonly #position: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;

  private constructor(view: DataView, what: string, position: number) {
    this.#view = view;
    this.#what = what;
    this.#position = position;
    if (position + 4 > view.byteLength) throw this.#damaged("table outside of the message");
    this.#vtable = position - view.getInt32(position, true);
    if (this.#vtable < 0 || this.#vtable + 4 > view.byteLength) {
      throw this.#damaged("table description outside of the message");
    }
    this.#vtableBytes = view.getUint16(this.#vtable, true);
    const isOdd = this.#vtableBytes % 2 !== 0 || this.#vtableBytes > largestTableDescription;
    if (isOdd || this.#vtable + this.#vtableBytes > view.byteLength) {
      throw this.#damaged("table description cut short");
    }
  }

  /** The table that a message begins with. `what` names the bytes in error texts. */
  static root(view: DataView, what: string): FlatTable {
    if (view.byteLength < offsetBytes) throw new CorruptionError(`${what}: message cut short`);
    return new FlatTable(view, what, view.getUint32(0, true));
  }

  has(index: number): boolean {
    return this.#field(index, 1) !== undefined;
  }

  uint8(index: number): number {
    const position = this.#field(index, 1);
    return position === undefined ? 0 : this.#view.getUint8(position);
  }

  /** A 64-bit count or offset of a field; 0 where it is left out. */
  count(index: number): number {
    const position = this.#field(index, 8);
    return position === undefined ? 0 : this.countAt(position);
  }

  /** A 64-bit count or offset. Arrow's are signed; a negative or very large one is damage. */
  countAt(position: number): number {
    const value = this.#view.getBigInt64(position, true);
    if (value < 0n || value > BigInt(maxCount)) throw this.#damaged("length out of range");
    return Number(value);
  }

  table(index: number): FlatTable | undefined {
    const position = this.#field(index, offsetBytes);
    return position === undefined ? undefined : this.#tableAt(position);
  }

  /** The tables of a vector of tables; none where the field is left out. */
  tables(index: number): FlatTable[] {
    const { position, count } = this.vector(index, offsetBytes);
    return Array.from({ length: count }, (_, i) => this.#tableAt(position + i * offsetBytes));
  }

  /** A vector of elements of so many bytes; an empty one where the field is left out. */
  vector(index: number, elementBytes: number): FlatVector {
    const position = this.#field(index, offsetBytes);
    if (position === undefined) return { position: 0, count: 0 };
    const vector = position + this.#view.getUint32(position, true);
    if (vector + 4 > this.#view.byteLength) throw this.#damaged("vector outside of the message");
    const count = this.#view.getUint32(vector, true);
    if (vector + 4 + count * elementBytes > this.#view.byteLength) throw this.#damaged("vector cut short");
    return { position: vector + 4, count };
  }

  #tableAt(position: number): FlatTable {
    return new FlatTable(this.#view, this.#what, position + this.#view.getUint32(position, true));
  }

  #field(index: number, bytes: number): number | undefined {
    const slot = 4 + 2 * index;
    if (slot + 2 > this.#vtableBytes) return undefined;
    const offset = this.#view.getUint16(this.#vtable + slot, true);
    if (offset === 0) return undefined;
    const position = this.#position + offset;
    if (position + bytes > this.#view.byteLength) throw this.#damaged("field outside of the message");
    return position;
  }

  #damaged(how: string): CorruptionError {
    return new CorruptionError(`${this.#what}: ${how}`);
  }
}
