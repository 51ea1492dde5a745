import type { ColumnData, RowBatch } from "./column-data.js";
import { type Cell, encodeColumn } from "./encode-column.js";
import type { TableColumn } from "./follow-step.js";
import { bytesPerBatch, rowsPerBatch } from "./limits.js";

/** Gives a cell of a row out of what the row is made from. */
export type CellOf<S> = (source: S) => Cell;

/** Encodes rows as batches within the limits, column by column. `cells` are in the order of `columns`. */
export function* encodeBatches<S>(
  columns: readonly TableColumn[],
  cells: readonly CellOf<S>[],
  sources: readonly S[],
): IterableIterator<RowBatch> {
  for (let from = 0; from < sources.length; from += rowsPerBatch)
    yield* encodeWithin(columns, cells, sources, from, Math.min(from + rowsPerBatch, sources.length));
}

function* encodeWithin<S>(
  columns: readonly TableColumn[],
  cells: readonly CellOf<S>[],
  sources: readonly S[],
  from: number,
  to: number,
): IterableIterator<RowBatch> {
  const rows = to - from;
  const encoded = columns.map((column, at) => {
    const cell = cells[at] as CellOf<S>;
    return encodeColumn(column, rows, (row) => cell(sources[from + row] as S));
  });
  if (rows > 1 && encoded.reduce((sum, column) => sum + columnBytes(column), 0) > bytesPerBatch) {
    // Long texts are rare: what was encoded for them once is encoded again in halves.
    const middle = from + (rows >> 1);
    yield* encodeWithin(columns, cells, sources, from, middle);
    yield* encodeWithin(columns, cells, sources, middle, to);
    return;
  }
  yield { rows, columns: encoded };
}

/** Bytes of a column's buffers, those below it included. */
export function columnBytes({ validity, values, offsets, children }: ColumnData): number {
  const own = (validity?.byteLength ?? 0) + (values?.byteLength ?? 0) + (offsets?.byteLength ?? 0);
  return children.reduce((sum, child) => sum + columnBytes(child), own);
}
