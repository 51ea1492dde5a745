import type { ColumnVector, IndexableType } from "@moraine/codec";
import { limits } from "./limits.js";
import { MalformedFile } from "./malformed.js";
import { decodeSingleColumn } from "./parquet/decoder.js";
import type { ChunkPages, DataPage } from "./parquet/pages.js";
import type { TopLevelField } from "./parquet/schema.js";
import { plainLayout, singleColumnFile } from "./parquet/single-column-file.js";
import { convertColumn } from "./values/convert.js";
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
    for (;;) {
      const page = pages[this.#nextPage];
      if (page === undefined || page.firstRow !== end) break;
      if (run.length > 0 && end + page.rows - first.firstRow > limits.decodeRows) break;
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
    const file = singleColumnFile(dictionary, run, layout, this.#codec, field.repetition === "optional");
    return decodeSingleColumn(file, rows, layout, (raw) => convertColumn(raw, sourceTypeOfField(field), type));
  }
}
