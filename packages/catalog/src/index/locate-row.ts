import type { EntityValue } from "@moraine/codec";
import { scanFile } from "@moraine/scoped-reader";
import type { ReadView } from "@moraine/store";
import type { CatalogReader } from "../model/state.js";
import type { TableFiles } from "./table-files.js";

/** A live row of a data file. */
export interface FileRow {
  readonly file: EntityValue["data_file"];
  readonly position: number;
}

/**
 * Finds the live row of an id among a table's data files. A file whose ids follow from its first one is asked by arithmetic; one
 * that embeds its ids has that column read. An id can stand in several files, but live in one only.
 */
export async function locateRow(
  files: TableFiles,
  reader: CatalogReader,
  view: ReadView,
  tableId: bigint,
  rowId: bigint,
): Promise<FileRow | undefined> {
  for (const file of reader.list("data_file", tableId)) {
    if (file.recordCount === 0n || (file.rowIdStart !== undefined && rowId < file.rowIdStart)) continue;
    const positions = await positionsOf(files, reader, file, rowId);
    if (positions.length === 0) continue;
    const dead = await files.deadPositions(reader, view, file);
    const position = positions.find((candidate) => !dead.has(candidate));
    if (position !== undefined) return { file, position };
  }
  return undefined;
}

async function positionsOf(
  files: TableFiles,
  reader: CatalogReader,
  file: EntityValue["data_file"],
  rowId: bigint,
): Promise<number[]> {
  if (!(await files.embedsRowIds(reader, file))) {
    const position = rowId - (file.rowIdStart ?? 0n);
    return file.rowIdStart !== undefined && position < file.recordCount ? [Number(position)] : [];
  }
  const found: number[] = [];
  for await (const { rowIds, positions } of scanFile(files.source(reader, file), { columns: [], rowIds: "lineage" })) {
    rowIds?.forEach((id, i) => {
      if (id === rowId) found.push(positions[i]!);
    });
  }
  return found;
}
