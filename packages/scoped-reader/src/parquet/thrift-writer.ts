import { thriftType } from "./thrift-reader.js";

const encoder = new TextEncoder();

/** Writes the Thrift compact protocol: as much of it as a footer of one column needs. */
export class ThriftWriter {
  readonly #bytes: number[] = [];
  readonly #lastIds: number[] = [];

  finish(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  /** A struct at the top or as an element of a list; as a field give its id. */
  struct(id: number | null, write: () => void): void {
    if (id !== null) this.#field(id, thriftType.struct);
    this.#lastIds.push(0);
    write();
    this.#lastIds.pop();
    this.#bytes.push(0);
  }

  /** The head of a list of `count` elements, which the caller writes next. */
  list(id: number, elementType: number, count: number): void {
    this.#field(id, thriftType.list);
    this.#bytes.push((count << 4) | elementType);
  }

  i32(id: number, value: number): void {
    this.#field(id, thriftType.i32);
    this.#varint(value * 2);
  }

  i64(id: number, value: number): void {
    this.#field(id, thriftType.i64);
    this.#varint(value * 2);
  }

  text(id: number, value: string): void {
    this.#field(id, thriftType.binary);
    this.textElement(value);
  }

  textElement(value: string): void {
    const bytes = encoder.encode(value);
    this.#varint(bytes.length);
    this.#bytes.push(...bytes);
  }

  #field(id: number, type: number): void {
    const top = this.#lastIds.length - 1;
    const delta = id - (this.#lastIds[top] ?? 0);
    this.#lastIds[top] = id;
    this.#bytes.push((delta << 4) | type);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes.push(rest);
  }
}
