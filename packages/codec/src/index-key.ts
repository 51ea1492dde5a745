import { checkU64 } from "./bytes.js";
import { type ColumnSource, columnSource, wrongShape } from "./column-source.js";
import type { ColumnVector } from "./column-vector.js";
import { putComponent } from "./component.js";
import { InvalidArgumentError } from "./errors.js";
import type { IndexLayout, IndexValue } from "./index-value.js";
import { KeyBuffer } from "./key-buffer.js";
import { fixedKeyBytes, putRow } from "./key-row.js";
import { idBytes, indexPrefix, indexShapeTags } from "./keys.js";
import { defaultKeyBuilderBytes } from "./limits.js";
import { encodeRowId } from "./row-id.js";

/**
 * Entries of one index, built by `IndexKeyBuilder`. Entry `i` has the complete physical key
 * `data.subarray(ends[i - 1] ?? 0, ends[i])`. Where `multi[i]` is 0 the entry stands for one row per value and its stored
 * value is `rowIds[i]` as eight big-endian bytes; where it is 1 the key ends with the row id and the value is empty.
 */
export interface IndexKeys {
  readonly layout: IndexLayout;
  readonly count: number;
  readonly data: Uint8Array;
  readonly ends: Uint32Array;
  readonly rowIds: BigUint64Array;
  readonly multi: Uint8Array;
}

/** So few that the arrays of a small commit lie within the JavaScript heap, where they cost a tenth. */
const initialEntries = 8;

const noEnds: Uint32Array = new Uint32Array(0);
const noRowIds: BigUint64Array = new BigUint64Array(0);
const noMulti: Uint8Array = new Uint8Array(0);

/**
 * Builds the keys of many entries of one index straight into one buffer, without an object an entry.
 *
 * A call that throws leaves the builder as it was before the call.
 */
export class IndexKeyBuilder {
  readonly #layout: IndexLayout;
  readonly #prefix: Uint8Array;
  readonly #initialCapacityBytes: number;
  #buffer: KeyBuffer;
  #count = 0;
  #ends: Uint32Array = noEnds;
  #rowIds: BigUint64Array = noRowIds;
  #multi: Uint8Array = noMulti;

  constructor(layout: IndexLayout, initialCapacityBytes: number = defaultKeyBuilderBytes) {
    this.#layout = layout;
    this.#prefix = indexPrefix(layout.unique ? "unique" : "multi", layout.indexId);
    this.#initialCapacityBytes = initialCapacityBytes;
    this.#buffer = new KeyBuffer(initialCapacityBytes);
  }

  /** Number of entries. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of all keys. */
  get bytes(): number {
    return this.#buffer.at;
  }

  /**
   * Adds one entry.
   *
   * Errors: `constraint` when the canonical value bytes exceed 1024, an integer does not fit its column, or the number of
   * values is not the number of columns; `invalid_argument` for a value of another type or malformed text.
   */
  append(values: readonly IndexValue[], rowId: bigint): void {
    const { columns } = this.#layout;
    if (values.length !== columns.length) throw wrongCount(columns.length, values.length);
    checkU64(rowId, "rowId");
    const buffer = this.#buffer;
    const start = buffer.at;
    try {
      buffer.reserve(this.#prefix.length);
      buffer.bytes.set(this.#prefix, start);
      buffer.at += this.#prefix.length;
      let total = 0;
      let multi = !this.#layout.unique;
      for (let i = 0; i < columns.length; i++) {
        const value = values[i];
        const column = columns[i];
        if (value === undefined || column === undefined) throw wrongCount(columns.length, i);
        if (value === null) multi = true;
        total = putComponent(buffer, column, value, total);
      }
      buffer.reserve(1 + idBytes);
      buffer.bytes[buffer.at++] = 0;
      if (multi) {
        buffer.bytes[start + 1] = indexShapeTags.multi;
        buffer.bytes.set(encodeRowId(rowId), buffer.at);
        buffer.at += idBytes;
      }
      this.#growTo(this.#count + 1);
      this.#ends[this.#count] = buffer.at;
      this.#rowIds[this.#count] = rowId;
      this.#multi[this.#count] = multi ? 1 : 0;
      this.#count++;
    } catch (error) {
      buffer.at = start;
      throw error;
    }
  }

  /**
   * Adds one entry for each row of the columns, or for the rows that `rows` numbers, in that order. `rowIds[i]` is the row
   * id of row `i` of the columns.
   *
   * Errors: as `append`, and `invalid_argument` for vectors that do not fit the layout or one another.
   */
  appendColumns(columns: readonly ColumnVector[], rowIds: BigUint64Array, rows?: Uint32Array): void {
    const layout = this.#layout;
    if (columns.length !== layout.columns.length) throw wrongCount(layout.columns.length, columns.length);
    const rowCount = columns[0]?.length ?? rowIds.length;
    if (rowIds.length < rowCount) throw wrongShape(`has ${rowCount} rows, but ${rowIds.length} row ids were given`);
    const sources: ColumnSource[] = layout.columns.map((column, i) =>
      columnSource(column, columns[i] as ColumnVector, rowCount),
    );
    const take = rows?.length ?? rowCount;
    const rowIdWords = new Uint32Array(rowIds.buffer, rowIds.byteOffset, rowIds.length * 2);
    const fixedBytes = fixedKeyBytes(sources);
    const buffer = this.#buffer;
    const start = buffer.at;
    this.#growTo(this.#count + take);
    const ends = this.#ends;
    const multi = this.#multi;
    let entry = this.#count;
    try {
      for (let i = 0; i < take; i++) {
        const row = rows === undefined ? i : (rows[i] as number);
        if (row >= rowCount) throw wrongShape(`has ${rowCount} rows, row ${row} was asked for`);
        buffer.reserve(fixedBytes);
        multi[entry] = putRow(buffer, this.#prefix, sources, row, rowIdWords, fixedBytes);
        ends[entry++] = buffer.at;
      }
    } catch (error) {
      buffer.at = start;
      throw error;
    }
    if (rows === undefined) {
      this.#rowIds.set(rowIds.subarray(0, rowCount), this.#count);
    } else {
      for (let i = 0; i < take; i++) this.#rowIds[this.#count + i] = rowIds[rows[i] as number] as bigint;
    }
    this.#count = entry;
  }

  /** The entries so far, in the order they were added. The builder is empty afterwards and can be used again. */
  finish(): IndexKeys {
    const count = this.#count;
    const keys: IndexKeys = {
      layout: this.#layout,
      count,
      data: this.#buffer.bytes.subarray(0, this.#buffer.at),
      ends: this.#ends.subarray(0, count),
      rowIds: this.#rowIds.subarray(0, count),
      multi: this.#multi.subarray(0, count),
    };
    this.#buffer = new KeyBuffer(this.#initialCapacityBytes);
    this.#count = 0;
    this.#ends = noEnds;
    this.#rowIds = noRowIds;
    this.#multi = noMulti;
    return keys;
  }

  #growTo(entries: number): void {
    if (entries <= this.#ends.length) return;
    const capacity = Math.max(entries, this.#ends.length * 2, initialEntries);
    const ends = new Uint32Array(capacity);
    ends.set(this.#ends);
    this.#ends = ends;
    const rowIds = new BigUint64Array(capacity);
    rowIds.set(this.#rowIds);
    this.#rowIds = rowIds;
    const multi = new Uint8Array(capacity);
    multi.set(this.#multi);
    this.#multi = multi;
  }
}

function wrongCount(expected: number, actual: number): InvalidArgumentError {
  return new InvalidArgumentError(`an index key has ${expected} columns, ${actual} values were given`, {
    remedy: "Give one value for each indexed column, NULL included.",
  });
}
