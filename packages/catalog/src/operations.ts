import type { ColumnVector, DataFileId, IndexId, RowId, TableId } from "@moraine/codec";
import type { CommitMemory } from "./commit-memory.js";
import type { InlineContent } from "./inline/content.js";
import type { Draft, StagedOperation } from "./model/draft.js";

/** Values of one index for one row of a file or chunk, by its position from 0. */
export interface FileIndexEntry {
  readonly index: IndexId;
  readonly ordinal: number;
  /** One value for each indexed column, in the index's order; `null` is NULL. Types as in `toIndexValue`. */
  readonly values: readonly unknown[];
}

/** The same for all rows of a file at once, as one vector for each indexed column: the quick form for large files. */
export interface FileIndexVectors {
  readonly index: IndexId;
  readonly columns: readonly ColumnVector[];
}

/** Where the entries of a registered file come from: the caller, or a scoped read of the file by moraine. */
export type FileEntries = readonly FileIndexEntry[] | readonly FileIndexVectors[] | "scoped-read";

/** Values of one index for a row that dies, by its row id. */
export interface FileIndexRemoval {
  readonly index: IndexId;
  readonly rowId: RowId | bigint;
  readonly values: readonly unknown[];
}

/** Where the values of rows that die come from. */
export type FileRemovals = readonly FileIndexRemoval[] | "scoped-read";

/** Values of one row for an index that is being created. */
export interface IndexEntry {
  readonly rowId: RowId | bigint;
  readonly values: readonly unknown[];
}

/** Where the entries of rows in external files come from when an index is created. Inline rows are always read by moraine. */
export type Backfill = readonly IndexEntry[] | "scoped-read";

/** A chunk that a verb inlined. */
export interface InsertOp extends StagedOperation, InlineContent {
  readonly kind: "insert";
  readonly tableId: TableId;
  readonly rowIdStart: bigint;
}

/** A single row that a verb deleted, inline or in a data file. */
export interface DeleteRowOp extends StagedOperation {
  readonly kind: "delete_row";
  readonly tableId: TableId;
  readonly rowId: bigint;
}

/** Chunks of one schema version that a verb moves to files. */
export interface FlushOp extends StagedOperation {
  readonly kind: "flush";
  readonly tableId: TableId;
  readonly schemaVersion: bigint;
  /** The newest snapshot whose chunks are drained; `undefined`: the one that the commit began on. */
  readonly throughSnapshot: bigint | undefined;
  /** The files that take the rows. */
  readonly dataFileIds: readonly bigint[];
}

export type InlineOp = InsertOp | DeleteRowOp | FlushOp;

/** A file that a verb registered. */
export interface AddFileOp extends StagedOperation {
  readonly kind: "add_file";
  readonly tableId: TableId;
  readonly dataFileId: DataFileId;
  readonly rowIdStart: bigint;
  readonly recordCount: bigint;
  readonly entries: FileEntries;
}

/** The set of dead rows of a file changed: a delete file came, went or was replaced, or the file expired. */
export interface FileRowsOp extends StagedOperation {
  readonly kind: "file_rows";
  readonly tableId: TableId;
  readonly dataFileId: DataFileId;
  readonly removals: FileRemovals;
}

/** An index that a verb created, with the files that its backfill has to cover. */
export interface CreateIndexOp extends StagedOperation {
  readonly kind: "create_index";
  readonly tableId: TableId;
  readonly indexId: IndexId;
  readonly backfill: Backfill | undefined;
  readonly fileIds: readonly bigint[];
}

export type IndexOp = AddFileOp | FileRowsOp | CreateIndexOp;

/** The draft of a commit, with the inline and index work that its verbs leave for the commit pipeline. */
export type CommitDraft = Draft<InlineOp, IndexOp, CommitMemory | undefined>;
