import type {
  ColumnTag,
  ColumnValue,
  DataFileValue,
  DeleteFileValue,
  FileColumnStatsValue,
  FilePartitionValue,
  FileVariantStats,
  GcFileValue,
  MacroImplementation,
  MacroParameter,
  MacroValue,
  MappingValue,
  NameMapping,
  PartitionColumn,
  PartitionValue,
  SchemaValue,
  SnapshotValue,
  SortExpression,
  SortValue,
  TableColumnStatsValue,
  TableStatsValue,
  TableValue,
  TagEntry,
  TagValue,
  ViewValue,
} from "@moraine/codec";
import type { CellTypes } from "./encode-column.js";
import type { MetadataTable, metadataTables } from "./metadata-tables.js";
import { ducklakeTypeName } from "./serve-types.js";

/** A part of a record that is a row of its own, with the record. */
export interface PartOf<O, P> {
  readonly of: O;
  readonly part: P;
}

/** A row of `ducklake_metadata`. */
export interface SettingRow {
  readonly key: string;
  readonly value: string;
  readonly scope: "schema" | "table" | undefined;
  readonly scopeId: bigint | undefined;
}

/** A row of `ducklake_schema_versions`. */
export interface SchemaVersionRow {
  readonly tableId: bigint;
  readonly beginSnapshot: bigint;
  readonly schemaVersion: bigint;
}

/** A row of `ducklake_inlined_data_tables`. */
export interface InlinedTableRow {
  readonly tableId: bigint;
  readonly schemaVersion: bigint;
}

/** What the rows of each metadata table are made from. */
export interface RowSources {
  readonly ducklake_metadata: SettingRow;
  readonly ducklake_snapshot: SnapshotValue;
  readonly ducklake_snapshot_changes: SnapshotValue;
  readonly ducklake_schema: SchemaValue;
  readonly ducklake_table: TableValue;
  readonly ducklake_view: ViewValue;
  readonly ducklake_tag: PartOf<TagValue, TagEntry>;
  readonly ducklake_column_tag: PartOf<ColumnValue, ColumnTag>;
  readonly ducklake_data_file: DataFileValue;
  readonly ducklake_file_column_stats: FileColumnStatsValue;
  readonly ducklake_file_variant_stats: PartOf<FileColumnStatsValue, FileVariantStats>;
  readonly ducklake_delete_file: DeleteFileValue;
  readonly ducklake_column: ColumnValue;
  readonly ducklake_table_stats: TableStatsValue;
  readonly ducklake_table_column_stats: TableColumnStatsValue;
  readonly ducklake_partition_info: PartitionValue;
  readonly ducklake_partition_column: PartOf<PartitionValue, PartitionColumn>;
  readonly ducklake_file_partition_value: PartOf<DataFileValue, FilePartitionValue>;
  readonly ducklake_files_scheduled_for_deletion: GcFileValue;
  readonly ducklake_inlined_data_tables: InlinedTableRow;
  readonly ducklake_column_mapping: MappingValue;
  readonly ducklake_name_mapping: PartOf<MappingValue, NameMapping>;
  readonly ducklake_schema_versions: SchemaVersionRow;
  readonly ducklake_macro: MacroValue;
  readonly ducklake_macro_impl: PartOf<MacroValue, MacroImplementation>;
  readonly ducklake_macro_parameters: PartOf<PartOf<MacroValue, MacroImplementation>, MacroParameter>;
  readonly ducklake_sort_info: SortValue;
  readonly ducklake_sort_expression: PartOf<SortValue, SortExpression>;
}

/** How each column of a metadata table is made. */
type Cells<T extends MetadataTable> = {
  readonly [C in (typeof metadataTables)[T][number] as C["name"]]: (source: RowSources[T]) => CellTypes[C["type"]];
};

/** The table that holds inlined rows of one schema version of a table. */
export function inlinedDataTable(tableId: bigint, schemaVersion: bigint): string {
  return `ducklake_inlined_data_${tableId}_${schemaVersion}`;
}

/** No footer has no bytes: 0 says that the size is not known, for which DuckLake has NULL. */
function footerSize({ footerSize: bytes }: DataFileValue | DeleteFileValue): bigint | undefined {
  return bytes === 0n ? undefined : bytes;
}

/**
 * The cells of every metadata table, by column in order. Most are fields of a record as they are (format.md 9.4). What DuckLake
 * always writes and the embedding API may leave out is filled in as DuckLake writes it, where it fails to read a NULL.
 */
export const cells: { readonly [T in MetadataTable]: Cells<T> } = {
  ducklake_metadata: {
    key: (row) => row.key,
    value: (row) => row.value,
    scope: (row) => row.scope,
    scope_id: (row) => row.scopeId,
  },
  ducklake_snapshot: {
    snapshot_id: (row) => row.snapshotId,
    snapshot_time: (row) => row.snapshotTimeMicros,
    schema_version: (row) => row.schemaVersion,
    next_catalog_id: (row) => row.nextCatalogId,
    next_file_id: (row) => row.nextFileId,
  },
  ducklake_snapshot_changes: {
    snapshot_id: (row) => row.snapshotId,
    // DuckLake writes NULL where a snapshot changes nothing.
    changes_made: (row) => (row.changesMade === "" ? undefined : row.changesMade),
    author: (row) => row.author,
    commit_message: (row) => row.commitMessage,
    commit_extra_info: (row) => row.commitExtraInfo,
  },
  ducklake_schema: {
    schema_id: (row) => row.schemaId,
    schema_uuid: (row) => row.schemaUuid,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
    schema_name: (row) => row.schemaName,
    path: (row) => row.path,
    path_is_relative: (row) => row.pathIsRelative,
  },
  ducklake_table: {
    table_id: (row) => row.tableId,
    table_uuid: (row) => row.tableUuid,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
    schema_id: (row) => row.schemaId,
    table_name: (row) => row.tableName,
    path: (row) => row.path,
    path_is_relative: (row) => row.pathIsRelative,
  },
  ducklake_view: {
    view_id: (row) => row.viewId,
    view_uuid: (row) => row.viewUuid,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
    schema_id: (row) => row.schemaId,
    view_name: (row) => row.viewName,
    dialect: (row) => row.dialect,
    sql: (row) => row.sql,
    column_aliases: (row) => row.columnAliases ?? "",
  },
  ducklake_tag: {
    object_id: (row) => row.of.objectId,
    begin_snapshot: (row) => row.part.beginSnapshot,
    end_snapshot: (row) => row.part.endSnapshot,
    key: (row) => row.part.key,
    value: (row) => (row.part.isNull ? undefined : row.part.value),
  },
  ducklake_column_tag: {
    table_id: (row) => row.of.tableId,
    column_id: (row) => row.of.columnId,
    begin_snapshot: (row) => row.part.beginSnapshot,
    end_snapshot: (row) => row.part.endSnapshot,
    key: (row) => row.part.key,
    value: (row) => (row.part.isNull ? undefined : row.part.value),
  },
  ducklake_data_file: {
    data_file_id: (row) => row.dataFileId,
    table_id: (row) => row.tableId,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
    file_order: (row) => row.fileOrder,
    path: (row) => row.path,
    path_is_relative: (row) => row.pathIsRelative,
    file_format: (row) => row.fileFormat,
    record_count: (row) => row.recordCount,
    file_size_bytes: (row) => row.fileSizeBytes,
    footer_size: (row) => footerSize(row),
    row_id_start: (row) => row.rowIdStart,
    partition_id: (row) => row.partitionId,
    encryption_key: (row) => row.encryptionKey,
    mapping_id: (row) => row.mappingId,
    partial_max: (row) => row.partialMax,
  },
  ducklake_file_column_stats: {
    data_file_id: (row) => row.dataFileId,
    table_id: (row) => row.tableId,
    column_id: (row) => row.columnId,
    column_size_bytes: (row) => row.columnSizeBytes,
    value_count: (row) => (row.countsUnknown ? undefined : row.valueCount),
    null_count: (row) => (row.countsUnknown ? undefined : row.nullCount),
    min_value: (row) => row.minValue,
    max_value: (row) => row.maxValue,
    contains_nan: (row) => row.containsNan,
    extra_stats: (row) => row.extraStats,
  },
  ducklake_file_variant_stats: {
    data_file_id: (row) => row.of.dataFileId,
    table_id: (row) => row.of.tableId,
    column_id: (row) => row.of.columnId,
    variant_path: (row) => row.part.variantPath,
    shredded_type: (row) => row.part.shreddedType,
    column_size_bytes: (row) => row.part.columnSizeBytes,
    value_count: (row) => (row.part.countsUnknown ? undefined : row.part.valueCount),
    null_count: (row) => (row.part.countsUnknown ? undefined : row.part.nullCount),
    min_value: (row) => row.part.minValue,
    max_value: (row) => row.part.maxValue,
    contains_nan: (row) => row.part.containsNan,
    extra_stats: (row) => row.part.extraStats,
  },
  ducklake_delete_file: {
    delete_file_id: (row) => row.deleteFileId,
    table_id: (row) => row.tableId,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
    data_file_id: (row) => row.dataFileId,
    path: (row) => row.path,
    path_is_relative: (row) => row.pathIsRelative,
    format: (row) => row.format,
    delete_count: (row) => row.deleteCount,
    file_size_bytes: (row) => row.fileSizeBytes,
    footer_size: (row) => footerSize(row),
    encryption_key: (row) => row.encryptionKey,
    partial_max: (row) => row.partialMax,
  },
  ducklake_column: {
    column_id: (row) => row.columnId,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
    table_id: (row) => row.tableId,
    column_order: (row) => row.columnOrder,
    column_name: (row) => row.columnName,
    column_type: (row) => ducklakeTypeName(row.columnType),
    initial_default: (row) => row.initialDefault,
    default_value: (row) => row.defaultValue,
    nulls_allowed: (row) => row.nullsAllowed,
    parent_column: (row) => row.parentColumn,
    // The embedding API records the SQL text of a default and no type of it; DuckLake fails at a default without one.
    default_value_type: (row) => row.defaultValueType ?? (row.defaultValue === undefined ? "literal" : "expression"),
    default_value_dialect: (row) => row.defaultValueDialect ?? "duckdb",
  },
  ducklake_table_stats: {
    table_id: (row) => row.tableId,
    record_count: (row) => row.recordCount,
    next_row_id: (row) => row.nextRowId,
    file_size_bytes: (row) => row.fileSizeBytes,
  },
  ducklake_table_column_stats: {
    table_id: (row) => row.tableId,
    column_id: (row) => row.columnId,
    contains_null: (row) => row.containsNull,
    contains_nan: (row) => row.containsNan,
    min_value: (row) => row.minValue,
    max_value: (row) => row.maxValue,
    extra_stats: (row) => row.extraStats,
  },
  ducklake_partition_info: {
    partition_id: (row) => row.partitionId,
    table_id: (row) => row.tableId,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
  },
  ducklake_partition_column: {
    partition_id: (row) => row.of.partitionId,
    table_id: (row) => row.of.tableId,
    partition_key_index: (row) => row.part.partitionKeyIndex,
    column_id: (row) => row.part.columnId,
    transform: (row) => row.part.transform,
  },
  ducklake_file_partition_value: {
    data_file_id: (row) => row.of.dataFileId,
    table_id: (row) => row.of.tableId,
    partition_key_index: (row) => row.part.partitionKeyIndex,
    partition_value: (row) => (row.part.isNull ? undefined : row.part.partitionValue),
  },
  ducklake_files_scheduled_for_deletion: {
    data_file_id: (row) => row.dataFileId,
    path: (row) => row.path,
    path_is_relative: (row) => row.pathIsRelative,
    schedule_start: (row) => row.scheduleStartMicros,
  },
  ducklake_inlined_data_tables: {
    table_id: (row) => row.tableId,
    table_name: (row) => inlinedDataTable(row.tableId, row.schemaVersion),
    schema_version: (row) => row.schemaVersion,
  },
  ducklake_column_mapping: {
    mapping_id: (row) => row.mappingId,
    table_id: (row) => row.tableId,
    type: (row) => row.mapType,
  },
  ducklake_name_mapping: {
    mapping_id: (row) => row.of.mappingId,
    column_id: (row) => row.part.columnId,
    source_name: (row) => row.part.sourceName,
    target_field_id: (row) => row.part.targetFieldId,
    parent_column: (row) => row.part.parentColumn,
    is_partition: (row) => row.part.isPartition,
  },
  ducklake_schema_versions: {
    begin_snapshot: (row) => row.beginSnapshot,
    schema_version: (row) => row.schemaVersion,
    table_id: (row) => row.tableId,
  },
  ducklake_macro: {
    schema_id: (row) => row.schemaId,
    macro_id: (row) => row.macroId,
    macro_name: (row) => row.macroName,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
  },
  ducklake_macro_impl: {
    macro_id: (row) => row.of.macroId,
    impl_id: (row) => row.part.implId,
    dialect: (row) => row.part.dialect,
    sql: (row) => row.part.sql,
    type: (row) => row.part.macroType,
  },
  ducklake_macro_parameters: {
    macro_id: (row) => row.of.of.macroId,
    impl_id: (row) => row.of.part.implId,
    column_id: (row) => row.part.columnId,
    parameter_name: (row) => row.part.parameterName,
    parameter_type: (row) => ducklakeTypeName(row.part.parameterType),
    // DuckLake writes the text of a NULL, and fails at a NULL.
    default_value: (row) => row.part.defaultValue ?? "NULL",
    default_value_type: (row) => ducklakeTypeName(row.part.defaultValueType),
  },
  ducklake_sort_info: {
    sort_id: (row) => row.sortId,
    table_id: (row) => row.tableId,
    begin_snapshot: (row) => row.beginSnapshot,
    end_snapshot: (row) => row.endSnapshot,
  },
  ducklake_sort_expression: {
    sort_id: (row) => row.of.sortId,
    table_id: (row) => row.of.tableId,
    sort_key_index: (row) => row.part.sortKeyIndex,
    expression: (row) => row.part.expression,
    dialect: (row) => row.part.dialect,
    sort_direction: (row) => row.part.sortDirection,
    null_order: (row) => row.part.nullOrder,
  },
};
