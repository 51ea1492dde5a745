import type { ColumnVector, IndexableType } from "@moraine/codec";
import { limits } from "./limits.js";
import { MalformedFile } from "./malformed.js";
import { decodeSingleColumn } from "./parquet/decoder.js";
import { type ChunkPages, type DataPage, deltaEncoding } from "./parquet/pages.js";
import type { TopLevelField } from "./parquet/schema.js";
import { plainLayout, singleColumnFile } from "./parquet/single-column-file.js";
import { convertColumn } from "./values/convert.js";
import type { RawColumn } from "./values/raw-column.js";
import { sourceTypeOfField } from "./values/source-type.js";
import { concatVectors, gatherVector } from "./values/vector.js";

/** Decoded rows of a column: `vector` row 0 is row `start` of the row group. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly vector: ColumnVector;
}

/** A stored column and the type in which it is wanted. */
export interface StoredColumn {
  readonly field: TopLevelField;
  readonly type: IndexableType;
}

/** Decodes one column of one row group from front to back, some pages at a time. Rows must be asked for in ascending order. */
export class ColumnCursor {
  readonly #column: StoredColumn;
  readonly #chunk: ChunkPages;
  readonly #codec: number;
  #nextPage = 0;
  #piece: Piece | null = null;

  constructor(column: StoredColumn, chunk: ChunkPages, codec: number) {
    this.#column = column;
    this.#chunk = chunk;
    this.#codec = codec;
  }

  /** The piece that holds a row. */
  at(row: number): Piece {
    while (this.#piece === null || row >= this.#piece.end) this.#piece = this.#decodeNext();
    return this.#piece;
  }

  /** The given rows, ascending, as one vector. */
  gather(rows: Float64Array): ColumnVector {
    const parts: ColumnVector[] = [];
    let at = 0;
    while (at < rows.length) {
      const { start, end, vector } = this.at(rows[at] ?? 0);
      let stop = at;
      while (stop < rows.length && (rows[stop] ?? end) < end) stop++;
      parts.push(
        gatherVector(
          vector,
          rows.subarray(at, stop).map((row) => row - start),
        ),
      );
      at = stop;
    }
    return concatVectors(parts, this.#column.type.valueType);
  }

  #decodeNext(): Piece {
    const { dictionary, pages } = this.#chunk;
    const first = pages[this.#nextPage];
    if (first === undefined) throw new MalformedFile("a column chunk ends before its last row");
    const run: DataPage[] = [];
    let end = first.firstRow;
    let bytes = 0;
    for (;;) {
      const page = pages[this.#nextPage];
      if (page === undefined || page.firstRow !== end) break;
      bytes += page.uncompressedBytes;
      const isFull = end + page.rows - first.firstRow > limits.decodeRows || bytes > limits.decodeBytes;
      if (run.length > 0 && isFull) break;
      if (this.#isWideDelta(page) !== this.#isWideDelta(first)) break;
      run.push(page);
      end += page.rows;
      this.#nextPage++;
    }
    return { start: first.firstRow, end, vector: this.#decode(dictionary, run, end - first.firstRow) };
  }

  #decode(dictionary: Uint8Array, run: readonly DataPage[], rows: number): ColumnVector {
    const { field, type } = this.#column;
    const layout = plainLayout(field);
    if (layout === undefined) throw new MalformedFile("a nested column was asked for as a flat one");
    const nullable = field.repetition === "optional";
    const source = sourceTypeOfField(field);
    const [first] = run;
    if (first !== undefined && this.#isWideDelta(first)) {
      const wide = { type: "INT64", byteWidth: 0 } as const;
      const file = singleColumnFile(new Uint8Array(0), run, wide, this.#codec, nullable);
      return decodeSingleColumn(file, rows, wide, (raw) => convertColumn(lowHalves(raw), source, type));
    }
    const file = singleColumnFile(dictionary, run, layout, this.#codec, nullable);
    return decodeSingleColumn(file, rows, layout, (raw) => convertColumn(raw, source, type));
  }

  /**
   * DuckDB packs 32-bit integers with 64-bit deltas, which the decoder refuses for a 32-bit column. This encoding does not
   * depend on the width, so such pages are decoded as 64-bit integers, of which the low half is the value either way.
   */
  #isWideDelta(page: DataPage): boolean {
    return page.encoding === deltaEncoding && this.#column.field.physicalType === "INT32";
  }
}

function lowHalves(raw: RawColumn): RawColumn {
  const values = new Int32Array(raw.length);
  const view = new DataView(raw.values.buffer, raw.values.byteOffset, raw.values.byteLength);
  for (let i = 0; i < values.length; i++) values[i] = view.getInt32(i * 8, true);
  return { ...raw, values: new Uint8Array(values.buffer) };
}
