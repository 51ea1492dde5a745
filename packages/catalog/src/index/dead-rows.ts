import { ConstraintError, type EntityValue } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { CatalogReader } from "../model/state.js";
import { inlineFileDeletes, type TableFiles } from "./table-files.js";

type DataFile = EntityValue["data_file"];

/** Positions that a commit deletes in a file one by one, beside its delete files. */
export interface SingleDeletes {
  positionsIn(tableId: bigint, dataFileId: bigint): ReadonlySet<number>;
}

/** Rows that the live delete files of a data file name. Exact by the verbs, which allow one delete file for each data file. */
export function deletedByFiles(reader: CatalogReader, file: DataFile): bigint {
  return reader
    .deleteFilesOf(file.tableId, file.dataFileId)
    .reduce((sum, deleteFile) => sum + deleteFile.deleteCount, 0n);
}

/** Which rows of a file are dead once a commit has landed: those of its delete files, and those deleted one by one. */
export async function deadPositionsAfter(
  files: TableFiles,
  draft: CatalogReader,
  view: ReadView,
  file: DataFile,
  deletes: SingleDeletes,
): Promise<ReadonlySet<number>> {
  const dead = await files.deadPositions(draft, view, file);
  for (const position of deletes.positionsIn(file.tableId, file.dataFileId)) dead.add(position);
  return dead;
}

/**
 * Refuses entries that a caller supplies for a file of which rows were deleted one by one: a delete file may name the same rows
 * again, so that counting cannot tell whether the entries are complete.
 */
export async function refuseSingleDeletes(view: ReadView, file: DataFile, deletes: SingleDeletes): Promise<void> {
  const here = deletes.positionsIn(file.tableId, file.dataFileId).size;
  if (here === 0 && (await inlineFileDeletes(view, file)).size === 0) return;
  throw new ConstraintError(`rows of data file ${file.dataFileId} were deleted without a delete file`, {
    remedy: 'Pass "scoped-read", so that moraine works out which rows are affected.',
  });
}

/** All positions of a file that are not dead; `undefined` stands for every one. */
export function alivePositions(file: DataFile, dead: ReadonlySet<number>): Uint32Array | undefined {
  return dead.size === 0 ? undefined : difference(allPositions(file), dead);
}

export function allPositions(file: DataFile): Set<number> {
  const all = new Set<number>();
  for (let position = 0; position < Number(file.recordCount); position++) all.add(position);
  return all;
}

/** Positions of one set that are not in the other, ascending. */
export function difference(positions: ReadonlySet<number>, without: ReadonlySet<number>): Uint32Array {
  return Uint32Array.from([...positions].filter((position) => !without.has(position))).sort();
}
