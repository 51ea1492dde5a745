import {
  type ColumnId,
  type ColumnVector,
  ConfigurationError,
  DataFileValue,
  type EntityValue,
  InvalidArgumentError,
  type TableId,
} from "@moraine/codec";
import { checkEntryCount } from "@moraine/index-core";
import { scanFile } from "@moraine/scoped-reader";
import type { CatalogCut } from "./cut.js";
import { alivePositions } from "./index/dead-rows.js";
import { indexContext } from "./index/layout.js";
import { columnRequests, type TableFiles } from "./index/table-files.js";
import { plainValueAt } from "./index/vector-value.js";
import { endOf, readTombstones, scanChunks } from "./inline/chunks.js";
import { denseRowIds } from "./inline/decode.js";
import { RowReader } from "./inline/row-reader.js";
import type { CatalogState } from "./model/state.js";
import type { FileIndexVectors, IndexEntry } from "./operations.js";
import { checkArray, checkId, checkKnown, type Names } from "./verbs/arguments.js";
import { checkDataFile, type CheckedDataFile, type DataFile } from "./verbs/data-files.js";
import { requireTable } from "./verbs/require.js";

export interface ScopedFileIndexEntriesArguments {
  readonly table: TableId;
  /** The file as it is going to be registered. */
  readonly file: DataFile;
}

const scopedFileIndexEntriesNames: Names<ScopedFileIndexEntriesArguments> = { table: true, file: true };

export interface BackfillEntriesArguments {
  readonly table: TableId;
  /** Field ids of the columns, in the order in which an index has them. */
  readonly columns: readonly ColumnId[];
}

const backfillEntriesNames: Names<BackfillEntriesArguments> = { table: true, columns: true };

/**
 * Reads the indexed columns of a file that is about to be registered, for every index of the table, in the form that
 * `registerDataFile` takes as entries. Rows are named by their positions, so a file that embeds row ids is refused: it
 * belongs to rows that have ids already.
 *
 * Errors: `constraint` for such a file, `data_file` for one that cannot be read, `configuration` without a data path.
 */
export async function scopedFileIndexEntries(
  context: CatalogCut,
  args: ScopedFileIndexEntriesArguments,
): Promise<FileIndexVectors[]> {
  const { state } = context;
  checkKnown(args, scopedFileIndexEntriesNames, "arguments");
  const table = checkId(args.table, "table");
  requireTable(state, table);
  const indexes = state.indexesOf(table).map((definition) => indexContext(state, definition));
  const checked = checkDataFile(state, table, args.file, "file");
  checkEntryCount(Number(checked.recordCount) * indexes.length);
  const columnIds = [...new Set(indexes.flatMap((index): readonly bigint[] => index.columnIds))];
  const file = asRegistered(checked.value, state.head.snapshotId);
  const vectors = await readWhole(context, file, columnIds);
  return indexes.map((index) => ({
    index: index.layout.indexId as FileIndexVectors["index"],
    columns: index.columnIds.map((columnId) => vectors.get(columnId)!),
  }));
}

/** Entries of every live row of a table's data files, for an index over the given columns. */
export async function scopedBackfillEntries(
  context: CatalogCut,
  args: BackfillEntriesArguments,
): Promise<IndexEntry[]> {
  const { state, view } = context;
  const { table, columns } = checkColumns(state, args);
  const files = dataFilesOf(context);
  const names = await rowReader(context).namesOf(table);
  const entries: IndexEntry[] = [];
  for (const file of state.list("data_file", table)) {
    if (file.recordCount === 0n) continue;
    const requests = columnRequests(
      state,
      file,
      columns.map(({ columnId }) => columnId),
      names,
    );
    const positions = alivePositions(file, await files.deadPositions(state, view, file));
    for await (const batch of scanFile(files.source(state, file), {
      columns: requests,
      rowIds: "lineage",
      positions,
    })) {
      const rowIds = batch.rowIds ?? new BigUint64Array();
      checkEntryCount(entries.length + rowIds.length);
      rowIds.forEach((rowId, i) => entries.push(entryOf(rowId, batch.columns, columns, i)));
    }
  }
  return entries;
}

/** Entries of every live inline row of a table, for an index over the given columns. */
export async function inlineBackfillEntries(
  context: CatalogCut,
  args: BackfillEntriesArguments,
): Promise<IndexEntry[]> {
  const { state, view } = context;
  const { table, columns } = checkColumns(state, args);
  const reader = rowReader(context);
  const tombstones = await readTombstones(view, table);
  const entries: IndexEntry[] = [];
  for await (const chunk of scanChunks(view, table)) {
    const ids = columns.map(({ columnId }) => columnId);
    const vectors = await reader.columns(table, chunk, ids);
    const ordered = ids.map((columnId) => vectors.get(columnId)!);
    denseRowIds(chunk.rowIdStart, chunk.rowCount).forEach((rowId, i) => {
      if (endOf(tombstones, rowId, chunk.beginSnapshot) === undefined)
        entries.push(entryOf(rowId, ordered, columns, i));
    });
  }
  return entries.sort((a, b) => (a.rowId < b.rowId ? -1 : 1));
}

interface EntryColumn {
  readonly columnId: bigint;
  readonly columnType: string;
}

function entryOf(
  rowId: bigint,
  vectors: readonly ColumnVector[],
  columns: readonly EntryColumn[],
  row: number,
): IndexEntry {
  return {
    rowId,
    values: vectors.map((vector, at) => plainValueAt(vector, row, columns[at]!.columnType)),
  };
}

function checkColumns(
  state: CatalogState,
  args: BackfillEntriesArguments,
): { readonly table: TableId; readonly columns: readonly EntryColumn[] } {
  checkKnown(args, backfillEntriesNames, "arguments");
  const table = checkId(args.table, "table") as TableId;
  requireTable(state, table);
  const columns = checkArray(args.columns, "columns").map((id, at) => {
    const column = state.get("column", table, checkId(id, `columns[${at}]`));
    if (column === undefined || column.parentColumn !== undefined) {
      throw new InvalidArgumentError(`columns[${at}] is no top-level column of table ${table}`, {
        remedy: "Pass field ids of top-level columns.",
      });
    }
    return { columnId: column.columnId, columnType: column.columnType };
  });
  if (columns.length === 0)
    throw new InvalidArgumentError("columns is empty: an index needs one", { remedy: "Pass at least one field id." });
  return { table, columns };
}

async function readWhole(
  context: CatalogCut,
  file: EntityValue["data_file"],
  columnIds: readonly bigint[],
): Promise<Map<bigint, ColumnVector>> {
  const { state } = context;
  const files = dataFilesOf(context);
  const requests = columnRequests(state, file, columnIds, await rowReader(context).namesOf(file.tableId));
  const vectors = new Map<bigint, ColumnVector>();
  const batchRows = Math.max(1, Number(file.recordCount));
  for await (const batch of scanFile(files.source(state, file), { columns: requests, rowIds: "ordinal", batchRows })) {
    columnIds.forEach((columnId, at) => vectors.set(columnId, batch.columns[at]!));
  }
  return vectors;
}

/** The record that a file will have, as far as reading it goes. */
function asRegistered(value: CheckedDataFile["value"], snapshotId: bigint): EntityValue["data_file"] {
  return { ...DataFileValue.defaults, ...value, beginSnapshot: snapshotId };
}

function rowReader({ state, view, registry }: CatalogCut): RowReader {
  return new RowReader({ view, registry, base: state, draft: state });
}

function dataFilesOf({ files }: CatalogCut): TableFiles {
  if (files !== undefined) return files;
  throw new ConfigurationError("data files are to be read, and the catalog was opened without a data path", {
    remedy: "Open the catalog with dataPath.",
  });
}
