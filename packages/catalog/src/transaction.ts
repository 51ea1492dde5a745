import type {
  ColumnId,
  DataFileId,
  DeleteFileId,
  IndexId,
  MacroId,
  PartitionId,
  RowId,
  SchemaId,
  SnapshotId,
  SortId,
  TableId,
  ViewId,
} from "@moraine/codec";
import { ClosedError, CommitConflictError, ConstraintError, InvalidArgumentError, NotFoundError } from "@moraine/codec";
import { type InlineDeleteArguments, inlineDelete } from "./inline/delete.js";
import { type FlushInlinedDataArguments, flushInlinedData } from "./inline/flush.js";
import { type InlineChunks, type InlineInsertArguments, inlineInsert, insertChunks } from "./inline/insert.js";
import { CatalogSnapshot } from "./model/view.js";
import type { Backfill, CommitDraft, FileEntries, FileRemovals } from "./operations.js";
import { checkArray, checkId, checkKnown, checkObject, checkOneOf, type Names, orDefault } from "./verbs/arguments.js";
import {
  addColumn,
  type AddColumnArguments,
  alterColumn,
  type AlterColumnArguments,
  dropColumn,
  type DropColumnArguments,
  renameColumn,
  type RenameColumnArguments,
} from "./verbs/columns.js";
import {
  expireDataFile,
  type ExpireDataFileArguments,
  registerDataFile,
  type RegisterDataFileArguments,
  type RegisteredDataFile,
} from "./verbs/data-files.js";
import {
  expireDeleteFile,
  type ExpireDeleteFileArguments,
  registerDeleteFile,
  type RegisterDeleteFileArguments,
} from "./verbs/delete-files.js";
import {
  createIndexDefinition,
  type CreateIndexDefinitionArguments,
  dropIndex,
  type DropIndexArguments,
} from "./verbs/index-definitions.js";
import { createMacro, type CreateMacroArguments, dropMacro, type DropMacroArguments } from "./verbs/macros.js";
import {
  recordDataPath,
  setOption,
  type SetOptionArguments,
  unsetOption,
  type UnsetOptionArguments,
} from "./verbs/options.js";
import {
  clearPartitioning,
  type ClearPartitioningArguments,
  setPartitioning,
  type SetPartitioningArguments,
} from "./verbs/partitioning.js";
import { createSchema, type CreateSchemaArguments, dropSchema, type DropSchemaArguments } from "./verbs/schemas.js";
import { clearSorting, type ClearSortingArguments, setSorting, type SetSortingArguments } from "./verbs/sorting.js";
import {
  updateColumnStats,
  type UpdateColumnStatsArguments,
  updateTableStats,
  type UpdateTableStatsArguments,
} from "./verbs/stats.js";
import {
  createTable,
  type CreateTableArguments,
  dropTable,
  type DropTableArguments,
  renameTable,
  type RenameTableArguments,
  setTableSchema,
  type SetTableSchemaArguments,
} from "./verbs/tables.js";
import { removeTag, type RemoveTagArguments, setTag, type SetTagArguments } from "./verbs/tags.js";
import {
  alterView,
  type AlterViewArguments,
  createView,
  type CreateViewArguments,
  dropView,
  type DropViewArguments,
} from "./verbs/views.js";

export interface RegisterIndexedDataFileArguments extends RegisterDataFileArguments {
  /** Entries for every row and every index of the table, or `"scoped-read"`. Needed only where the table has indexes. */
  readonly entries?: FileEntries;
}

const registerIndexedDataFileNames: Names<RegisterIndexedDataFileArguments> = {
  table: true,
  file: true,
  entries: true,
};

export interface ExpireIndexedDataFileArguments extends ExpireDataFileArguments {
  /** Entries of the rows that die with the file, or `"scoped-read"`. Needed only where the table has indexes and the file live rows. */
  readonly removals?: FileRemovals;
}

const expireIndexedDataFileNames: Names<ExpireIndexedDataFileArguments> = { table: true, file: true, removals: true };

export interface RegisterIndexedDeleteFileArguments extends RegisterDeleteFileArguments {
  /** Entries of the rows that newly die, or `"scoped-read"`. Needed only where the table has indexes. */
  readonly removals?: FileRemovals;
}

const registerIndexedDeleteFileNames: Names<RegisterIndexedDeleteFileArguments> = {
  table: true,
  file: true,
  removals: true,
};

export interface ExpireIndexedDeleteFileArguments extends ExpireDeleteFileArguments {
  /** `"scoped-read"` to index the rows that come back to life. Not needed where the same commit registers a delete file that names them too. */
  readonly entries?: "scoped-read";
}

const expireIndexedDeleteFileNames: Names<ExpireIndexedDeleteFileArguments> = {
  table: true,
  file: true,
  entries: true,
};

export interface CreateIndexArguments extends Omit<CreateIndexDefinitionArguments, "state" | "columns"> {
  /** Top-level columns by field id or by name, the most significant first. */
  readonly columns: readonly (ColumnId | string)[];
  /**
   * Entries of the rows in data files, or `"scoped-read"`, which is the default where the catalog has a data path. Inline
   * rows are always read by moraine.
   */
  readonly backfill?: Backfill;
  /**
   * The head at which the entries of `backfill` were read. With it, the commit fails with `commit_conflict` where another one
   * has landed since; without it, entries that have become outdated are refused as incomplete or foreign.
   */
  readonly backfillSnapshot?: SnapshotId;
}

const createIndexNames: Names<CreateIndexArguments> = {
  table: true,
  name: true,
  columns: true,
  unique: true,
  orders: true,
  maintenance: true,
  backfill: true,
  backfillSnapshot: true,
};

/**
 * The verbs of one commit, and reads that see what it has staged. Handed to a commit's closure, and usable only while that
 * runs: afterwards verbs and reads fail with `closed`. Each verb checks its arguments at once and throws without leaving anything behind; work on rows (entries, inline
 * deletes, flushes) is done when the closure has returned, and its errors reject the commit.
 */
export class Transaction extends CatalogSnapshot {
  readonly #draft: CommitDraft;
  #open = true;

  constructor(draft: CommitDraft) {
    super(draft);
    this.#draft = draft;
  }

  /** Ends the transaction: its closure has returned. */
  end(): void {
    this.#open = false;
  }

  /** For commits that are recorded elsewhere: the revision that this one builds on. */
  get baseRevision(): bigint {
    return this.#draft.base.batchSeq;
  }

  /** For commits that are recorded elsewhere: the uuids that what is made next gets, in order. */
  takeUuids(uuids: readonly string[]): void {
    this.#draft.takeUuids(uuids);
  }

  /** For commits that are recorded elsewhere: `inlineInsert` of what that made of its rows. */
  insertChunks(args: InlineChunks): RowId {
    return this.#run(insertChunks, args);
  }

  /** Reads end with the closure as verbs do: a draft that has been prepared shows a state that nobody ever commits or sees. */
  protected override checkReadable(): void {
    if (this.#open) return;
    throw new ClosedError("the transaction's closure has returned", {
      remedy: "Await everything that uses the transaction inside of the closure.",
    });
  }

  #run<A extends object, R>(verb: (draft: CommitDraft, args: A) => R, args: A, known?: Names<A>): R {
    this.checkReadable();
    // Each verb checks the names that it knows; here are those of verbs that are given more than they pass on.
    if (known !== undefined) checkKnown(args, known, "arguments");
    else checkObject(args, "arguments");
    return this.#draft.atomically(() => verb(this.#draft, args));
  }

  createSchema(args: CreateSchemaArguments): SchemaId {
    return this.#run(createSchema, args);
  }

  dropSchema(args: DropSchemaArguments): void {
    this.#run(dropSchema, args);
  }

  createTable(args: CreateTableArguments): TableId {
    return this.#run(createTable, args);
  }

  renameTable(args: RenameTableArguments): void {
    this.#run(renameTable, args);
  }

  setTableSchema(args: SetTableSchemaArguments): void {
    this.#run(setTableSchema, args);
  }

  dropTable(args: DropTableArguments): void {
    this.#run(dropTable, args);
  }

  addColumn(args: AddColumnArguments): ColumnId {
    return this.#run(addColumn, args);
  }

  renameColumn(args: RenameColumnArguments): void {
    this.#run(renameColumn, args);
  }

  alterColumn(args: AlterColumnArguments): void {
    this.#run(alterColumn, args);
  }

  dropColumn(args: DropColumnArguments): void {
    this.#run(dropColumn, args);
  }

  setPartitioning(args: SetPartitioningArguments): PartitionId {
    return this.#run(setPartitioning, args);
  }

  clearPartitioning(args: ClearPartitioningArguments): void {
    this.#run(clearPartitioning, args);
  }

  setSorting(args: SetSortingArguments): SortId {
    return this.#run(setSorting, args);
  }

  clearSorting(args: ClearSortingArguments): void {
    this.#run(clearSorting, args);
  }

  /** Creates an index and, in the same commit, the entries of every live row. */
  createIndex(args: CreateIndexArguments): IndexId {
    return this.#run(
      (draft, { backfill, backfillSnapshot, ...definition }) => {
        checkBackfill(backfill);
        checkBackfillSnapshot(draft, backfill, backfillSnapshot);
        const columns = this.#columnIds(definition.table, checkArray(definition.columns, "columns"));
        const indexId = createIndexDefinition(draft, { ...definition, columns });
        const fileIds = draft.list("data_file", definition.table).map((file) => file.dataFileId);
        draft.indexOps.push({ kind: "create_index", tableId: definition.table, indexId, backfill, fileIds });
        return indexId;
      },
      args,
      createIndexNames,
    );
  }

  #columnIds(table: TableId, columns: readonly (ColumnId | string)[]): ColumnId[] {
    const named = columns.some((column) => typeof column === "string") ? this.columnsOf(table) : [];
    return columns.map((column) => {
      if (typeof column !== "string") return column;
      const found = named.find(({ name, parentColumn }) => name === column && parentColumn === undefined);
      if (found === undefined) throw new NotFoundError(`table ${table} has no column of the name given`);
      return found.id;
    });
  }

  dropIndex(args: DropIndexArguments): void {
    this.#run(dropIndex, args);
  }

  registerDataFile(args: RegisterIndexedDataFileArguments): RegisteredDataFile {
    return this.#run(
      (draft, { entries, ...file }) => {
        const registered = registerDataFile(draft, file);
        const checked = checkEntries(draft, file.table, orDefault<FileEntries>(entries, []), "entries");
        draft.indexOps.push({
          kind: "add_file",
          tableId: file.table,
          dataFileId: registered.dataFileId,
          rowIdStart: registered.rowIdStart,
          recordCount: draft.get("data_file", file.table, registered.dataFileId)?.recordCount ?? 0n,
          entries: checked,
        });
        return registered;
      },
      args,
      registerIndexedDataFileNames,
    );
  }

  expireDataFile(args: ExpireIndexedDataFileArguments): void {
    this.#run(
      (draft, { removals, ...file }) => {
        expireDataFile(draft, file);
        const checked = checkEntries(draft, file.table, orDefault<FileRemovals>(removals, []), "removals");
        draft.indexOps.push({ kind: "file_rows", tableId: file.table, dataFileId: file.file, removals: checked });
      },
      args,
      expireIndexedDataFileNames,
    );
  }

  registerDeleteFile(args: RegisterIndexedDeleteFileArguments): DeleteFileId {
    return this.#run(
      (draft, { removals, ...file }) => {
        const deleteFileId = registerDeleteFile(draft, file);
        const checked = checkEntries(draft, file.table, orDefault<FileRemovals>(removals, []), "removals");
        draft.indexOps.push({
          kind: "file_rows",
          tableId: file.table,
          dataFileId: file.file.dataFileId,
          removals: checked,
        });
        return deleteFileId;
      },
      args,
      registerIndexedDeleteFileNames,
    );
  }

  expireDeleteFile(args: ExpireIndexedDeleteFileArguments): void {
    this.#run(
      (draft, { entries, ...file }) => {
        if (entries !== undefined) checkOneOf(entries, ["scoped-read"], "entries");
        const dataFileId = draft.get("delete_file", file.table, file.file)?.dataFileId;
        expireDeleteFile(draft, file);
        if (dataFileId === undefined) return;
        const op = {
          kind: "file_rows",
          tableId: file.table,
          dataFileId: dataFileId as DataFileId,
          removals: entries ?? [],
        } as const;
        draft.indexOps.push(op);
      },
      args,
      expireIndexedDeleteFileNames,
    );
  }

  updateTableStats(args: UpdateTableStatsArguments): void {
    this.#run(updateTableStats, args);
  }

  updateColumnStats(args: UpdateColumnStatsArguments): void {
    this.#run(updateColumnStats, args);
  }

  createView(args: CreateViewArguments): ViewId {
    return this.#run(createView, args);
  }

  alterView(args: AlterViewArguments): void {
    this.#run(alterView, args);
  }

  dropView(args: DropViewArguments): void {
    this.#run(dropView, args);
  }

  createMacro(args: CreateMacroArguments): MacroId {
    return this.#run(createMacro, args);
  }

  dropMacro(args: DropMacroArguments): void {
    this.#run(dropMacro, args);
  }

  setOption(args: SetOptionArguments): void {
    this.#run(setOption, args);
  }

  unsetOption(args: UnsetOptionArguments): void {
    this.#run(unsetOption, args);
  }

  /** For `Catalog.open`: the one time at which a data path is recorded. */
  recordDataPath(dataPath: string): void {
    this.#run((draft) => recordDataPath(draft, dataPath), {});
  }

  setTag(args: SetTagArguments): void {
    this.#run(setTag, args);
  }

  removeTag(args: RemoveTagArguments): void {
    this.#run(removeTag, args);
  }

  inlineInsert(args: InlineInsertArguments): RowId {
    return this.#run(inlineInsert, args);
  }

  inlineDelete(args: InlineDeleteArguments): void {
    this.#run(inlineDelete, args);
  }

  flushInlinedData(args: FlushInlinedDataArguments): DataFileId[] {
    return this.#run(flushInlinedData, args);
  }
}

function checkBackfill(backfill: Backfill | undefined): void {
  if (backfill === undefined || backfill === "scoped-read") return;
  for (const [at, entry] of checkArray(backfill, "backfill").entries()) checkObject(entry, `backfill[${at}]`);
}

/** Entries of a caller describe one head. At any other one they may lack rows, or have dead ones: they are derived again. */
function checkBackfillSnapshot(draft: CommitDraft, backfill: Backfill | undefined, snapshot: bigint | undefined): void {
  if (snapshot === undefined) return;
  if (!Array.isArray(backfill)) {
    throw new InvalidArgumentError("backfillSnapshot says when a backfill was read, and none is given", {
      remedy: "Leave backfillSnapshot out, or give the entries that were read at it.",
    });
  }
  const head = draft.base.head.snapshotId;
  if (checkId(snapshot, "backfillSnapshot") === head) return;
  throw new CommitConflictError(`the backfill describes snapshot ${String(snapshot)}, and the head is ${head}`, {
    remedy: "Derive the entries again, at the head, and repeat the commit.",
  });
}

/** Refuses entries of an index that the table does not have at this point of the commit: they would silently go nowhere. */
function checkEntries<T extends readonly { readonly index: bigint }[] | "scoped-read">(
  draft: CommitDraft,
  table: TableId,
  entries: T,
  argument: string,
): T {
  if (entries === "scoped-read") return entries;
  if (!Array.isArray(entries)) {
    throw new InvalidArgumentError(`${argument} is neither a list nor "scoped-read"`, {
      remedy: 'Pass a list, or "scoped-read" to let moraine read the file.',
    });
  }
  const known = new Set<unknown>(draft.indexesOf(table).map(({ indexId }) => indexId));
  for (const [at, entry] of entries.entries()) {
    const { index } = checkObject(entry as { readonly index: bigint }, `${argument}[${at}]`);
    if (!known.has(index)) {
      throw new ConstraintError(`${argument}[${at}] names index ${String(index)}, which table ${table} does not have`, {
        remedy: "Name the table's own indexes.",
      });
    }
  }
  return entries;
}
