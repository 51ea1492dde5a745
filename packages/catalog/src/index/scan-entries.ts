import { type ColumnVector, ConstraintError, type EntityValue } from "@moraine/codec";
import { scanFile } from "@moraine/scoped-reader";
import type { RowReader } from "../inline/row-reader.js";
import type { CatalogReader } from "../model/state.js";
import type { EntryBuilder, VectorsByColumn } from "./entry-builder.js";
import { columnRequests, type TableFiles } from "./table-files.js";
import { IndexUpkeep } from "./upkeep.js";

type DataFile = EntityValue["data_file"];

/** What a builder does with the rows of a file. */
export type Take = (builder: EntryBuilder, vectors: VectorsByColumn, rowIds: BigUint64Array) => void;

export const addRows: Take = (builder, vectors, rowIds) => builder.addRows(vectors, rowIds);
export const removeRows: Take = (builder, vectors, rowIds) => builder.removeRows(vectors, rowIds);

export interface FileScanContext {
  readonly reader: CatalogReader;
  readonly files: TableFiles | undefined;
  readonly rows: RowReader;
}

/** Reads what some indexes need of the rows of a file, or of those at some positions. Row ids that the file embeds win. */
export async function scanEntries(
  { reader, files, rows }: FileScanContext,
  file: DataFile,
  builders: readonly EntryBuilder[],
  positions: Uint32Array | undefined,
  take: Take,
): Promise<void> {
  const source = requireFiles(files, file).source(reader, file);
  const columnIds = IndexUpkeep.columnsOf(builders);
  const columns = columnRequests(reader, file, columnIds, await rows.namesOf(file.tableId));
  for await (const batch of scanFile(source, { columns, rowIds: "lineage", positions })) {
    if (batch.rowIds === null) throw new Error("a scoped read in lineage mode gave no row ids");
    const vectors = new Map<bigint, ColumnVector>();
    columnIds.forEach((columnId, at) => vectors.set(columnId, batch.columns[at]!));
    for (const builder of builders) take(builder, vectors, batch.rowIds);
  }
}

/** Access to a file that the table's indexes need, or `constraint` that names it. */
export function requireFiles(files: TableFiles | undefined, file: DataFile): TableFiles {
  if (files !== undefined) return files;
  throw new ConstraintError(
    `data file ${file.dataFileId} has to be read for the table's indexes, and the catalog was opened without a data path`,
    { remedy: "Open the catalog with dataPath, or supply the entries." },
  );
}
