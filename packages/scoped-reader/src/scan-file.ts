import { setImmediate } from "node:timers/promises";
import { type ColumnVector, InvalidArgumentError, parseColumnType } from "@moraine/codec";
import { ColumnCursor, type StoredColumn } from "./column-cursor.js";
import type { FileSource, ScanOptions, ScopedBatch } from "./interface.js";
import { limits } from "./limits.js";
import { inFile } from "./malformed.js";
import { sortedPositions } from "./positions.js";
import { readFooter } from "./read-footer.js";
import { type ResolvedColumn, resolveColumns } from "./resolve-columns.js";
import { type RowGroupTask, type Window, fetchWindow, planRowGroups, planWindows } from "./row-groups.js";
import { type RowIdSource, checkedRowIds, denseRowIds, resolveRowIds } from "./row-ids.js";
import { constantVector, sliceVector } from "./values/vector.js";

/**
 * Reads named columns, row ids and positions of one Parquet file, and nothing else of it: the footer, then the chunks
 * (or, where the file has a page index, the pages) of these columns that hold wanted rows, as batches in file order.
 *
 * The next window of row groups is fetched while the last one is decoded. Leaving the loop early stops the scan. No
 * columns and dense row ids cost no read beyond the footer.
 *
 * Errors: `data_file` for a file that is damaged or holds values that the columns' types cannot take, `corruption` where
 * file and catalog disagree (row count, row ids), `constraint` for positions beyond the file, embedded row ids in mode
 * `ordinal` and columns that cannot be indexed, `unsupported` for encrypted files, and what the data store raises.
 *
 * Source of the rules: specification, "Scoped reads resolve each immutable input independently" and what follows, and
 * "Rewrite files: row-id resolution".
 */
export async function* scanFile(source: FileSource, options: ScanOptions): AsyncIterableIterator<ScopedBatch> {
  const batchRows = checkedBatchRows(options.batchRows);
  const { path, recordCount } = source;
  const positions =
    options.positions === undefined ? null : sortedPositions(options.positions, recordCount, path, "positions");
  if (positions?.length === 0) return;
  const footer = await readFooter(source);
  const columns = resolveColumns(source, footer.schema, options.columns);
  const rowIds = resolveRowIds(source, footer.schema, options.rowIds);
  const stored = storedColumns(columns, rowIds);
  const leaves = stored.map(({ field }) => field.leaf ?? 0);
  let windows: Window[];
  try {
    windows = planWindows(footer, planRowGroups(footer, positions), leaves, source.sizeBytes);
  } catch (error) {
    throw inFile(path, error);
  }
  let yieldedAtMs = performance.now();
  for await (const { task, cursors } of openRowGroups(source, windows, stored)) {
    for (const batch of readRowGroup(path, task, columns, rowIds, cursors, batchRows)) {
      yield batch;
      if (performance.now() - yieldedAtMs > limits.yieldAfterMs) {
        await setImmediate();
        yieldedAtMs = performance.now();
      }
    }
  }
}

interface OpenRowGroup {
  readonly task: RowGroupTask;
  readonly cursors: readonly ColumnCursor[];
}

async function* openRowGroups(
  source: FileSource,
  windows: readonly Window[],
  stored: readonly StoredColumn[],
): AsyncIterableIterator<OpenRowGroup> {
  const fetch = async (window: Window): Promise<OpenRowGroup[]> => {
    try {
      const pages = stored.length === 0 ? [] : await fetchWindow(source, window);
      return window.tasks.map((task, t) => ({
        task,
        cursors: stored.map((column, c) => {
          const chunk = pages[t]?.[c] ?? { dictionary: new Uint8Array(0), pages: [] };
          return new ColumnCursor(column, chunk, window.chunks[t]?.[c]?.codec ?? 0);
        }),
      }));
    } catch (error) {
      throw inFile(source.path, error);
    }
  };
  let ahead: Promise<OpenRowGroup[]> | null = null;
  for (let i = 0; i < windows.length; i++) {
    const window = windows[i];
    if (window === undefined) return;
    const current = ahead ?? fetch(window);
    const next = windows[i + 1];
    const rowGroups = await current;
    ahead = next === undefined ? null : fetch(next);
    // A scan that is left early never awaits this read; its failure then concerns nobody.
    ahead?.catch(() => undefined);
    yield* rowGroups;
  }
}

function* readRowGroup(
  path: string,
  task: RowGroupTask,
  columns: readonly ResolvedColumn[],
  rowIds: RowIdSource,
  cursors: readonly ColumnCursor[],
  batchRows: number,
): Generator<ScopedBatch> {
  const { firstRow, rows, wanted } = task;
  const count = wanted?.length ?? rows;
  let at = 0;
  while (at < count) {
    let vectors: ColumnVector[];
    let length: number;
    try {
      if (wanted === null) {
        const row = at;
        const pieces = cursors.map((cursor) => cursor.at(row));
        const end = pieces.reduce((least, piece) => Math.min(least, piece.end), Math.min(rows, row + batchRows));
        length = end - row;
        vectors = pieces.map(({ start, vector }) => sliceVector(vector, row - start, end - start));
      } else {
        const some = wanted.subarray(at, at + batchRows);
        length = some.length;
        vectors = cursors.map((cursor) => cursor.gather(some));
      }
    } catch (error) {
      throw inFile(path, error);
    }
    const positions = new Float64Array(length);
    for (let i = 0; i < length; i++) positions[i] = firstRow + (wanted === null ? at + i : (wanted[at + i] ?? 0));
    at += length;
    yield assemble(path, columns, rowIds, vectors, positions);
  }
}

function assemble(
  path: string,
  columns: readonly ResolvedColumn[],
  rowIds: RowIdSource,
  vectors: readonly ColumnVector[],
  positions: Float64Array,
): ScopedBatch {
  const { length } = positions;
  let next = 0;
  const stored = (): ColumnVector => vectors[next++] ?? constantVector("int8", null, length);
  const values = columns.map((column) =>
    column.kind === "stored" ? stored() : constantVector(column.type.valueType, column.value, length),
  );
  switch (rowIds.kind) {
    case "none":
      return { length, columns: values, rowIds: null, positions };
    case "dense":
      return { length, columns: values, rowIds: denseRowIds(rowIds.start, positions), positions };
    case "embedded":
      return { length, columns: values, rowIds: checkedRowIds(path, stored()), positions };
  }
}

/** Stored columns in the order in which batches take them: those requested, then the row ids. */
function storedColumns(columns: readonly ResolvedColumn[], rowIds: RowIdSource): StoredColumn[] {
  const stored: StoredColumn[] = columns.filter((column) => column.kind === "stored");
  if (rowIds.kind === "embedded") stored.push({ field: rowIds.field, type: parseColumnType("BIGINT") });
  return stored;
}

function checkedBatchRows(batchRows: number = limits.batchRows): number {
  if (!Number.isSafeInteger(batchRows) || batchRows < 1 || batchRows > limits.maxBatchRows) {
    throw new InvalidArgumentError(`batchRows is not a number from 1 to ${limits.maxBatchRows}`, {
      remedy: "Pass a number in this range, or leave batchRows out.",
    });
  }
  return batchRows;
}
