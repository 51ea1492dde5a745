import { CorruptionError } from "@moraine/codec";
import { largestRowId } from "../model/limits.js";
import type { ColumnData } from "./column-data.js";
import type { TableColumn } from "./follow-step.js";

/** Value of one cell of a metadata table. `undefined` is NULL. */
export type Cell = bigint | string | boolean | undefined;

/** The cell type of each column type of the metadata tables. Times are microseconds since the epoch, UUIDs are their text. */
export interface CellTypes {
  readonly BIGINT: bigint | undefined;
  readonly "TIMESTAMP WITH TIME ZONE": bigint | undefined;
  readonly VARCHAR: string | undefined;
  readonly UUID: string | undefined;
  readonly BOOLEAN: boolean | undefined;
}

/** Gives the cell of a row by the row's position in its batch. */
type CellAt<T> = (row: number) => T | undefined;

/**
 * Encodes one column of a metadata table.
 *
 * Errors: `corruption` for an id that DuckDB's BIGINT does not hold, and for a text that is no UUID where one belongs.
 */
export function encodeColumn(column: TableColumn, rows: number, cellAt: CellAt<Cell>): ColumnData {
  // The cells of a column have the type that `CellTypes` gives for it: `Cells` checks every table against that.
  switch (column.type as keyof CellTypes) {
    case "BIGINT":
    case "TIMESTAMP WITH TIME ZONE":
      return encodeIntegers(column, rows, cellAt as CellAt<bigint>);
    case "VARCHAR":
      return encodeTexts(column, rows, cellAt as CellAt<string>);
    case "UUID":
      return encodeUuids(column, rows, cellAt as CellAt<string>);
    case "BOOLEAN":
      return encodeBooleans(column, rows, cellAt as CellAt<boolean>);
  }
}

/** Bits of rows that are not NULL. Costs nothing until there is a NULL. */
class Validity {
  readonly #rows: number;
  #bits: Uint8Array | undefined;

  constructor(rows: number) {
    this.#rows = rows;
  }

  setNull(row: number): void {
    this.#bits ??= allSet(this.#rows);
    this.#bits[row >> 3]! &= ~(1 << (row & 7));
  }

  get bits(): Uint8Array | undefined {
    return this.#bits;
  }
}

/** Bits of `rows` rows, all set, and none beyond them. */
export function allSet(rows: number): Uint8Array {
  const bits = new Uint8Array((rows + 7) >> 3).fill(0xff);
  if ((rows & 7) !== 0) bits[bits.length - 1] = (1 << (rows & 7)) - 1;
  return bits;
}

function encodeIntegers(column: TableColumn, rows: number, cellAt: CellAt<bigint>): ColumnData {
  const values = new BigInt64Array(rows);
  const validity = new Validity(rows);
  for (let row = 0; row < rows; row++) {
    const cell = cellAt(row);
    if (cell === undefined) {
      validity.setNull(row);
    } else {
      if (cell > largestRowId) throw new CorruptionError(`${column.name} is ${cell}, which no BIGINT holds`);
      values[row] = cell;
    }
  }
  return fixedColumn(column.type, rows, validity.bits, new Uint8Array(values.buffer));
}

function encodeBooleans(column: TableColumn, rows: number, cellAt: CellAt<boolean>): ColumnData {
  const values = new Uint8Array((rows + 7) >> 3);
  const validity = new Validity(rows);
  for (let row = 0; row < rows; row++) {
    const cell = cellAt(row);
    if (cell === undefined) validity.setNull(row);
    else if (cell) values[row >> 3]! |= 1 << (row & 7);
  }
  return fixedColumn(column.type, rows, validity.bits, values);
}

const uuidBytes = 16;
const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function encodeUuids(column: TableColumn, rows: number, cellAt: CellAt<string>): ColumnData {
  const values = Buffer.alloc(rows * uuidBytes);
  const validity = new Validity(rows);
  for (let row = 0; row < rows; row++) {
    const cell = cellAt(row);
    if (cell === undefined) {
      validity.setNull(row);
    } else {
      if (!uuidText.test(cell)) throw new CorruptionError(`${column.name} holds a text that is no UUID`);
      values.write(cell.replaceAll("-", ""), row * uuidBytes, "hex");
    }
  }
  return fixedColumn(column.type, rows, validity.bits, new Uint8Array(values.buffer, values.byteOffset, values.length));
}

const utf8 = new TextEncoder();
/** Bytes of UTF-8 that one unit of a string may need. */
const bytesPerUnit = 3;
const firstTextBytes = 16;

function encodeTexts(column: TableColumn, rows: number, cellAt: CellAt<string>): ColumnData {
  const offsets = new Uint32Array(rows + 1);
  const validity = new Validity(rows);
  let bytes = new Uint8Array(rows * firstTextBytes);
  let end = 0;
  for (let row = 0; row < rows; row++) {
    const cell = cellAt(row);
    if (cell === undefined) {
      validity.setNull(row);
    } else {
      const most = end + cell.length * bytesPerUnit;
      if (most > bytes.length) {
        const grown = new Uint8Array(Math.max(most, bytes.length * 2));
        grown.set(bytes.subarray(0, end));
        bytes = grown;
      }
      end = writeText(bytes, end, cell);
    }
    offsets[row + 1] = end;
  }
  const values = bytes.slice(0, end);
  return { type: column.type, rows, validity: validity.bits, values, offsets, children: [] };
}

/** Most texts of a catalog are short and ASCII: for them a call into the encoder costs more than the loop. */
const longestLoopedText = 64;

function writeText(out: Uint8Array, at: number, text: string): number {
  const { length } = text;
  let end = at;
  if (length <= longestLoopedText) {
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return at + utf8.encodeInto(text, out.subarray(at)).written;
      out[end++] = unit;
    }
    return end;
  }
  return at + utf8.encodeInto(text, out.subarray(at)).written;
}

function fixedColumn(type: string, rows: number, validity: Uint8Array | undefined, values: Uint8Array): ColumnData {
  return { type, rows, validity, values, offsets: undefined, children: [] };
}
