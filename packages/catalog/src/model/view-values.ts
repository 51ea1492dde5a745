import type {
  ColumnId,
  DataFileId,
  DeleteFileId,
  EntityValue,
  GcFileValue,
  IndexId,
  MacroId,
  MappingId,
  PartitionId,
  RowId,
  SchemaId,
  SnapshotId,
  SnapshotValue,
  SortId,
  TableId,
  TagEntry,
  ViewId,
} from "@moraine/codec";
import { macroTypeOf } from "./content.js";
import type {
  ColumnInfo,
  ColumnStatsInfo,
  DataFileInfo,
  DeleteFileInfo,
  IndexInfo,
  IndexState,
  MacroInfo,
  MappingInfo,
  PartitioningInfo,
  ScheduledDeletion,
  SchemaInfo,
  SnapshotInfo,
  SortingInfo,
  TableInfo,
  TableStatsInfo,
  TagInfo,
  ViewInfo,
} from "./view-types.js";

// One function a kind: a record of the store as callers see it. Nothing of a record is handed out as it is: what a caller does
// to an array that it was given must not reach the catalog.

export function snapshotInfo(value: SnapshotValue): SnapshotInfo {
  return {
    id: value.snapshotId as SnapshotId,
    timeMicros: value.snapshotTimeMicros,
    schemaVersion: value.schemaVersion,
  };
}

export function schemaInfo(value: EntityValue["schema"]): SchemaInfo {
  const { path, pathIsRelative } = value;
  return { id: value.schemaId as SchemaId, uuid: value.schemaUuid, name: value.schemaName, path, pathIsRelative };
}

export function tableInfo(value: EntityValue["table"]): TableInfo {
  return {
    id: value.tableId as TableId,
    uuid: value.tableUuid,
    schemaId: value.schemaId as SchemaId,
    name: value.tableName,
    path: value.path,
    pathIsRelative: value.pathIsRelative,
  };
}

export function columnInfo(value: EntityValue["column"]): ColumnInfo {
  return {
    id: value.columnId as ColumnId,
    name: value.columnName,
    columnType: value.columnType,
    nullsAllowed: value.nullsAllowed,
    defaultValue: value.defaultValue,
    initialDefault: value.initialDefault,
    position: value.columnOrder,
    parentColumn: value.parentColumn as ColumnId | undefined,
  };
}

export function viewInfo(value: EntityValue["view"]): ViewInfo {
  return {
    id: value.viewId as ViewId,
    uuid: value.viewUuid,
    schemaId: value.schemaId as SchemaId,
    name: value.viewName,
    dialect: value.dialect,
    sql: value.sql,
    columnAliases: value.columnAliases,
  };
}

export function macroInfo(value: EntityValue["macro"]): MacroInfo {
  return {
    id: value.macroId as MacroId,
    schemaId: value.schemaId as SchemaId,
    name: value.macroName,
    macroType: macroTypeOf(value),
    implementations: value.implementations.map((implementation) => ({
      dialect: implementation.dialect,
      sql: implementation.sql,
      macroType: implementation.macroType === "table" ? "table" : "scalar",
      parameters: implementation.parameters.map(({ parameterName, parameterType, defaultValue, defaultValueType }) => ({
        parameterName,
        parameterType,
        defaultValue,
        defaultValueType,
      })),
    })),
  };
}

export function mappingInfo(value: EntityValue["mapping"]): MappingInfo {
  return {
    id: value.mappingId as MappingId,
    tableId: value.tableId as TableId,
    mapType: value.mapType,
    nameMappings: value.nameMappings.map((mapping) => ({
      sourceName: mapping.sourceName,
      targetFieldId: mapping.targetFieldId as ColumnId,
      parent: mapping.parentColumn === undefined ? undefined : Number(mapping.parentColumn),
      isPartition: mapping.isPartition,
    })),
  };
}

export function partitioningInfo(value: EntityValue["partition"]): PartitioningInfo {
  return {
    id: value.partitionId as PartitionId,
    columns: value.columns.map((key) => ({ column: key.columnId as ColumnId, transform: key.transform })),
  };
}

export function sortingInfo(value: EntityValue["sort"]): SortingInfo {
  return {
    id: value.sortId as SortId,
    keys: value.expressions.map(({ expression, dialect, sortDirection, nullOrder }) => ({
      expression,
      dialect,
      direction: sortDirection,
      nullOrder,
    })),
  };
}

/** The state that an index is in. The poison mark outranks whatever a build left behind (format.md 3.2). */
export function indexState(value: EntityValue["index"]): IndexState {
  if (value.poisoned === true) return "poisoned";
  if (value.buildState === undefined) return "ready";
  return value.buildState === "maintaining" ? "maintaining" : "building";
}

export function indexInfo(value: EntityValue["index"]): IndexInfo {
  return {
    id: value.indexId as IndexId,
    tableId: value.tableId as TableId,
    name: value.indexName,
    columns: [...value.columnIds] as ColumnId[],
    directions: value.columnIds.map((_, at) => (value.columnDescending[at] === true ? "desc" : "asc")),
    nulls: value.columnIds.map((_, at) => (value.columnNullsFirst[at] === true ? "first" : "last")),
    unique: value.unique,
    maintenance: value.deferredMaintenance === true ? "deferred" : "synchronous",
    state: indexState(value),
    certifiedAt: value.certifiedAt as SnapshotId | undefined,
  };
}

export function tagInfo(entry: TagEntry): TagInfo {
  const { key, value } = entry;
  return {
    beginSnapshot: entry.beginSnapshot as SnapshotId,
    endSnapshot: entry.endSnapshot as SnapshotId | undefined,
    key,
    value,
  };
}

export function scheduledDeletion(value: GcFileValue): ScheduledDeletion {
  const { path, pathIsRelative, scheduleStartMicros } = value;
  return { dataFileId: value.dataFileId as DataFileId, path, pathIsRelative, scheduleStartMicros };
}

export function dataFileInfo(value: EntityValue["data_file"]): DataFileInfo {
  return {
    id: value.dataFileId as DataFileId,
    beginSnapshot: value.beginSnapshot as SnapshotId,
    path: value.path,
    pathIsRelative: value.pathIsRelative,
    fileFormat: value.fileFormat,
    recordCount: value.recordCount,
    fileSizeBytes: value.fileSizeBytes,
    footerSize: value.footerSize,
    rowIdStart: value.rowIdStart as RowId | undefined,
    partitionId: value.partitionId as PartitionId | undefined,
    encryptionKey: value.encryptionKey,
    mappingId: value.mappingId as MappingId | undefined,
    partialMax: value.partialMax as SnapshotId | undefined,
    partitionValues: value.partitionValues.map((partition) => partition.partitionValue),
  };
}

export function deleteFileInfo(value: EntityValue["delete_file"]): DeleteFileInfo {
  return {
    id: value.deleteFileId as DeleteFileId,
    dataFileId: value.dataFileId as DataFileId,
    beginSnapshot: value.beginSnapshot as SnapshotId,
    path: value.path,
    pathIsRelative: value.pathIsRelative,
    format: value.format,
    deleteCount: value.deleteCount,
    fileSizeBytes: value.fileSizeBytes,
    footerSize: value.footerSize,
    encryptionKey: value.encryptionKey,
    partialMax: value.partialMax as SnapshotId | undefined,
  };
}

export function tableStatsInfo(value: EntityValue["table_stats"]): TableStatsInfo {
  const { recordCount, fileSizeBytes } = value;
  return { recordCount, fileSizeBytes, nextRowId: value.nextRowId as RowId };
}

export function columnStatsInfo(value: EntityValue["table_column_stats"]): ColumnStatsInfo {
  const { containsNull, containsNan, extraStats } = value;
  return { containsNull, containsNan, min: value.minValue, max: value.maxValue, extraStats };
}
