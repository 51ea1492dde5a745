export { compareBytes, prefixEnd } from "./bytes.js";
export { type IndexableType, parseColumnType, type TimeUnit } from "./column-type.js";
export type { ColumnVector } from "./column-vector.js";
export { describePath } from "./describe-path.js";
export { type DuckDbField, type DuckDbType, parseDuckDbType } from "./duckdb-type.js";
export { type EntityKind, type EntityKindInfo, entityKinds } from "./entity-kinds.js";
export {
  ColumnTag,
  ColumnValue,
  DataFileValue,
  DeleteFileValue,
  entityMessages,
  type EntityValue,
  FileColumnStatsValue,
  FilePartitionValue,
  FileVariantStats,
  IndexDefinitionValue,
  MacroImplementation,
  MacroParameter,
  MacroValue,
  MappingValue,
  NameMapping,
  OptionScopeValue,
  PartitionColumn,
  PartitionValue,
  SchemaValue,
  SortExpression,
  SortValue,
  TableColumnStatsValue,
  TableStatsValue,
  TableValue,
  TagEntry,
  TagValue,
  ViewValue,
} from "./entity-values.js";
export { equalValue } from "./equal-value.js";
export {
  AlreadyExistsError,
  ClosedError,
  CommitConflictError,
  ConfigurationError,
  ConstraintError,
  CorruptionError,
  DataFileError,
  type ErrorCode,
  type ErrorDetail,
  FencedError,
  IndexBuildingError,
  InterruptedError,
  InvalidArgumentError,
  MigrationRequiredError,
  MoraineError,
  NotFoundError,
  OpenRacedError,
  RetryBudgetExhaustedError,
  SnapshotExpiredError,
  StoreError,
  StoreGoneError,
  StoreLockedError,
  StoreUnavailableError,
  UnsupportedError,
} from "./errors.js";
export type {
  ColumnId,
  DataFileId,
  DeleteFileId,
  Id,
  IndexId,
  MacroId,
  MappingId,
  PartitionId,
  RowId,
  SchemaId,
  SnapshotId,
  SortId,
  TableId,
  ViewId,
} from "./ids.js";
export {
  type IndexColumn,
  type IndexLayout,
  type IndexValue,
  type IndexValueType,
  maxIndexedValueBytes,
} from "./index-value.js";
export {
  type Bound,
  equalityPrefix,
  equalityPrefixes,
  type EqualityPrefixes,
  nullPrefixBounds,
  type RangeBounds,
  rangeBounds,
} from "./index-bounds.js";
export { encodeIndexEntry, type IndexEntry } from "./index-entry-oracle.js";
export { IndexKeyBuilder, type IndexKeys } from "./index-key.js";
export { type DecodedIndexKey, decodeIndexKey } from "./index-key-decode.js";
export {
  chunkLocatorKey,
  chunkLocatorPrefix,
  inlineChunkKey,
  inlineChunkPrefix,
  inlineFileDeleteKey,
  inlineFileDeletePrefix,
  inlineFileDeleteTableKey,
  inlineFileDeleteTablePrefix,
  inlineRowTombstoneKey,
  inlineRowTombstonePrefix,
  inlineSchemaDroppedKey,
  inlineSchemaDroppedPrefix,
  inlineSchemaKey,
  inlineSchemaPrefix,
} from "./inline-keys.js";
export type {
  ChunkLocatorKey,
  ChunkRangeKey,
  InlineChunkKey,
  InlineFileDeleteKey,
  InlineFileDeleteTableKey,
  InlineKey,
  InlineRowDeleteKey,
  InlineRowTombstoneKey,
  InlineSchemaKey,
} from "./inline-key-codec.js";
export { decodeKey, encodeKey, type EntityKey, type IndexEntryKey, type Key, type SysKind } from "./key-codec.js";
export type { KeyRangeBytes } from "./key-range.js";
export {
  changelogKey,
  changelogPrefix,
  currentKey,
  currentPrefix,
  gcFileKey,
  gcFilePrefix,
  historyKey,
  historyPrefix,
  indexPrefix,
  type IndexShape,
  schemaVersionKey,
  schemaVersionPrefix,
  snapshotKey,
  snapshotPrefix,
  sysFormatKey,
  sysHeadKey,
  sysLakesKey,
  sysLooseRowsKey,
  sysMaintenanceStatusKey,
  sysMigrationKey,
} from "./keys.js";
export type { FieldKind, MessageField, MessageType, ValueOf } from "./message.js";
export { isTimestampCount } from "./calendar.js";
export { fromIndexValue, parseIndexValue, toIndexValue } from "./plain-value.js";
export {
  ChangelogValue,
  FormatValue,
  GcFileValue,
  HeadValue,
  InlineChunkRangeValue,
  InlineChunkValue,
  InlineFileDeleteTableValue,
  InlineFileDeleteValue,
  InlineInlineDeleteValue,
  InlineSchemaDroppedValue,
  InlineSchemaValue,
  MaintenanceStatusPassValue,
  MaintenanceStatusStepValue,
  type LakePlaceValue,
  LakesValue,
  LooseRowsValue,
  type LooseRowValue,
  MaintenanceStatusValue,
  MigrationValue,
  SchemaVersionValue,
  SnapshotValue,
} from "./record-values.js";
export { withoutRetryWords } from "./retry-words.js";
export { decodeRowId, encodeRowId } from "./row-id.js";
export { type FieldColumn, ValueColumns } from "./value-columns.js";
export { decodeValue, encodeValue } from "./values.js";
