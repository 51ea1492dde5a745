import { ConstraintError, type EntityValue } from "@moraine/codec";
import { alivePositions, difference } from "../index/dead-rows.js";
import { requireFiles } from "../index/scan-entries.js";
import type { TableFiles } from "../index/table-files.js";
import type { CatalogReader } from "../model/state.js";
import { affectedFiles, deadPositionsAfter, type FileEntriesContext } from "./file-entries.js";

type DataFile = EntityValue["data_file"];

/**
 * Holds the files of a commit that only compacts to their sources: the rows that come are those that go. Gives the tables whose rows
 * keep their ids, so that their entries stay as they are; nothing but the row ids of the files is read. Of the others entries are to
 * be derived: DuckLake gives rows new ids where it merges a file that an UPDATE wrote with the one that follows, because it takes
 * the recorded first id for that of the rows, and where it sorts the rows of files that follow each other. Tables without indexes are
 * not looked at.
 *
 * Source: specification, "Compaction derives nothing".
 *
 * Errors: `constraint` for more or fewer rows, and for an id that comes several times and more often than it was there; whatever reading
 * the files gives.
 */
export async function checkCompactedRows(context: FileEntriesContext): Promise<ReadonlySet<bigint>> {
  const { staging, upkeep, compacted } = context;
  const kept = new Set(compacted);
  if (compacted.size === 0) return kept;
  const byTable = new Map<bigint, bigint[]>();
  for (const [tableId, fileId] of affectedFiles(context)) {
    const isLive = staging.draft.get("table", tableId) !== undefined;
    if (!compacted.has(tableId) || !isLive || upkeep.of(tableId).length === 0) continue;
    byTable.set(tableId, [...(byTable.get(tableId) ?? []), fileId]);
  }
  for (const [tableId, fileIds] of byTable) if (!(await keepsIds(context, tableId, fileIds))) kept.delete(tableId);
  return kept;
}

async function keepsIds(context: FileEntriesContext, tableId: bigint, fileIds: readonly bigint[]): Promise<boolean> {
  const [gone, come] = [new RowIdBlocks(), new RowIdBlocks()];
  for (const fileId of fileIds) await moveRows(context, tableId, fileId, gone, come);
  const [before, after] = [gone.sorted(), come.sorted()];
  if (before.length === after.length && before.every((rowId, at) => rowId === after[at]))
    return !isSortedAnew(context, tableId, fileIds);
  if (before.length === after.length && !repeatsMore(before, after)) return false;
  throw new ConstraintError(
    `a compaction of table ${tableId}, which has indexes, takes ${before.length} rows out of their files and writes ${after.length} rows, which are not the same ones`,
    { remedy: "Run it again. If that fails as well, drop the table's indexes, compact, and create them again." },
  );
}

/**
 * Whether an id comes more than once, and more often than it was there. Both lists ascend. Several rows may have had one provisional id,
 * and keep it while others get new ones.
 */
function repeatsMore(before: BigUint64Array, after: BigUint64Array): boolean {
  let from = 0;
  for (let at = 0, end = 1; at < after.length; at = end, end++) {
    const rowId = after[at]!;
    while (after[end] === rowId) end++;
    if (end - at === 1) continue;
    while (from < before.length && before[from]! < rowId) from++;
    // The ids are in order: where the last of as many is the same one, all of them are.
    if (before[from + end - at - 1] !== rowId) return true;
  }
  return false;
}

/** Whether rows may have changed their ids among each other: they were sorted, and where one lies gives its id. */
function isSortedAnew(
  { staging: { draft } }: FileEntriesContext,
  tableId: bigint,
  fileIds: readonly bigint[],
): boolean {
  if (draft.base.list("sort", tableId).length === 0) return false;
  return fileIds.some((fileId) => draft.get("data_file", tableId, fileId)?.rowIdStart !== undefined);
}

/** Adds the live rows that a file loses, or brings. */
async function moveRows(
  context: FileEntriesContext,
  tableId: bigint,
  fileId: bigint,
  gone: RowIdBlocks,
  come: RowIdBlocks,
): Promise<void> {
  const { draft, view } = context.staging;
  const before = draft.base.get("data_file", tableId, fileId);
  const after = draft.get("data_file", tableId, fileId);
  const file = after ?? before;
  if (file === undefined || file.recordCount === 0n) return;
  const files = requireFiles(context.files, file);
  const deadBefore = before && (await files.deadPositions(draft.base, view, before));
  const deadAfter = after && (await deadPositionsAfter(context, files, after));
  if (deadBefore === undefined) await come.read(files, draft, file, alivePositions(file, deadAfter ?? new Set()));
  else if (deadAfter === undefined) await gone.read(files, draft.base, file, alivePositions(file, deadBefore));
  else {
    await gone.read(files, draft, file, difference(deadAfter, deadBefore));
    await come.read(files, draft, file, difference(deadBefore, deadAfter));
  }
}

/** Row ids of many files. */
class RowIdBlocks {
  readonly #blocks: BigUint64Array[] = [];
  #count = 0;

  /** `positions`: of the rows of the file that count, `undefined` for all. */
  async read(files: TableFiles, reader: CatalogReader, file: DataFile, positions?: Uint32Array): Promise<void> {
    if (positions?.length === 0) return;
    for await (const block of files.rowIdBlocks(reader, file, positions)) {
      this.#blocks.push(block.slice());
      this.#count += block.length;
    }
  }

  sorted(): BigUint64Array {
    const all = new BigUint64Array(this.#count);
    let at = 0;
    for (const block of this.#blocks) {
      all.set(block, at);
      at += block.length;
    }
    return all.sort();
  }
}
