import type { EntityValue } from "@moraine/codec";
import { checkEntryCount } from "@moraine/index-core";
import { allPositions, difference } from "../index/dead-rows.js";
import type { EntryBuilder } from "../index/entry-builder.js";
import { addRows, removeRows, requireFiles, scanEntries } from "../index/scan-entries.js";
import type { TableFiles } from "../index/table-files.js";
import type { IndexUpkeep } from "../index/upkeep.js";
import type { RowReader } from "../inline/row-reader.js";
import type { FileDeletes } from "./file-deletes.js";
import type { RowStaging } from "./row-staging.js";

type DataFile = EntityValue["data_file"];

export interface FileEntriesContext {
  readonly staging: RowStaging;
  readonly fileDeletes: FileDeletes;
  readonly upkeep: IndexUpkeep;
  readonly rows: RowReader;
  readonly files: TableFiles | undefined;
  /** Tables whose rows the commit only moves between files. */
  readonly compacted: ReadonlySet<bigint>;
}

/**
 * Index entries of rows in data files. For each file that the commit adds, ends or removes, or of which it changes the dead rows,
 * the live rows before and after are compared: those that came are added, those that went are removed. A file that holds rows
 * which were there before, as an UPDATE or a flush writes it, gives the same entries once more.
 */
export async function deriveFileEntries(context: FileEntriesContext): Promise<void> {
  const { staging, upkeep, compacted } = context;
  const { draft } = staging;
  const affected = affectedFiles(context).filter(
    ([tableId]) =>
      !compacted.has(tableId) && draft.get("table", tableId) !== undefined && upkeep.of(tableId).length > 0,
  );
  checkEntryCount(affected.reduce((sum, [tableId, fileId]) => sum + mostEntries(context, tableId, fileId), 0));
  for (const [tableId, fileId] of affected) await deriveEntries(context, tableId, fileId);
}

/** The data files that the commit adds, ends or removes, and those of which it changes the dead rows. */
export function affectedFiles({
  staging,
  fileDeletes,
}: FileEntriesContext): (readonly [tableId: bigint, fileId: bigint])[] {
  const found = new Map<string, readonly [bigint, bigint]>();
  const add = (tableId: bigint, fileId: bigint): unknown => found.set(`${tableId}/${fileId}`, [tableId, fileId]);
  for (const { kind, ids, before, after } of staging.draft.entityChanges()) {
    if (kind === "data_file") add(ids[0] ?? 0n, ids[1] ?? 0n);
    if (kind !== "delete_file") continue;
    for (const deleteFile of [before, after])
      if (deleteFile !== undefined) add(deleteFile.tableId, deleteFile.dataFileId);
  }
  for (const [tableId, fileId] of fileDeletes.files()) add(tableId, fileId);
  return [...found.values()];
}

/** A bound that takes no reading: all rows of a file that comes or goes. */
function mostEntries({ staging, upkeep }: FileEntriesContext, tableId: bigint, fileId: bigint): number {
  const { draft } = staging;
  const before = draft.base.get("data_file", tableId, fileId);
  const after = draft.get("data_file", tableId, fileId);
  if (after === undefined || before !== undefined) return 0;
  const dead = draft.deleteFilesOf(tableId, fileId).reduce((sum, { deleteCount }) => sum + deleteCount, 0n);
  return Number(after.recordCount - dead) * upkeep.of(tableId).length;
}

async function deriveEntries(context: FileEntriesContext, tableId: bigint, fileId: bigint): Promise<void> {
  const { staging, upkeep, rows, files } = context;
  const { draft, view } = staging;
  const builders = upkeep.of(tableId);
  const before = draft.base.get("data_file", tableId, fileId);
  const after = draft.get("data_file", tableId, fileId);
  const file = after ?? before;
  if (file === undefined || file.recordCount === 0n) return;
  const store = requireFiles(files, file);
  const deadBefore = before === undefined ? undefined : await store.deadPositions(draft.base, view, before);
  const deadAfter = after === undefined ? undefined : await deadPositionsAfter(context, store, after);
  const scan = { reader: draft, files, rows };
  if (deadBefore === undefined) {
    const alive =
      deadAfter === undefined || deadAfter.size === 0 ? undefined : difference(allPositions(file), deadAfter);
    await scanEntries(scan, file, builders, alive, addRows);
    return;
  }
  const died = difference(deadAfter ?? allPositions(file), deadBefore);
  if (died.length > 0) await scanEntries(scan, file, standing(builders), died, removeRows);
  const revived = deadAfter === undefined ? noPositions : difference(deadBefore, deadAfter);
  if (revived.length > 0) await scanEntries(scan, file, builders, revived, addRows);
}

const noPositions = new Uint32Array(0);

/** Positions of a file's rows that are dead once the commit has landed. */
export async function deadPositionsAfter(
  { staging, fileDeletes }: FileEntriesContext,
  store: TableFiles,
  file: DataFile,
): Promise<ReadonlySet<number>> {
  const { tableId, dataFileId } = file;
  const removed = fileDeletes.removed(tableId, dataFileId);
  const dead = await store.deadPositions(staging.draft, staging.view, file, removed);
  for (const position of fileDeletes.added(tableId, dataFileId)) dead.add(position);
  return dead;
}

/** The indexes that held entries before this commit. */
function standing(builders: readonly EntryBuilder[]): EntryBuilder[] {
  return builders.filter((builder) => !builder.isNew);
}
