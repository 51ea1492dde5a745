import { ConstraintError, type EntityValue } from "@moraine/codec";
import { firstProvisionalRowId } from "@moraine/index-core";
import { alivePositions, difference } from "../index/dead-rows.js";
import { requireFiles } from "../index/scan-entries.js";
import { sharedRowIdRemedy } from "../index/shared-row-ids.js";
import type { TableFiles } from "../index/table-files.js";
import { endOf, readTombstones, scanChunks } from "../inline/chunks.js";
import type { CatalogReader } from "../model/state.js";
import { affectedFiles, deadPositionsAfter, type FileEntriesContext } from "./file-entries.js";

type DataFile = EntityValue["data_file"];

/**
 * Holds the files of a commit that only compacts to their sources: the rows that come are those that go. Gives the tables whose rows
 * keep their ids, so that their entries stay as they are; nothing but the row ids of the files is read. Of the others entries are to
 * be derived: DuckLake gives rows new ids where it merges a file that an UPDATE wrote with the one that follows, because it takes
 * the recorded first id for that of the rows, and where it sorts the rows of files that follow each other. Where ids that did not ascend
 * do, rows may have changed them among each other. Tables without indexes are not looked at.
 *
 * Source: specification, "Compaction derives nothing".
 *
 * Errors: `constraint` for more or fewer rows, and for an id that comes several times and more often than it was there, or that another
 * row of the table has; whatever reading the files gives.
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
  const isSameCount = before.length === after.length;
  if (isSameCount && before.every((rowId, at) => rowId === after[at]))
    return (gone.ascends || !come.ascends) && !isSortedAnew(context, tableId, fileIds);
  if (!isSameCount || repeatsMore(before, after)) {
    const remedy = isSameCount
      ? sharedRowIdRemedy
      : "Run it again. If that fails as well, drop the table's indexes, compact, and create them again.";
    throw new ConstraintError(
      `a compaction of table ${tableId}, which has indexes, takes ${before.length} rows out of their files and writes ${after.length} rows, which are not the same ones`,
      { remedy },
    );
  }
  const taken = await idOfAnother(context, tableId, new Set(fileIds), newIds(before, after));
  if (taken === undefined) return false;
  throw new ConstraintError(
    `a compaction of table ${tableId}, which has indexes, gives a row the id ${taken}, which another row has`,
    { remedy: sharedRowIdRemedy },
  );
}

/** Ids that come and were not there, but for provisional ones, which rows may share. Both lists ascend. */
function newIds(before: BigUint64Array, after: BigUint64Array): ReadonlySet<bigint> {
  const found = new Set<bigint>();
  let from = 0;
  for (const rowId of after) {
    if (rowId >= firstProvisionalRowId) break;
    while (from < before.length && before[from]! < rowId) from++;
    if (before[from] !== rowId) found.add(rowId);
  }
  return found;
}

/** One of the ids that a row has which the commit does not move: in another file, or inline. */
async function idOfAnother(
  { staging: { draft, view }, files }: FileEntriesContext,
  tableId: bigint,
  moved: ReadonlySet<bigint>,
  ids: ReadonlySet<bigint>,
): Promise<bigint | undefined> {
  for (const file of draft.list("data_file", tableId)) {
    if (moved.has(file.dataFileId) || file.recordCount === 0n) continue;
    const store = requireFiles(files, file);
    const first = (await store.embedsRowIds(draft, file)) ? undefined : file.rowIdStart;
    if (first !== undefined && !anyWithin(ids, first, first + file.recordCount)) continue;
    const alive = alivePositions(file, await store.deadPositions(draft, view, file));
    if (alive?.length === 0) continue;
    for await (const block of store.rowIdBlocks(draft, file, alive)) {
      const taken = block.find((rowId) => ids.has(rowId));
      if (taken !== undefined) return taken;
    }
  }
  const tombstones = await readTombstones(view, tableId);
  for await (const chunk of scanChunks(view, tableId)) {
    for (let offset = 0; offset < chunk.rowCount; offset++) {
      const rowId = chunk.rowIdStart + BigInt(offset);
      if (ids.has(rowId) && endOf(tombstones, rowId, chunk.beginSnapshot) === undefined) return rowId;
    }
  }
  return undefined;
}

function anyWithin(ids: ReadonlySet<bigint>, from: bigint, end: bigint): boolean {
  for (const rowId of ids) if (rowId >= from && rowId < end) return true;
  return false;
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
  #ascends = true;

  /** Whether ids ascend within each file: where one lies in the file may then give its id. */
  get ascends(): boolean {
    return this.#ascends;
  }

  /** `positions`: of the rows of the file that count, `undefined` for all. */
  async read(files: TableFiles, reader: CatalogReader, file: DataFile, positions?: Uint32Array): Promise<void> {
    if (positions?.length === 0) return;
    let last: bigint | undefined;
    for await (const block of files.rowIdBlocks(reader, file, positions)) {
      this.#blocks.push(block.slice());
      this.#count += block.length;
      for (const rowId of block) {
        if (last !== undefined && rowId <= last) this.#ascends = false;
        last = rowId;
      }
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
