import { type ColumnVector, ConstraintError, type EntityValue } from "@moraine/codec";
import { nextTurn } from "@moraine/store";
import { derivedEntriesPerTurn, largeCommitEntries } from "../engine/limits.js";
import type { CommitDraft, FileIndexEntry, FileIndexRemoval, FileIndexVectors, IndexEntry } from "../operations.js";
import { checkArray, checkObject } from "../verbs/arguments.js";
import { sameBytes, sameElements } from "../unchanged.js";
import { incomplete, RowCover } from "./completeness.js";
import type { EntryBuilder } from "./entry-builder.js";
import { addOnce } from "./large-entries.js";
import { inSlices } from "./row-slices.js";

type DataFile = EntityValue["data_file"];

/** Whether a row id is one of a file's. */
export type RowCheck = (file: DataFile, rowId: bigint) => Promise<boolean>;

/** Whether a row id lies in the range that a file's first row id opens. A file without one embeds its ids, and only it knows them. */
export function inDenseRange(file: Pick<DataFile, "rowIdStart" | "recordCount">, rowId: bigint): boolean {
  return file.rowIdStart === undefined || (rowId >= file.rowIdStart && rowId < file.rowIdStart + file.recordCount);
}

/**
 * Adds a caller's entries for the rows of a new file: one for each row that the same commit does not delete again. Yields to
 * the event loop between slices.
 */
export async function addFileEntries(
  draft: CommitDraft,
  builder: EntryBuilder,
  file: DataFile,
  entries: readonly FileIndexEntry[] | readonly FileIndexVectors[],
  dead: ReadonlySet<number>,
): Promise<void> {
  const vectors = entries.find((entry): entry is FileIndexVectors => {
    return entry.index === builder.indexId && "columns" in entry;
  });
  const derive = async ([into = builder]: readonly EntryBuilder[]): Promise<void> => {
    await deriveFileEntries(into, file, entries, dead);
  };
  // Which rows die may differ from one run of the closure to the next.
  if (dead.size > 0 || file.recordCount < largeCommitEntries) {
    await derive([builder]);
    return;
  }
  const buffers = vectors === undefined ? undefined : buffersOf(vectors);
  const rows = {
    tableId: file.tableId,
    rowIdStart: file.rowIdStart ?? 0n,
    count: Number(file.recordCount),
    origin: [...(buffers ?? [entries]), file.path, file.recordCount],
    unchanged: buffers === undefined ? sameElements(entries) : sameBytes(buffers),
  };
  await addOnce(draft, [builder], rows, derive);
}

/** What vectors hold, whichever objects describe them. */
function buffersOf({ columns }: FileIndexVectors): unknown[] {
  if (!Array.isArray(columns)) return [columns];
  // They are checked when they are read.
  const vectors = columns as readonly (Partial<ColumnVector> | null | undefined)[];
  return vectors.flatMap((column) => [column?.values, column?.type, column?.length, column?.validity, column?.offsets]);
}

async function deriveFileEntries(
  builder: EntryBuilder,
  file: DataFile,
  entries: readonly FileIndexEntry[] | readonly FileIndexVectors[],
  dead: ReadonlySet<number>,
): Promise<void> {
  const rows = Number(file.recordCount);
  const start = file.rowIdStart ?? 0n;
  const own: number[] = [];
  for (let at = 0; at < entries.length; at++) if (entries[at]?.index === builder.indexId) own.push(at);
  const vectorsAt = own.find((at) => "columns" in (entries[at] as object));
  if (vectorsAt !== undefined) {
    if (own.length > 1) {
      throw new ConstraintError(`index ${builder.indexId} is given vectors and more beside them for one file`, {
        remedy: "Give either one set of vectors for the whole file, or one entry for each row.",
      });
    }
    await addVectors(
      builder,
      entries[vectorsAt] as FileIndexVectors,
      `entries[${vectorsAt}].columns`,
      rows,
      start,
      dead,
    );
    return;
  }
  const cover = new RowCover(rows);
  for (const [n, at] of own.entries()) {
    if (n % derivedEntriesPerTurn === derivedEntriesPerTurn - 1) await nextTurn();
    const { ordinal, values } = entries[at] as FileIndexEntry;
    if (!Number.isSafeInteger(ordinal) || ordinal < 0 || ordinal >= rows) {
      throw new ConstraintError(
        `an entry of index ${builder.indexId} names row ${String(ordinal)} of a file with ${rows} rows`,
        { remedy: "Number the rows of the file from 0." },
      );
    }
    if (!cover.add(ordinal)) {
      throw new ConstraintError(`row ${ordinal} of the file has two entries for index ${builder.indexId}`, {
        remedy: "Give one entry for each row and index.",
      });
    }
    if (!dead.has(ordinal))
      builder.addValues(values, start + BigInt(ordinal), { argument: "entries", at, member: ".values" });
  }
  for (let ordinal = 0; ordinal < rows; ordinal++) {
    if (!cover.has(ordinal) && !dead.has(ordinal)) throw incomplete(builder, "entries", cover.count, rows);
  }
}

async function addVectors(
  builder: EntryBuilder,
  entry: FileIndexVectors,
  argument: string,
  rows: number,
  start: bigint,
  dead: ReadonlySet<number>,
): Promise<void> {
  const columns = checkArray(entry.columns, argument);
  for (const [at, column] of columns.entries()) checkObject(column, `${argument}[${at}]`);
  if (columns.length !== builder.context.columnIds.length || columns.some((column) => column.length !== rows)) {
    throw incomplete(builder, "rows in vectors", columns[0]?.length ?? 0, rows);
  }
  const rowIds = new BigUint64Array(rows);
  for (let i = 0; i < rows; i++) rowIds[i] = start + BigInt(i);
  const alive =
    dead.size === 0 ? undefined : Uint32Array.from({ length: rows }, (_, i) => i).filter((i) => !dead.has(i));
  await inSlices(rows, alive, (slice) => builder.addVectors(columns, rowIds, slice));
}

/** Takes out a caller's entries for rows that die in a file: exactly as many as die, each once. */
export async function removeFileEntries(
  builder: EntryBuilder,
  file: DataFile,
  removals: readonly FileIndexRemoval[],
  needed: bigint,
  isRowOf: RowCheck,
): Promise<void> {
  const seen = new Set<bigint>();
  for (const [at, { index, rowId, values }] of removals.entries()) {
    if (index !== builder.indexId) continue;
    await requireRow(file, rowId, isRowOf);
    if (seen.has(rowId)) {
      throw new ConstraintError(`row ${rowId} is removed twice from index ${builder.indexId}`, {
        remedy: "Name each dead row once.",
      });
    }
    seen.add(rowId);
    builder.removeValues(values, rowId, { argument: "removals", at, member: ".values" });
  }
  if (BigInt(seen.size) !== needed) throw incomplete(builder, "removals", seen.size, needed);
}

/** Adds a caller's entries for the rows that files hold when an index is created: exactly the live ones. */
export async function addBackfill(
  builder: EntryBuilder,
  files: readonly DataFile[],
  entries: readonly IndexEntry[],
  needed: bigint,
  died: (rowId: bigint) => boolean,
  isRowOf: RowCheck,
): Promise<void> {
  const seen = new Set<bigint>();
  for (const [at, { rowId, values }] of entries.entries()) {
    if (died(rowId)) continue;
    if (typeof rowId !== "bigint" || !(await isRowOfAny(files, rowId, isRowOf))) {
      throw new ConstraintError(
        "an entry for the new index names a row that no data file of the table holds, or a dead one",
        {
          remedy: "Give entries for the live rows of data files only; inline rows are read by moraine.",
        },
      );
    }
    if (seen.has(rowId)) {
      throw new ConstraintError(`row ${rowId} has two entries for the new index`, {
        remedy: "Give one entry for each row.",
      });
    }
    seen.add(rowId);
    builder.addValues(values, rowId, { argument: "backfill", at, member: ".values" });
  }
  if (BigInt(seen.size) !== needed) throw incomplete(builder, "entries", seen.size, needed);
}

export async function requireRow(file: DataFile, rowId: bigint, isRowOf: RowCheck): Promise<void> {
  if (typeof rowId === "bigint" && (await isRowOf(file, rowId))) return;
  throw new ConstraintError(`row ${String(rowId)} is not a row of data file ${file.dataFileId}`, {
    remedy: "Name rows by their row ids: the file's first row id plus the position, or the id that the file embeds.",
  });
}

async function isRowOfAny(files: readonly DataFile[], rowId: bigint, isRowOf: RowCheck): Promise<boolean> {
  for (const file of files) if (await isRowOf(file, rowId)) return true;
  return false;
}
