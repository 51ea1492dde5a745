import type { EntityKind } from "./entity-kinds.js";
import {
  bool,
  message,
  type MessageType,
  optionalBool,
  optionalString,
  optionalU64,
  repeated,
  repeatedBool,
  repeatedU64,
  string,
  stringMap,
  u64,
  type ValueOf,
} from "./message.js";

// Field numbers are permanent. A property that a record may lack is `undefined`, never missing.

export const SchemaValue = message("SchemaValue", {
  schemaId: u64(1),
  schemaUuid: string(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  schemaName: string(5),
  path: string(6),
  pathIsRelative: bool(7),
});
export type SchemaValue = ValueOf<typeof SchemaValue>;

export const TableValue = message("TableValue", {
  tableId: u64(1),
  tableUuid: string(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  schemaId: u64(5),
  tableName: string(6),
  path: string(7),
  pathIsRelative: bool(8),
  /** The field id that the next new column gets. Ids of dropped columns are never given again. */
  nextColumnId: u64(9),
});
export type TableValue = ValueOf<typeof TableValue>;

export const ViewValue = message("ViewValue", {
  viewId: u64(1),
  viewUuid: string(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  schemaId: u64(5),
  viewName: string(6),
  dialect: string(7),
  sql: string(8),
  columnAliases: optionalString(9),
});
export type ViewValue = ValueOf<typeof ViewValue>;

export const MacroParameter = message("MacroParameter", {
  columnId: u64(1),
  parameterName: string(2),
  parameterType: string(3),
  defaultValue: optionalString(4),
  defaultValueType: string(5),
});
export type MacroParameter = ValueOf<typeof MacroParameter>;

export const MacroImplementation = message("MacroImplementation", {
  implId: u64(1),
  dialect: string(2),
  sql: string(3),
  /** `scalar` or `table`. */
  macroType: string(4),
  /** By ascending `columnId`. */
  parameters: repeated(5, MacroParameter),
});
export type MacroImplementation = ValueOf<typeof MacroImplementation>;

export const MacroValue = message("MacroValue", {
  macroId: u64(1),
  beginSnapshot: u64(2),
  endSnapshot: optionalU64(3),
  schemaId: u64(4),
  macroName: string(5),
  /** By ascending `implId`. */
  implementations: repeated(6, MacroImplementation),
});
export type MacroValue = ValueOf<typeof MacroValue>;

export const ColumnTag = message("ColumnTag", {
  beginSnapshot: u64(1),
  endSnapshot: optionalU64(2),
  key: string(3),
  value: string(4),
  /** Own: DuckLake's row has NULL, and `value` says nothing. */
  isNull: bool(18),
});
export type ColumnTag = ValueOf<typeof ColumnTag>;

export const ColumnValue = message("ColumnValue", {
  columnId: u64(1),
  beginSnapshot: u64(2),
  endSnapshot: optionalU64(3),
  tableId: u64(4),
  columnOrder: u64(5),
  columnName: string(6),
  columnType: string(7),
  initialDefault: optionalString(8),
  defaultValue: optionalString(9),
  nullsAllowed: bool(10),
  /** The column that this one is a field of. */
  parentColumn: optionalU64(11),
  defaultValueType: optionalString(12),
  defaultValueDialect: optionalString(13),
  tags: repeated(14, ColumnTag),
});
export type ColumnValue = ValueOf<typeof ColumnValue>;

export const PartitionColumn = message("PartitionColumn", {
  partitionKeyIndex: u64(1),
  columnId: u64(2),
  transform: string(3),
});
export type PartitionColumn = ValueOf<typeof PartitionColumn>;

export const PartitionValue = message("PartitionValue", {
  partitionId: u64(1),
  tableId: u64(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  columns: repeated(5, PartitionColumn),
});
export type PartitionValue = ValueOf<typeof PartitionValue>;

export const SortExpression = message("SortExpression", {
  sortKeyIndex: u64(1),
  expression: string(2),
  dialect: string(3),
  sortDirection: string(4),
  nullOrder: string(5),
});
export type SortExpression = ValueOf<typeof SortExpression>;

export const SortValue = message("SortValue", {
  sortId: u64(1),
  tableId: u64(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  expressions: repeated(5, SortExpression),
});
export type SortValue = ValueOf<typeof SortValue>;

/**
 * An index's definition (`IndexValue` in the format). Fields 1 to 17 are the reference's. Fields from 18 on are this
 * implementation's own: the reference's numbers for the same facts are not known.
 */
export const IndexDefinitionValue = message("IndexValue", {
  indexId: u64(1),
  tableId: u64(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  indexName: string(5),
  /** Field ids in declared order. */
  columnIds: repeatedU64(6),
  unique: bool(7),
  /** Absent: ready. `building`: a staged build is under way. `maintaining`: a deferred repair is pending. */
  buildState: optionalString(8),
  /** The data file that a build is reading. */
  buildCursorFile: optionalU64(9),
  /** Highest row id staged so far. Builds that stream inline chunks leave it as it was. */
  buildCursorRowId: optionalU64(10),
  buildDeletesScanned: optionalU64(11),
  /** `true`: a build met a duplicate. Final, and stronger than `buildState`. */
  poisoned: optionalBool(12),
  ducklakeIndexId: optionalU64(13),
  /** Parallel to `columnIds`; empty: all ascending. */
  columnDescending: repeatedBool(14),
  /** Parallel to `columnIds`; empty: all NULLS LAST. */
  columnNullsFirst: repeatedBool(15),
  /** Physical row position covered inside `buildCursorFile`. */
  buildCursorPosition: optionalU64(16),
  /** `true`: deferred maintenance. Absent: synchronous. */
  deferredMaintenance: optionalBool(17),
  /** The snapshot at which a verification found the index equal to the rows. Absent: not certified. */
  certifiedAt: optionalU64(18),
  /** Inline chunk that a build is reading: its schema version, begin snapshot and sequence number. */
  buildInlineSchemaVersion: optionalU64(19),
  buildInlineBeginSnapshot: optionalU64(20),
  buildInlineChunkSeq: optionalU64(21),
  /** Row offset inside that chunk at which a build goes on. */
  buildInlineOffset: optionalU64(22),
  /** Bit 0: that chunk is complete. Bit 1: all inline rows are. */
  buildInlineFlags: optionalU64(23),
  /** The snapshot of the last committed build step. */
  buildCoveredSnapshot: optionalU64(24),
});
export type IndexDefinitionValue = ValueOf<typeof IndexDefinitionValue>;

export const FilePartitionValue = message("FilePartitionValue", {
  partitionKeyIndex: u64(1),
  partitionValue: string(2),
  /** Own: the partition of NULL, and `partitionValue` says nothing. */
  isNull: bool(18),
});
export type FilePartitionValue = ValueOf<typeof FilePartitionValue>;

export const DataFileValue = message("DataFileValue", {
  dataFileId: u64(1),
  tableId: u64(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  fileOrder: optionalU64(5),
  path: string(6),
  pathIsRelative: bool(7),
  fileFormat: string(8),
  recordCount: u64(9),
  fileSizeBytes: u64(10),
  footerSize: u64(11),
  /** Row id of the first row. Absent: the file carries its row ids in a column. */
  rowIdStart: optionalU64(12),
  partitionId: optionalU64(13),
  encryptionKey: optionalString(14),
  mappingId: optionalU64(15),
  partialMax: optionalU64(16),
  partitionValues: repeated(17, FilePartitionValue),
});
export type DataFileValue = ValueOf<typeof DataFileValue>;

export const DeleteFileValue = message("DeleteFileValue", {
  deleteFileId: u64(1),
  tableId: u64(2),
  beginSnapshot: u64(3),
  endSnapshot: optionalU64(4),
  dataFileId: u64(5),
  path: string(6),
  pathIsRelative: bool(7),
  format: string(8),
  deleteCount: u64(9),
  fileSizeBytes: u64(10),
  footerSize: u64(11),
  encryptionKey: optionalString(12),
  partialMax: optionalU64(13),
});
export type DeleteFileValue = ValueOf<typeof DeleteFileValue>;

export const NameMapping = message("NameMapping", {
  /** Position inside the mapping, not a field id. */
  columnId: u64(1),
  sourceName: string(2),
  targetFieldId: u64(3),
  parentColumn: optionalU64(4),
  isPartition: bool(5),
});
export type NameMapping = ValueOf<typeof NameMapping>;

export const MappingValue = message("MappingValue", {
  mappingId: u64(1),
  tableId: u64(2),
  mapType: string(3),
  nameMappings: repeated(4, NameMapping),
});
export type MappingValue = ValueOf<typeof MappingValue>;

export const FileVariantStats = message("FileVariantStats", {
  variantPath: string(1),
  shreddedType: string(2),
  columnSizeBytes: u64(3),
  valueCount: u64(4),
  nullCount: u64(5),
  minValue: optionalString(6),
  maxValue: optionalString(7),
  containsNan: optionalBool(8),
  extraStats: optionalString(9),
  /** Own: DuckLake's row has NULL for the counts of values and of NULLs, and those here say nothing. */
  countsUnknown: bool(18),
});
export type FileVariantStats = ValueOf<typeof FileVariantStats>;

export const FileColumnStatsValue = message("FileColumnStatsValue", {
  dataFileId: u64(1),
  tableId: u64(2),
  columnId: u64(3),
  columnSizeBytes: u64(4),
  valueCount: u64(5),
  nullCount: u64(6),
  minValue: optionalString(7),
  maxValue: optionalString(8),
  containsNan: optionalBool(9),
  extraStats: optionalString(10),
  variantStats: repeated(11, FileVariantStats),
  /** Own: DuckLake's row has NULL for the counts of values and of NULLs, and those here say nothing. */
  countsUnknown: bool(18),
});
export type FileColumnStatsValue = ValueOf<typeof FileColumnStatsValue>;

export const TableStatsValue = message("TableStatsValue", {
  tableId: u64(1),
  recordCount: u64(2),
  /** The row id that the next new row gets. */
  nextRowId: u64(3),
  fileSizeBytes: u64(4),
});
export type TableStatsValue = ValueOf<typeof TableStatsValue>;

export const TableColumnStatsValue = message("TableColumnStatsValue", {
  tableId: u64(1),
  columnId: u64(2),
  containsNull: optionalBool(3),
  containsNan: optionalBool(4),
  minValue: optionalString(5),
  maxValue: optionalString(6),
  extraStats: optionalString(7),
});
export type TableColumnStatsValue = ValueOf<typeof TableColumnStatsValue>;

export const TagEntry = message("TagEntry", {
  beginSnapshot: u64(1),
  endSnapshot: optionalU64(2),
  key: string(3),
  value: string(4),
  /** Own: DuckLake's row has NULL, and `value` says nothing. */
  isNull: bool(18),
});
export type TagEntry = ValueOf<typeof TagEntry>;

export const TagValue = message("TagValue", {
  objectId: u64(1),
  entries: repeated(2, TagEntry),
});
export type TagValue = ValueOf<typeof TagValue>;

export const OptionScopeValue = message("OptionScopeValue", {
  /** Written sorted by key, so that equal options have equal bytes. */
  options: stringMap(1),
});
export type OptionScopeValue = ValueOf<typeof OptionScopeValue>;

/** The record type of each entity kind. */
export interface EntityValue {
  readonly schema: SchemaValue;
  readonly table: TableValue;
  readonly view: ViewValue;
  readonly column: ColumnValue;
  readonly partition: PartitionValue;
  readonly data_file: DataFileValue;
  readonly delete_file: DeleteFileValue;
  readonly file_column_stats: FileColumnStatsValue;
  readonly table_stats: TableStatsValue;
  readonly table_column_stats: TableColumnStatsValue;
  readonly tag: TagValue;
  readonly option: OptionScopeValue;
  readonly sort: SortValue;
  readonly macro: MacroValue;
  readonly mapping: MappingValue;
  readonly index: IndexDefinitionValue;
}

/** The message of each entity kind. */
export const entityMessages: { readonly [K in EntityKind]: MessageType<EntityValue[K]> } = {
  schema: SchemaValue,
  table: TableValue,
  view: ViewValue,
  column: ColumnValue,
  partition: PartitionValue,
  data_file: DataFileValue,
  delete_file: DeleteFileValue,
  file_column_stats: FileColumnStatsValue,
  table_stats: TableStatsValue,
  table_column_stats: TableColumnStatsValue,
  tag: TagValue,
  option: OptionScopeValue,
  sort: SortValue,
  macro: MacroValue,
  mapping: MappingValue,
  index: IndexDefinitionValue,
};
