import { ConstraintError, type EntityValue } from "@moraine/codec";
import { scanFile } from "@moraine/scoped-reader";
import type { ReadView } from "@moraine/store";
import { ColumnNames, readColumnHistory } from "../inline/column-names.js";
import type { CatalogReader } from "../model/state.js";
import type { AddFileOp, CommitDraft, CreateIndexOp, FileIndexEntry, FileIndexRemoval, FileIndexVectors, FileRowsOp } from "../operations.js";
import { incomplete, RowCover } from "./completeness.js";
import type { EntryBuilder } from "./entry-builder.js";
import { columnRequests, type TableFiles } from "./table-files.js";
import { IndexUpkeep } from "./upkeep.js";

type DataFile = EntityValue["data_file"];

/** The dead rows of one file before and after a commit. A file that the commit adds has none before; one that it ends has all after. */
interface FileFate {
  readonly tableId: bigint;
  readonly dataFileId: bigint;
  readonly before: DataFile | undefined;
  readonly after: DataFile | undefined;
  readonly scoped: boolean;
  readonly removals: readonly FileIndexRemoval[];
}

/**
 * Index entries of rows in data files: those of files that a commit adds, of rows whose delete files it changes, and of the
 * files that a new index has to cover. Values come from the caller, and then must be complete, or from a scoped read.
 */
export class FileUpkeep {
  readonly #draft: CommitDraft;
  readonly #upkeep: IndexUpkeep;
  readonly #files: TableFiles | undefined;
  readonly #view: ReadView;
  readonly #names = new Map<bigint, ColumnNames>();
  readonly #adds: AddFileOp[] = [];
  readonly #creates: CreateIndexOp[] = [];
  readonly #fates = new Map<bigint, FileFate>();

  constructor(draft: CommitDraft, upkeep: IndexUpkeep, files: TableFiles | undefined, view: ReadView) {
    this.#draft = draft;
    this.#upkeep = upkeep;
    this.#files = files;
    this.#view = view;
    for (const op of draft.indexOps) {
      if (draft.get("table", op.tableId) === undefined) continue;
      if (op.kind === "add_file") this.#adds.push(op);
      else if (op.kind === "create_index") this.#creates.push(op);
      else this.#mergeFate(op);
    }
  }

  async run(): Promise<void> {
    for (const fate of this.#fates.values()) {
      if (fate.before !== undefined) await this.#changeRows(fate, fate.before);
    }
    for (const op of this.#adds) await this.#addFile(op);
    for (const op of this.#creates) await this.#backfill(op);
  }

  #mergeFate(op: FileRowsOp): void {
    const known = this.#fates.get(op.dataFileId);
    const removals = op.removals === "scoped-read" ? [] : op.removals;
    this.#fates.set(op.dataFileId, {
      tableId: op.tableId,
      dataFileId: op.dataFileId,
      before: this.#draft.base.get("data_file", op.tableId, op.dataFileId),
      after: this.#draft.get("data_file", op.tableId, op.dataFileId),
      scoped: op.removals === "scoped-read" || known?.scoped === true,
      removals: [...(known?.removals ?? []), ...removals],
    });
  }

  /** The indexes that held entries before this commit and are still there. */
  #standing(tableId: bigint): EntryBuilder[] {
    return this.#upkeep.of(tableId).filter((builder) => !builder.isNew);
  }

  async #changeRows(fate: FileFate, file: DataFile): Promise<void> {
    const builders = this.#standing(fate.tableId);
    if (builders.length === 0) return;
    if (!fate.scoped) {
      this.#supplyRemovals(fate, file, builders);
      return;
    }
    const files = this.#dataFiles(`data file ${file.dataFileId}`);
    const before = await files.deadPositions(this.#draft.base, this.#view, file);
    const after = fate.after === undefined ? allPositions(file) : await files.deadPositions(this.#draft, this.#view, file);
    const died = positionsIn(after, before);
    const revived = positionsIn(before, after);
    if (died.length > 0) {
      await this.#scan(file, builders, died, (builder, vectors, rowIds) => builder.removeRows(vectors, rowIds));
    }
    if (revived.length > 0) {
      await this.#scan(file, builders, revived, (builder, vectors, rowIds) => builder.addRows(vectors, rowIds));
    }
  }

  #supplyRemovals(fate: FileFate, file: DataFile, builders: readonly EntryBuilder[]): void {
    const before = deadCount(this.#draft.base, file);
    const after = fate.after === undefined ? file.recordCount : deadCount(this.#draft, file);
    if (after < before) {
      throw new ConstraintError(`data file ${file.dataFileId} would have ${before - after} rows alive again on a table with indexes`, {
        remedy: 'Replace the delete file by one that names at least the same rows, or pass "scoped-read" so that moraine reads them.',
      });
    }
    const needed = after - before;
    for (const builder of builders) {
      const seen = new Set<bigint>();
      for (const { index, rowId, values } of fate.removals) {
        if (index !== builder.indexId) continue;
        checkRowOfFile(file, rowId);
        if (seen.has(rowId)) throw new ConstraintError(`row ${rowId} is removed twice from index ${builder.indexId}`, { remedy: "Name each dead row once." });
        seen.add(rowId);
        builder.removeValues(values, rowId);
      }
      if (BigInt(seen.size) !== needed) throw incomplete(builder, "removals", seen.size, needed);
    }
  }

  async #addFile(op: AddFileOp): Promise<void> {
    const file = this.#draft.get("data_file", op.tableId, op.dataFileId);
    if (file === undefined || file.recordCount === 0n) return;
    const coveredByBackfill = new Set(
      this.#creates.filter((create) => create.fileIds.includes(op.dataFileId)).map((create): bigint => create.indexId),
    );
    const builders = this.#upkeep.of(op.tableId).filter((builder) => !coveredByBackfill.has(builder.indexId));
    if (builders.length === 0) return;
    const fate = this.#fates.get(op.dataFileId);
    if (op.entries === "scoped-read") {
      const files = this.#dataFiles(`data file ${op.dataFileId}`);
      const dead = await files.deadPositions(this.#draft, this.#view, file);
      await this.#scan(file, builders, dead.size === 0 ? undefined : positionsIn(allPositions(file), dead), (builder, vectors, rowIds) =>
        builder.addRows(vectors, rowIds),
      );
      return;
    }
    const dead = await this.#deadInNewFile(file, fate);
    for (const builder of builders) addSupplied(builder, file, op.entries, dead);
  }

  /** Rows of a file that the commit which adds it deletes again. Their entries are never written. */
  async #deadInNewFile(file: DataFile, fate: FileFate | undefined): Promise<ReadonlySet<number>> {
    if (fate === undefined || deadCount(this.#draft, file) === 0n) return new Set();
    if (fate.scoped) return this.#dataFiles(`data file ${file.dataFileId}`).deadPositions(this.#draft, this.#view, file);
    const rows = new Set<number>();
    for (const { rowId } of fate.removals) {
      checkRowOfFile(file, rowId);
      rows.add(Number(rowId - (file.rowIdStart ?? 0n)));
    }
    if (BigInt(rows.size) !== deadCount(this.#draft, file)) {
      throw new ConstraintError(`data file ${file.dataFileId} has ${deadCount(this.#draft, file)} dead rows, and removals name ${rows.size}`, {
        remedy: "Name every dead row of the file, for every index of the table.",
      });
    }
    return rows;
  }

  async #backfill(op: CreateIndexOp): Promise<void> {
    const builder = this.#upkeep.of(op.tableId).find(({ indexId }) => indexId === op.indexId);
    if (builder === undefined) return;
    const files = op.fileIds.flatMap((fileId) => this.#draft.get("data_file", op.tableId, fileId) ?? []).filter((file) => file.recordCount > 0n);
    if (Array.isArray(op.backfill) && (op.backfill.length > 0 || this.#files === undefined)) {
      await this.#supplyBackfill(builder, files, op);
      return;
    }
    for (const file of files) {
      const dataFiles = this.#dataFiles(`data file ${file.dataFileId}`);
      const dead = await dataFiles.deadPositions(this.#draft, this.#view, file);
      const alive = dead.size === 0 ? undefined : positionsIn(allPositions(file), dead);
      await this.#scan(file, [builder], alive, (target, vectors, rowIds) => target.addRows(vectors, rowIds));
    }
  }

  async #supplyBackfill(builder: EntryBuilder, files: readonly DataFile[], op: CreateIndexOp): Promise<void> {
    const needed = files.reduce((sum, file) => sum + file.recordCount - deadCount(this.#draft, file), 0n);
    const died = await this.#rowsDiedAfter(op);
    const seen = new Set<bigint>();
    for (const { rowId, values } of op.backfill === "scoped-read" ? [] : (op.backfill ?? [])) {
      if (died(rowId)) continue;
      if (typeof rowId !== "bigint" || !files.some((file) => holdsRow(file, rowId))) {
        throw new ConstraintError("an entry for the new index names a row that is in no data file of the table", {
          remedy: "Give entries for the live rows of data files only; inline rows are read by moraine.",
        });
      }
      if (seen.has(rowId)) throw new ConstraintError(`row ${rowId} has two entries for the new index`, { remedy: "Give one entry for each row." });
      seen.add(rowId);
      builder.addValues(values, rowId);
    }
    if (BigInt(seen.size) !== needed) throw incomplete(builder, "entries", seen.size, needed);
  }

  /** Rows that were there when the index was created, and that the same commit ended afterwards: they get no entry. */
  async #rowsDiedAfter(op: CreateIndexOp): Promise<(rowId: bigint) => boolean> {
    const expired = op.fileIds.flatMap((fileId) => {
      if (this.#draft.get("data_file", op.tableId, fileId) !== undefined) return [];
      return this.#draft.base.get("data_file", op.tableId, fileId) ?? [];
    });
    const rows = new Set<bigint>();
    for (const fileId of op.fileIds) {
      const fate = this.#fates.get(fileId);
      if (fate?.after === undefined) continue;
      for (const { rowId } of fate.removals) rows.add(rowId);
      if (!fate.scoped) continue;
      const dead = await this.#dataFiles(`data file ${fileId}`).deadPositions(this.#draft, this.#view, fate.after);
      for (const position of dead) rows.add((fate.after.rowIdStart ?? 0n) + BigInt(position));
    }
    return (rowId) => rows.has(rowId) || expired.some((file) => holdsRow(file, rowId));
  }

  async #scan(
    file: DataFile,
    builders: readonly EntryBuilder[],
    positions: Uint32Array | undefined,
    take: (builder: EntryBuilder, vectors: ReadonlyMap<bigint, import("@moraine/codec").ColumnVector>, rowIds: BigUint64Array) => void,
  ): Promise<void> {
    const files = this.#dataFiles(`data file ${file.dataFileId}`);
    const columnIds = IndexUpkeep.columnsOf(builders);
    const columns = columnRequests(this.#draft, file, columnIds, await this.#namesOf(file.tableId));
    for await (const batch of scanFile(files.source(this.#draft, file), { columns, rowIds: "lineage", positions })) {
      if (batch.rowIds === null) throw new Error("a scoped read in lineage mode gave no row ids");
      const vectors = new Map(columnIds.map((columnId, at) => [columnId, batch.columns[at]!]));
      for (const builder of builders) take(builder, vectors, batch.rowIds);
    }
  }

  async #namesOf(tableId: bigint): Promise<ColumnNames> {
    const known = this.#names.get(tableId);
    if (known !== undefined) return known;
    const names = new ColumnNames(this.#draft.base.list("column", tableId), await readColumnHistory(this.#view, tableId));
    this.#names.set(tableId, names);
    return names;
  }

  #dataFiles(what: string): TableFiles {
    if (this.#files === undefined) {
      throw new ConstraintError(`${what} has to be read for the table's indexes, and the catalog was opened without a data path`, {
        remedy: "Open the catalog with dataPath, or supply the entries.",
      });
    }
    return this.#files;
  }
}

function addSupplied(builder: EntryBuilder, file: DataFile, entries: readonly FileIndexEntry[] | readonly FileIndexVectors[], dead: ReadonlySet<number>): void {
  const rows = Number(file.recordCount);
  const start = file.rowIdStart ?? 0n;
  const cover = new RowCover(rows);
  for (const entry of entries) {
    if (entry.index !== builder.indexId) continue;
    if ("columns" in entry) {
      addVectors(builder, entry, rows, start, dead);
      return;
    }
    const { ordinal, values } = entry;
    if (!Number.isSafeInteger(ordinal) || ordinal < 0 || ordinal >= rows) {
      throw new ConstraintError(`an entry of index ${builder.indexId} names row ${String(ordinal)} of a file with ${rows} rows`, {
        remedy: "Number the rows of the file from 0.",
      });
    }
    if (!cover.add(ordinal)) {
      throw new ConstraintError(`row ${ordinal} of the file has two entries for index ${builder.indexId}`, { remedy: "Give one entry for each row and index." });
    }
    if (!dead.has(ordinal)) builder.addValues(values, start + BigInt(ordinal));
  }
  let missing = 0;
  for (let ordinal = 0; ordinal < rows; ordinal++) if (!cover.has(ordinal) && !dead.has(ordinal)) missing += 1;
  if (missing > 0) throw incomplete(builder, "entries", cover.count, rows);
}

function addVectors(builder: EntryBuilder, entry: FileIndexVectors, rows: number, start: bigint, dead: ReadonlySet<number>): void {
  const width = builder.context.columnIds.length;
  if (entry.columns.length !== width || entry.columns.some((column) => column.length !== rows)) {
    throw incomplete(builder, "rows in vectors", entry.columns[0]?.length ?? 0, rows);
  }
  const rowIds = new BigUint64Array(rows);
  for (let i = 0; i < rows; i++) rowIds[i] = start + BigInt(i);
  const alive = dead.size === 0 ? undefined : Uint32Array.from({ length: rows }, (_, i) => i).filter((i) => !dead.has(i));
  builder.addVectors(entry.columns, rowIds, alive);
}

function checkRowOfFile(file: DataFile, rowId: bigint): void {
  if (typeof rowId === "bigint" && holdsRow(file, rowId)) return;
  throw new ConstraintError(`row ${String(rowId)} is not a row of data file ${file.dataFileId}`, {
    remedy: "Name rows by their row ids: the file's first row id plus the position.",
  });
}

/** Whether a row id can be one of the file's. A file without a first row id embeds its ids, and only its reader knows them. */
function holdsRow(file: DataFile, rowId: bigint): boolean {
  return file.rowIdStart === undefined || (rowId >= file.rowIdStart && rowId < file.rowIdStart + file.recordCount);
}

function deadCount(reader: CatalogReader, file: DataFile): bigint {
  return reader.deleteFilesOf(file.tableId, file.dataFileId).reduce((sum, deleteFile) => sum + deleteFile.deleteCount, 0n);
}

function allPositions(file: DataFile): Set<number> {
  return new Set(Array.from({ length: Number(file.recordCount) }, (_, i) => i));
}

/** Positions of `all` that are not in `without`, ascending. */
function positionsIn(all: ReadonlySet<number>, without: ReadonlySet<number>): Uint32Array {
  return Uint32Array.from([...all].filter((position) => !without.has(position))).sort();
}
