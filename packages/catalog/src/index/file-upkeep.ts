import { ConstraintError, type EntityValue } from "@moraine/codec";
import { checkEntryCount } from "@moraine/index-core";
import type { ReadView } from "@moraine/store";
import type { RowReader } from "../inline/row-reader.js";
import { quoted } from "../model/error-text.js";
import type { AddFileOp, CommitDraft, CreateIndexOp, FileIndexRemoval, FileRowsOp } from "../operations.js";
import {
  alivePositions,
  allPositions,
  deadPositionsAfter,
  deletedByFiles,
  difference,
  refuseSingleDeletes,
  type SingleDeletes,
} from "./dead-rows.js";
import type { EntryBuilder } from "./entry-builder.js";
import { always } from "../unchanged.js";
import { addOnce } from "./large-entries.js";
import {
  addBackfill,
  addFileEntries,
  inDenseRange,
  removeFileEntries,
  requireRow,
  type RowCheck,
} from "./supplied-entries.js";
import { addRows as add, removeRows as remove, requireFiles, scanEntries, type Take } from "./scan-entries.js";
import type { TableFiles } from "./table-files.js";
import type { IndexUpkeep } from "./upkeep.js";

type DataFile = EntityValue["data_file"];

/** What happens to the dead rows of one file in a commit. A file that the commit adds has no `before`, one that it ends no `after`. */
interface FileFate {
  readonly tableId: bigint;
  readonly dataFileId: bigint;
  readonly before: DataFile | undefined;
  readonly after: DataFile | undefined;
  readonly scoped: boolean;
  readonly removals: readonly FileIndexRemoval[];
}

export interface FileUpkeepContext {
  readonly draft: CommitDraft;
  readonly upkeep: IndexUpkeep;
  readonly files: TableFiles | undefined;
  readonly view: ReadView;
  readonly rows: RowReader;
  readonly deletes: SingleDeletes;
}

/**
 * Index entries of rows in data files: those of files that a commit adds, of rows whose delete files it changes, and of the
 * files that a new index has to cover. Values come from the caller, and then must be complete, or from a scoped read.
 */
export class FileUpkeep {
  readonly #context: FileUpkeepContext;
  readonly #adds: AddFileOp[] = [];
  readonly #creates: CreateIndexOp[] = [];
  readonly #fates = new Map<bigint, FileFate>();

  constructor(context: FileUpkeepContext) {
    this.#context = context;
    for (const op of context.draft.indexOps) {
      if (context.draft.get("table", op.tableId) === undefined) continue;
      if (op.kind === "add_file") this.#adds.push(op);
      else if (op.kind === "create_index") this.#creates.push(op);
      else this.#mergeFate(op);
    }
  }

  async run(): Promise<void> {
    this.#checkSize();
    for (const fate of this.#fates.values()) {
      if (fate.before !== undefined) await this.#changeRows(fate, fate.before);
    }
    for (const op of this.#adds) await this.#addFile(op);
    for (const op of this.#creates) await this.#backfill(op);
  }

  /** Takes out the entries of rows that the commit deletes one by one. */
  async removeRows(tableId: bigint, dataFileId: bigint, positions: ReadonlySet<number>): Promise<void> {
    const file = this.#context.draft.base.get("data_file", tableId, dataFileId);
    const builders = this.#standing(tableId);
    if (file === undefined || builders.length === 0) return;
    await this.#scan(file, builders, Uint32Array.from(positions).sort(), remove);
  }

  #mergeFate(op: FileRowsOp): void {
    const { draft } = this.#context;
    const known = this.#fates.get(op.dataFileId);
    const removals = op.removals === "scoped-read" ? [] : op.removals;
    this.#fates.set(op.dataFileId, {
      tableId: op.tableId,
      dataFileId: op.dataFileId,
      before: draft.base.get("data_file", op.tableId, op.dataFileId),
      after: draft.get("data_file", op.tableId, op.dataFileId),
      scoped: op.removals === "scoped-read" || known?.scoped === true,
      removals: [...(known?.removals ?? []), ...removals],
    });
  }

  /** Refuses a commit that must end up with too many entries, removals included, before it reads the first file. */
  #checkSize(): void {
    const { draft, upkeep } = this.#context;
    let entries = 0n;
    for (const { tableId, before, after } of this.#fates.values()) {
      if (before === undefined) continue;
      const died =
        (after === undefined ? before.recordCount : deletedByFiles(draft, after)) - deletedByFiles(draft.base, before);
      entries += (died < 0n ? -died : died) * BigInt(this.#standing(tableId).length);
    }
    for (const op of this.#adds) {
      const file = draft.get("data_file", op.tableId, op.dataFileId);
      const rows = file === undefined ? 0n : file.recordCount - deletedByFiles(draft, file);
      entries += rows * BigInt(upkeep.of(op.tableId).length);
    }
    for (const op of this.#creates) {
      for (const fileId of op.fileIds) {
        const file = draft.base.get("data_file", op.tableId, fileId);
        if (file !== undefined) entries += file.recordCount - deletedByFiles(draft, file);
      }
    }
    checkEntryCount(Number(entries));
  }

  /** The indexes that held entries before this commit and are still there. */
  #standing(tableId: bigint): EntryBuilder[] {
    return this.#context.upkeep.of(tableId).filter((builder) => !builder.isNew);
  }

  async #changeRows(fate: FileFate, file: DataFile): Promise<void> {
    const { draft, view, deletes } = this.#context;
    const builders = this.#standing(fate.tableId);
    if (builders.length === 0) return;
    if (!fate.scoped) {
      await this.#supplyRemovals(fate, file, builders);
      return;
    }
    const files = this.#dataFiles(file);
    const before = await files.deadPositions(draft.base, view, file);
    const after =
      fate.after === undefined ? allPositions(file) : await deadPositionsAfter(files, draft, view, fate.after, deletes);
    const died = difference(after, before);
    const revived = difference(before, after);
    if (died.length > 0) await this.#scan(file, builders, died, remove);
    if (revived.length > 0) await this.#scan(file, builders, revived, add);
  }

  async #supplyRemovals(fate: FileFate, file: DataFile, builders: readonly EntryBuilder[]): Promise<void> {
    const { draft, view, deletes } = this.#context;
    await refuseSingleDeletes(view, file, deletes);
    const before = deletedByFiles(draft.base, file);
    const after = fate.after === undefined ? file.recordCount : deletedByFiles(draft, file);
    if (after < before) {
      throw new ConstraintError(
        `data file ${file.dataFileId} would have ${before - after} rows alive again on a table with indexes`,
        {
          remedy:
            'Replace the delete file by one that names at least the same rows, or pass "scoped-read" so that moraine reads them.',
        },
      );
    }
    for (const builder of builders) {
      await removeFileEntries(builder, file, fate.removals, after - before, this.#isRowOf);
    }
  }

  async #addFile(op: AddFileOp): Promise<void> {
    const { draft, upkeep } = this.#context;
    const file = draft.get("data_file", op.tableId, op.dataFileId);
    if (file === undefined || file.recordCount === 0n) return;
    const coveredByBackfill = new Set(
      this.#creates.filter((create) => create.fileIds.includes(op.dataFileId)).map((create): bigint => create.indexId),
    );
    const builders = upkeep.of(op.tableId).filter((builder) => !coveredByBackfill.has(builder.indexId));
    if (builders.length === 0) return;
    if (op.entries === "scoped-read") {
      await this.#scanNewFile(file, builders);
      return;
    }
    const dead = await this.#deadInNewFile(file, this.#fates.get(op.dataFileId));
    for (const builder of builders) await addFileEntries(draft, builder, file, op.entries, dead);
  }

  async #scanNewFile(file: DataFile, builders: readonly EntryBuilder[]): Promise<void> {
    const { draft, view, deletes } = this.#context;
    const files = this.#dataFiles(file);
    const scan = async (into: readonly EntryBuilder[], positions?: Uint32Array): Promise<void> => {
      if (await files.embedsRowIds(draft, file)) throw embeddedIds(file);
      await this.#scan(file, into, positions, add);
    };
    if (this.#fates.has(file.dataFileId) || deletes.positionsIn(file.tableId, file.dataFileId).size > 0) {
      await scan(builders, alivePositions(file, await deadPositionsAfter(files, draft, view, file, deletes)));
      return;
    }
    // Nobody else knows the file yet: all of its rows live.
    const rows = {
      tableId: file.tableId,
      rowIdStart: file.rowIdStart ?? 0n,
      count: Number(file.recordCount),
      origin: files.originOf(draft, file),
      unchanged: always,
    };
    await addOnce(draft, builders, rows, (into) => scan(into));
  }

  /** Rows of a file that the commit which adds it deletes again. Their entries are never written. */
  async #deadInNewFile(file: DataFile, fate: FileFate | undefined): Promise<ReadonlySet<number>> {
    const { draft, view, deletes } = this.#context;
    const deleted = deletedByFiles(draft, file);
    if (fate === undefined || deleted === 0n) return new Set();
    if (fate.scoped) return await deadPositionsAfter(this.#dataFiles(file), draft, view, file, deletes);
    const rows = new Set<number>();
    for (const { rowId } of fate.removals) {
      await requireRow(file, rowId, this.#isRowOf);
      rows.add(Number(rowId - (file.rowIdStart ?? 0n)));
    }
    if (BigInt(rows.size) !== deleted) {
      throw new ConstraintError(
        `data file ${file.dataFileId} has ${deleted} dead rows, and removals name ${rows.size}`,
        { remedy: "Name every dead row of the file, for every index of the table." },
      );
    }
    return rows;
  }

  async #backfill(op: CreateIndexOp): Promise<void> {
    const { draft, upkeep, view, deletes, files: dataFiles } = this.#context;
    const builder = upkeep.of(op.tableId).find(({ indexId }) => indexId === op.indexId);
    if (builder === undefined) return;
    const files = op.fileIds
      .flatMap((fileId) => draft.get("data_file", op.tableId, fileId) ?? [])
      .filter((file) => file.recordCount > 0n);
    if (Array.isArray(op.backfill) && (op.backfill.length > 0 || dataFiles === undefined)) {
      for (const file of files) await refuseSingleDeletes(view, file, deletes);
      const needed = files.reduce((sum, file) => sum + file.recordCount - deletedByFiles(draft, file), 0n);
      const dead = new Set<bigint>();
      for (const file of files) for (const rowId of await this.#deadRowIds(file)) dead.add(rowId);
      const isLiveRowOf: RowCheck = async (file, rowId) => !dead.has(rowId) && (await this.#isRowOf(file, rowId));
      await addBackfill(builder, files, op.backfill, needed, await this.#diedAfter(op), isLiveRowOf);
      return;
    }
    for (const file of files) {
      const dead = await deadPositionsAfter(this.#dataFiles(file), draft, view, file, deletes);
      await this.#scan(file, [builder], alivePositions(file, dead), add);
    }
  }

  /** Ids of a file's dead rows. Without access to the files nobody knows them, and a caller's entries can only be counted. */
  async #deadRowIds(file: DataFile): Promise<BigUint64Array | readonly bigint[]> {
    const { draft, view, deletes, files } = this.#context;
    if (files === undefined || deletedByFiles(draft, file) === 0n) return [];
    const positions = [...(await deadPositionsAfter(files, draft, view, file, deletes))];
    if (file.rowIdStart !== undefined && !(await files.embedsRowIds(draft, file))) {
      return positions.map((position) => (file.rowIdStart ?? 0n) + BigInt(position));
    }
    return await files.rowIds(draft, file, Uint32Array.from(positions).sort());
  }

  /** Rows that were there when an index was created, and that the same commit ended afterwards: they get no entry. */
  async #diedAfter(op: CreateIndexOp): Promise<(rowId: bigint) => boolean> {
    const { draft, files } = this.#context;
    const expired = op.fileIds.flatMap((fileId) => {
      if (draft.get("data_file", op.tableId, fileId) !== undefined) return [];
      const added = this.#adds.find(({ dataFileId }) => dataFileId === fileId);
      return added ?? draft.base.get("data_file", op.tableId, fileId) ?? [];
    });
    const rows = new Set<bigint>();
    for (const fileId of op.fileIds) {
      const fate = this.#fates.get(fileId);
      if (fate?.after === undefined) continue;
      for (const { rowId } of fate.removals) rows.add(rowId);
      if (fate.scoped) for (const rowId of await this.#deadRowIds(fate.after)) rows.add(rowId);
    }
    for (const { dataFileId } of expired) {
      // What the commit itself added embeds no ids.
      const file = draft.base.get("data_file", op.tableId, dataFileId);
      if (file === undefined || files === undefined || !(await files.embedsRowIds(draft, file))) continue;
      for (const rowId of await files.rowIds(draft, file)) rows.add(rowId);
    }
    return (rowId) => rows.has(rowId) || expired.some((file) => inDenseRange(file, rowId));
  }

  /** A row id outside of the range that a file's first row id opens can still be one that the file embeds. */
  readonly #isRowOf = async (file: DataFile, rowId: bigint): Promise<boolean> => {
    if (inDenseRange(file, rowId)) return true;
    const { files, draft } = this.#context;
    return files !== undefined && (await files.embedsRowIds(draft, file));
  };

  async #scan(
    file: DataFile,
    builders: readonly EntryBuilder[],
    positions: Uint32Array | undefined,
    take: Take,
  ): Promise<void> {
    const { draft, rows, files } = this.#context;
    await scanEntries({ reader: draft, files, rows }, file, builders, positions, take);
  }

  #dataFiles(file: DataFile): TableFiles {
    return requireFiles(this.#context.files, file);
  }
}

/** A registration gives its rows the ids that follow one another, and readers would take those in the file instead. */
function embeddedIds(file: DataFile): ConstraintError {
  return new ConstraintError(
    `data file ${quoted(file.path)} embeds row ids, and registering it gives its rows new ones`,
    { remedy: "Write the file without a row id column." },
  );
}
