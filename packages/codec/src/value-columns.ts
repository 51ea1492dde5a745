import { InvalidArgumentError } from "./errors.js";
import type { MessageField, MessageType } from "./message.js";
import { frameEnd } from "./values.js";
import { WireReader } from "./wire-reader.js";
import { wireTypes } from "./wire-writer.js";

/** One field over many values, row by row. What an absent field has is zero bytes. */
export interface FieldColumn {
  /** Bit `i % 8` of byte `i >> 3` is 1 where value `i` has the field. `undefined`: all have it, or it is no optional one. */
  readonly presence: Uint8Array | undefined;
  /** Integers of eight bytes in this machine's order, bits of booleans, or the bytes of texts. */
  readonly values: Uint8Array;
  /** Of texts: where each begins in `values`, and one more. */
  readonly offsets: Uint32Array | undefined;
}

/**
 * Reads values of one message into a column for each of its scalar fields, without an object for any of them: for records of
 * which there are hundreds of thousands. Decodes what `decodeValue` decodes, and fails where it fails.
 */
export class ValueColumns {
  readonly #name: string;
  readonly #reader: WireReader;
  readonly #columns: readonly Writer[];
  readonly #byNumber: (Writer | "repeated" | undefined)[] = [];
  readonly #capacity: number;
  #rows = 0;

  /** `capacity`: most values between two calls of `take`. Errors: `invalid_argument` for a field that is a list of scalars, bytes or a map. */
  constructor(type: MessageType<unknown>, capacity: number) {
    this.#name = type.name;
    this.#reader = new WireReader(new Uint8Array(0), 0, type.name);
    this.#capacity = capacity;
    const columns: Writer[] = [];
    for (const field of type.fields) {
      const writer = writerOf(field, capacity);
      this.#byNumber[field.number] = writer;
      if (writer !== "repeated") columns.push(writer);
    }
    this.#columns = columns;
  }

  get rows(): number {
    return this.#rows;
  }

  get isFull(): boolean {
    return this.#rows === this.#capacity;
  }

  /** Bytes of texts since `take`. */
  get textBytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.textBytes, 0);
  }

  /** Adds the value between two positions. Says whether it has elements in a list of messages: those are left out. */
  append(bytes: Uint8Array, start: number, end: number): boolean {
    const reader = this.#reader;
    const row = this.#rows;
    let hasList = false;
    reader.reset(bytes, frameEnd(this.#name, bytes, start, end), end);
    while (!reader.atEnd) {
      const tag = reader.tag();
      const column = this.#byNumber[tag >>> 3];
      if (column === undefined || column === "repeated") {
        hasList ||= column === "repeated";
        reader.skip(tag);
      } else {
        column.read(reader, tag & 7, row);
      }
    }
    for (const column of this.#columns) column.endRow(row);
    this.#rows = row + 1;
    return hasList;
  }

  /** The columns of what was added, in the order of the fields, and none left here. */
  take(): FieldColumn[] {
    const rows = this.#rows;
    this.#rows = 0;
    return this.#columns.map((column) => column.take(rows));
  }
}

function writerOf(field: MessageField, capacity: number): Writer | "repeated" {
  switch (field.kind) {
    case "u64":
    case "optional u64":
      return new IntegerWriter(field, capacity);
    case "bool":
    case "optional bool":
      return new BooleanWriter(field, capacity);
    case "string":
    case "optional string":
      return new TextWriter(field, capacity);
    case "repeated message":
      return "repeated";
    default:
      throw new InvalidArgumentError(`${field.path} is of kind ${field.kind}, which has no column`, {
        remedy: "Decode the values one by one.",
      });
  }
}

abstract class Writer {
  readonly #field: MessageField;
  readonly #wireType: number;
  /** Bits of rows that have the field; `undefined` for a field that is not optional. */
  #presence: Uint8Array | undefined;
  #present = 0;
  readonly #capacity: number;
  readonly #isOptional: boolean;

  constructor(field: MessageField, wireType: number, capacity: number) {
    this.#field = field;
    this.#wireType = wireType;
    this.#capacity = capacity;
    this.#isOptional = field.kind.startsWith("optional");
    this.#presence = this.#isOptional ? new Uint8Array((capacity + 7) >> 3) : undefined;
  }

  get textBytes(): number {
    return 0;
  }

  read(reader: WireReader, wireType: number, row: number): void {
    if (wireType !== this.#wireType)
      throw reader.fault(`field ${this.#field.number} has wire type ${wireType}, not ${this.#wireType}`);
    if (this.#presence !== undefined) {
      const bit = 1 << (row & 7);
      if ((this.#presence[row >> 3]! & bit) === 0) this.#present += 1;
      this.#presence[row >> 3]! |= bit;
    }
    this.readValue(reader, row);
  }

  take(rows: number): FieldColumn {
    const presence = this.#present === rows ? undefined : this.#presence?.slice(0, (rows + 7) >> 3);
    if (this.#isOptional) this.#presence = new Uint8Array((this.#capacity + 7) >> 3);
    this.#present = 0;
    return { presence, ...this.takeValues(rows) };
  }

  protected abstract readValue(reader: WireReader, row: number): void;
  abstract endRow(row: number): void;
  protected abstract takeValues(rows: number): Omit<FieldColumn, "presence">;
}

class IntegerWriter extends Writer {
  readonly #capacity: number;
  #words: Uint32Array;

  constructor(field: MessageField, capacity: number) {
    super(field, wireTypes.varint, capacity);
    this.#capacity = capacity;
    this.#words = new Uint32Array(2 * capacity);
  }

  protected override readValue(reader: WireReader, row: number): void {
    reader.u64Words(this.#words, 2 * row);
  }

  override endRow(): void {}

  protected override takeValues(rows: number): Omit<FieldColumn, "presence"> {
    const values = new Uint8Array(this.#words.buffer, 0, 8 * rows);
    this.#words = new Uint32Array(2 * this.#capacity);
    return { values, offsets: undefined };
  }
}

class BooleanWriter extends Writer {
  readonly #capacity: number;
  #bits: Uint8Array;

  constructor(field: MessageField, capacity: number) {
    super(field, wireTypes.varint, capacity);
    this.#capacity = capacity;
    this.#bits = new Uint8Array((capacity + 7) >> 3);
  }

  protected override readValue(reader: WireReader, row: number): void {
    const bit = 1 << (row & 7);
    if (reader.bool()) this.#bits[row >> 3]! |= bit;
    else this.#bits[row >> 3]! &= ~bit;
  }

  override endRow(): void {}

  protected override takeValues(rows: number): Omit<FieldColumn, "presence"> {
    const values = this.#bits.subarray(0, (rows + 7) >> 3);
    this.#bits = new Uint8Array((this.#capacity + 7) >> 3);
    return { values, offsets: undefined };
  }
}

const firstTextBytes = 8;

class TextWriter extends Writer {
  readonly #capacity: number;
  #offsets: Uint32Array;
  #bytes: Uint8Array<ArrayBuffer>;
  #end = 0;
  readonly #room = (bytes: number): Uint8Array => {
    if (bytes > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(bytes, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    return this.#bytes;
  };

  constructor(field: MessageField, capacity: number) {
    super(field, wireTypes.lengthDelimited, capacity);
    this.#capacity = capacity;
    this.#offsets = new Uint32Array(capacity + 1);
    this.#bytes = new Uint8Array(firstTextBytes * capacity);
  }

  override get textBytes(): number {
    return this.#end;
  }

  protected override readValue(reader: WireReader, row: number): void {
    // A field that comes twice has its last value.
    this.#end = reader.stringBytes(this.#offsets[row]!, this.#room);
  }

  override endRow(row: number): void {
    this.#offsets[row + 1] = this.#end;
  }

  protected override takeValues(rows: number): Omit<FieldColumn, "presence"> {
    const values = this.#bytes.slice(0, this.#end);
    const offsets = this.#offsets.slice(0, rows + 1);
    this.#offsets = new Uint32Array(this.#capacity + 1);
    this.#end = 0;
    return { values, offsets };
  }
}
