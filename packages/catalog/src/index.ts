export {
  Catalog,
  type CatalogOptions,
  type CommitClosure,
  type CommitResult,
  type ReclaimIndexEntriesArguments,
} from "./catalog.js";
export type { CommitOptions, CommitRowsOptions, CommitRowsResult } from "./commit-options.js";
export { CatalogReads, type DeletedFileRowsArguments } from "./catalog-reads.js";
export type { HeadCut } from "./cut.js";
export { ConnectedCatalog } from "./connected/connected-catalog.js";
export type { CatalogLink, LandedCommit, RemoteCut, RemoteMethod } from "./connected/link.js";
export { checkMember, type RecordedCommit, type RecordedMember } from "./connected/recorded-commit.js";
export { type News, readNews } from "./connected/news.js";
export { commitRecorded, StaleBaseError } from "./connected/replay.js";
export type { CommitEvent, FilterEvent, LookupEvent } from "./diagnostics.js";
export type {
  IndexLookupArguments,
  IndexLookupManyArguments,
  IndexNullsArguments,
  IndexRangeArguments,
  IndexTarget,
  RangeBound,
} from "./index/lookups.js";
export type { InlineDeleteArguments } from "./inline/delete.js";
export type { PlainRow } from "./inline/encode-rows.js";
export type { FlushedDataFile, FlushInlinedDataArguments } from "./inline/flush.js";
export type { InlineChunkInput, InlineInsertArguments, InlineRows } from "./inline/insert.js";
export type { InlineScan, RecentRow } from "./inline/recent-rows.js";
export type { FlushInlinedArguments, FlushInlinedResult } from "./flush-inlined.js";
export type { MaintenancePass, MaintenanceStep } from "./maintenance-status.js";
export type { MaintainOptions, MaintainReport } from "./maintenance.js";
export type {
  Backfill,
  FileEntries,
  FileIndexEntry,
  FileIndexRemoval,
  FileIndexVectors,
  FileRemovals,
  IndexEntry,
} from "./operations.js";
export { checkDataPath, checkOpenable, type LakeOutline, outlineOf } from "./engine/openable.js";
export { readStoreLakes, type StoreLakes, writeStoreLakes } from "./store-lakes.js";
export { ReadOnlyCatalog, type ReadOnlyCatalogOptions } from "./read-only-catalog.js";
export type { BackfillEntriesArguments, ScopedFileIndexEntriesArguments } from "./derive-entries.js";
export type { DeletedFileRow } from "./inline/deleted-file-rows.js";
export type { RevisionListener } from "./rows/follow-revisions.js";
export type { RowLoad } from "./rows/serve-load.js";
export {
  type IndexRead,
  ReadScope,
  type RecentRowArguments,
  type RecentRowsArguments,
  type ScanInlineArguments,
} from "./read-scope.js";
export {
  type CreateIndexArguments,
  type ExpireIndexedDataFileArguments,
  type ExpireIndexedDeleteFileArguments,
  type RegisterIndexedDataFileArguments,
  type RegisterIndexedDeleteFileArguments,
  Transaction,
} from "./transaction.js";
export { type Genesis, genesisOf } from "./rows/genesis.js";
export type { ColumnData, RowBatch } from "./rows/column-data.js";
export { type MetadataTable, metadataTables } from "./rows/metadata-tables.js";
export type { FollowStep, RevisionSteps, TableColumn } from "./rows/follow-step.js";
export type { DdlChange, DdlKind, RowChanges, TableChanges } from "./rows/row-changes.js";
export {
  decodeChunkColumns,
  encodeChunkColumns,
  inlineColumnTypes,
  inlineSchemaOf,
  type InlineColumnType,
} from "./rows/inline-columns.js";
