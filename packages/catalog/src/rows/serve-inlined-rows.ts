import type { ReadView } from "@moraine/store";
import type { TableId } from "@moraine/codec";
import { endOf, type InlineChunk, readTombstones, scanChunks, type Tombstones } from "../inline/chunks.js";
import { type DeletedFileRow, readDeletedFileRows } from "../inline/deleted-file-rows.js";
import type { ColumnData, RowBatch } from "./column-data.js";
import { concatColumns } from "./concat-columns.js";
import { columnBytes, encodeBatches } from "./encode-batch.js";
import { encodeColumn } from "./encode-column.js";
import type { FollowStep, TableColumn } from "./follow-step.js";
import { decodeChunkColumns } from "./inline-columns.js";
import { bytesPerBatch, rowsPerBatch } from "./limits.js";
import { inlinedDataTable } from "./serve-cells.js";
import { inlinedDeleteColumns, inlinedDeleteTable, inlinedRowColumns, type InlinedShape } from "./serve-inlined.js";
import { sliceColumn } from "./slice-columns.js";

/** The rows of one table of inlined rows, with the snapshots at which they ended. */
export async function* inlinedRows(
  view: ReadView,
  tableId: bigint,
  schemaVersion: bigint,
  shape: InlinedShape,
): AsyncIterableIterator<FollowStep> {
  const table = inlinedDataTable(tableId, schemaVersion);
  const tombstones = await readTombstones(view, tableId);
  const pending = new ChunkRows(shape, tombstones);
  for await (const chunk of scanChunks(view, tableId, schemaVersion)) {
    pending.add(chunk);
    if (pending.isFull) for (const batch of pending.take()) yield { kind: "rows", table, batch };
  }
  for (const batch of pending.take()) yield { kind: "rows", table, batch };
}

/** The table of deleted file rows. */
export async function* inlinedDeleteRows(view: ReadView, tableId: bigint): AsyncIterableIterator<FollowStep> {
  yield* deletedFileRowSteps(tableId, await readDeletedFileRows(view, tableId as TableId));
}

const deletedFileRowCells = [
  (row: DeletedFileRow) => row.dataFileId,
  (row: DeletedFileRow) => row.position,
  (row: DeletedFileRow) => row.beginSnapshot,
];

export function* deletedFileRowSteps(tableId: bigint, rows: readonly DeletedFileRow[]): IterableIterator<FollowStep> {
  const table = inlinedDeleteTable(tableId);
  for (const batch of encodeBatches(inlinedDeleteColumns, deletedFileRowCells, rows))
    yield { kind: "rows", table, batch };
}

const [rowId, beginSnapshot, endSnapshot] = inlinedRowColumns as readonly [TableColumn, TableColumn, TableColumn];

/** Chunks on their way into batches. Small ones are put together, large ones are cut. */
export class ChunkRows {
  readonly #shape: InlinedShape;
  readonly #tombstones: Tombstones;
  #parts: (readonly ColumnData[])[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(shape: InlinedShape, tombstones: Tombstones) {
    this.#shape = shape;
    this.#tombstones = tombstones;
  }

  get isFull(): boolean {
    return this.#rows >= rowsPerBatch || this.#bytes >= bytesPerBatch;
  }

  add(chunk: InlineChunk): void {
    const { rowCount, rowIdStart } = chunk;
    if (rowCount === 0) return;
    const ends = (row: number): bigint | undefined =>
      endOf(this.#tombstones, rowIdStart + BigInt(row), chunk.beginSnapshot);
    const columns = [
      encodeColumn(rowId, rowCount, (row) => rowIdStart + BigInt(row)),
      encodeColumn(beginSnapshot, rowCount, () => chunk.beginSnapshot),
      encodeColumn(endSnapshot, rowCount, ends),
      ...decodeChunkColumns(this.#shape.schema, chunk.body, rowCount).map((column, at) => ({
        ...column,
        type: this.#shape.columns[at]?.type ?? column.type,
      })),
    ];
    this.#parts.push(columns);
    this.#rows += rowCount;
    this.#bytes += bytesOf(columns);
  }

  /** What has been added, as batches within the limits. */
  *take(): IterableIterator<RowBatch> {
    const [first] = this.#parts;
    if (first === undefined) return;
    const rows = this.#rows;
    const columns = first.map((_, at) => concatColumns(this.#parts.map((part) => part[at] as ColumnData)));
    this.#parts = [];
    this.#rows = 0;
    this.#bytes = 0;
    yield* within(columns, 0, rows);
  }
}

function* within(columns: readonly ColumnData[], start: number, end: number): IterableIterator<RowBatch> {
  const rows = end - start;
  const part = rows > rowsPerBatch ? undefined : columns.map((column) => sliceColumn(column, start, end));
  if (part !== undefined && (rows === 1 || bytesOf(part) <= bytesPerBatch)) {
    yield { rows, columns: part };
    return;
  }
  const middle = start + Math.min(rowsPerBatch, rows >> 1);
  yield* within(columns, start, middle);
  yield* within(columns, middle, end);
}

function bytesOf(columns: readonly ColumnData[]): number {
  return columns.reduce((sum, column) => sum + columnBytes(column), 0);
}
