import {
  bool,
  bytes,
  i64,
  message,
  optionalString,
  optionalU64,
  repeated,
  repeatedBytes,
  repeatedU64,
  string,
  u64,
  type ValueOf,
} from "./message.js";

// The records that are not entities. Field numbers are permanent. Times are microseconds since the epoch, UTC.

export const SnapshotValue = message("SnapshotValue", {
  snapshotId: u64(1),
  snapshotTimeMicros: i64(2),
  schemaVersion: u64(3),
  nextCatalogId: u64(4),
  nextFileId: u64(5),
  // 6 is reserved.
  changesMade: string(7),
  author: optionalString(8),
  commitMessage: optionalString(9),
  commitExtraInfo: optionalString(10),
  schemaChangedTableIds: repeatedU64(11),
  deletedDataFileIds: repeatedU64(12),
});
export type SnapshotValue = ValueOf<typeof SnapshotValue>;

export const ChangelogValue = message("ChangelogValue", {
  /** Current keys that one commit wrote, sorted, each once. */
  keys: repeatedBytes(1),
});
export type ChangelogValue = ValueOf<typeof ChangelogValue>;

export const SchemaVersionValue = message("SchemaVersionValue", { schemaVersion: u64(1) });
export type SchemaVersionValue = ValueOf<typeof SchemaVersionValue>;

export const GcFileValue = message("GcFileValue", {
  dataFileId: u64(1),
  path: string(2),
  pathIsRelative: bool(3),
  scheduleStartMicros: i64(4),
});
export type GcFileValue = ValueOf<typeof GcFileValue>;

export const FormatValue = message("FormatValue", {
  formatVersion: u64(1),
  /** Version of the program that wrote the record. Information only. */
  writerVersion: string(2),
});
export type FormatValue = ValueOf<typeof FormatValue>;

export const HeadValue = message("HeadValue", {
  snapshotId: u64(1),
  /** Rises by one with every commit, also with those that make no snapshot. */
  batchSeq: u64(2),
});
export type HeadValue = ValueOf<typeof HeadValue>;

export const MigrationValue = message("MigrationValue", { fromFormat: u64(1), toFormat: u64(2), cursor: bytes(3) });
export type MigrationValue = ValueOf<typeof MigrationValue>;

export const MaintenanceStatusStepValue = message("MaintenanceStatusStepValue", {
  step: string(1),
  /** `ran`, `skipped` or `failed`. */
  status: string(2),
  detail: string(3),
});
export type MaintenanceStatusStepValue = ValueOf<typeof MaintenanceStatusStepValue>;

export const MaintenanceStatusPassValue = message("MaintenanceStatusPassValue", {
  startedAtMicros: i64(1),
  trigger: string(2),
  steps: repeated(3, MaintenanceStatusStepValue),
});
export type MaintenanceStatusPassValue = ValueOf<typeof MaintenanceStatusPassValue>;

export const MaintenanceStatusValue = message("MaintenanceStatusValue", {
  /** Oldest first. */
  passes: repeated(1, MaintenanceStatusPassValue),
});
export type MaintenanceStatusValue = ValueOf<typeof MaintenanceStatusValue>;

const LooseCellValue = message("LooseCellValue", {
  /** Absent for NULL. Integers are in decimal. */
  text: optionalString(1),
});

const LooseRowValue = message("LooseRowValue", {
  /** The name of a metadata table of DuckLake's. */
  table: string(1),
  /** One for each column of the table, in its order. */
  cells: repeated(2, LooseCellValue),
});
export type LooseRowValue = ValueOf<typeof LooseRowValue>;

/** Rows of metadata tables that were put there by hand and belong to no other record. */
export const LooseRowsValue = message("LooseRowsValue", { rows: repeated(1, LooseRowValue) });
export type LooseRowsValue = ValueOf<typeof LooseRowsValue>;

const LakePlaceValue = message("LakePlaceValue", {
  /** The metadata schema, as the first attachment wrote it. */
  schema: string(1),
  /** Of a store of its own, below `lakes/` in this store's place. It may be empty yet: then there is no lake. */
  folder: string(2),
});
export type LakePlaceValue = ValueOf<typeof LakePlaceValue>;

/** The lakes of a store by DuckLake's metadata schemas. Absent where there is one, in the schema `main`. */
export const LakesValue = message("LakesValue", {
  /** Of the lake that this store itself holds. */
  ownSchema: string(1),
  others: repeated(2, LakePlaceValue),
});
export type LakesValue = ValueOf<typeof LakesValue>;

export const InlineSchemaValue = message("InlineSchemaValue", {
  /** An Arrow IPC stream that holds a schema and nothing else. Empty when `sameAsVersion` stands for it. */
  arrowSchema: bytes(1),
  sameAsVersion: optionalU64(2),
});
export type InlineSchemaValue = ValueOf<typeof InlineSchemaValue>;

export const InlineChunkValue = message("InlineChunkValue", {
  /** Length (u32, little-endian), Arrow IPC message, then its buffers. */
  body: bytes(1),
  rowIdStart: u64(2),
  rowCount: u64(3),
  dataFileId: optionalU64(4),
});
export type InlineChunkValue = ValueOf<typeof InlineChunkValue>;

/** The value of a chunk locator. */
export const InlineChunkRangeValue = message("InlineChunkRangeValue", {
  rowIdStart: u64(1),
  schemaVersion: u64(2),
  beginSnapshot: u64(3),
  chunkSeq: u64(4),
});
export type InlineChunkRangeValue = ValueOf<typeof InlineChunkRangeValue>;

/** The value of a row tombstone: the same `endSnapshot` as in its key. */
export const InlineInlineDeleteValue = message("InlineInlineDeleteValue", { endSnapshot: u64(1) });
export type InlineInlineDeleteValue = ValueOf<typeof InlineInlineDeleteValue>;

export const InlineFileDeleteValue = message("InlineFileDeleteValue", { beginSnapshot: u64(1) });
export type InlineFileDeleteValue = ValueOf<typeof InlineFileDeleteValue>;

export const InlineFileDeleteTableValue = message("InlineFileDeleteTableValue", {});
export type InlineFileDeleteTableValue = ValueOf<typeof InlineFileDeleteTableValue>;

export const InlineSchemaDroppedValue = message("InlineSchemaDroppedValue", {});
export type InlineSchemaDroppedValue = ValueOf<typeof InlineSchemaDroppedValue>;
