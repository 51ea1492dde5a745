import type {
  ColumnId,
  DataFileId,
  DeleteFileId,
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
} from "@moraine/codec";
import type { MacroType } from "./change.js";

// What callers see of the catalog. Ids are branded bigints; what a record may lack is `undefined`, never missing.

export interface SnapshotInfo {
  readonly id: SnapshotId;
  /** Microseconds since the epoch, UTC. */
  readonly timeMicros: bigint;
  readonly schemaVersion: bigint;
}

export interface SchemaInfo {
  readonly id: SchemaId;
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly pathIsRelative: boolean;
}

export interface TableInfo {
  readonly id: TableId;
  readonly uuid: string;
  readonly schemaId: SchemaId;
  readonly name: string;
  readonly path: string;
  readonly pathIsRelative: boolean;
}

export interface ColumnInfo {
  /** The field id. */
  readonly id: ColumnId;
  readonly name: string;
  readonly columnType: string;
  readonly nullsAllowed: boolean;
  /** SQL text of the default for new rows. */
  readonly defaultValue: string | undefined;
  /** The value that rows written before the column have. */
  readonly initialDefault: string | undefined;
  /** Rises along the columns of a table, with gaps where columns were dropped. */
  readonly position: bigint;
  /** The column that this one is a field of. */
  readonly parentColumn: ColumnId | undefined;
}

export interface ViewInfo {
  readonly id: ViewId;
  readonly uuid: string;
  readonly schemaId: SchemaId;
  readonly name: string;
  readonly dialect: string;
  readonly sql: string;
  readonly columnAliases: string | undefined;
}

export interface MacroParameterInfo {
  readonly parameterName: string;
  readonly parameterType: string;
  readonly defaultValue: string | undefined;
  readonly defaultValueType: string;
}

export interface MacroImplementationInfo {
  readonly dialect: string;
  readonly sql: string;
  readonly macroType: MacroType;
  readonly parameters: readonly MacroParameterInfo[];
}

export interface MacroInfo {
  readonly id: MacroId;
  readonly schemaId: SchemaId;
  readonly name: string;
  readonly macroType: MacroType;
  readonly implementations: readonly MacroImplementationInfo[];
}

export interface NameMappingInfo {
  readonly sourceName: string;
  readonly targetFieldId: ColumnId;
  /** Position in the same list of the mapping that this one is nested in. */
  readonly parent: number | undefined;
  readonly isPartition: boolean;
}

export interface MappingInfo {
  readonly id: MappingId;
  readonly tableId: TableId;
  readonly mapType: string;
  readonly nameMappings: readonly NameMappingInfo[];
}

export interface PartitioningInfo {
  readonly id: PartitionId;
  readonly columns: readonly { readonly column: ColumnId; readonly transform: string }[];
}

export interface SortingInfo {
  readonly id: SortId;
  readonly keys: readonly {
    readonly expression: string;
    readonly dialect: string;
    readonly direction: string;
    readonly nullOrder: string;
  }[];
}

/** `maintaining`: complete again after a repair. `poisoned`: a build met a duplicate; only a drop ends it. */
export type IndexState = "ready" | "building" | "maintaining" | "poisoned";

export interface IndexInfo {
  readonly id: IndexId;
  readonly tableId: TableId;
  readonly name: string;
  readonly columns: readonly ColumnId[];
  /** One per column. */
  readonly directions: readonly ("asc" | "desc")[];
  /** One per column. */
  readonly nulls: readonly ("first" | "last")[];
  readonly unique: boolean;
  readonly maintenance: "synchronous" | "deferred";
  readonly state: IndexState;
  /** The snapshot at which the index was found equal to the rows, if it ever was. */
  readonly certifiedAt: SnapshotId | undefined;
}

export interface TagInfo {
  readonly beginSnapshot: SnapshotId;
  readonly endSnapshot: SnapshotId | undefined;
  readonly key: string;
  readonly value: string;
}

export interface ScheduledDeletion {
  readonly dataFileId: DataFileId;
  readonly path: string;
  readonly pathIsRelative: boolean;
  /** Microseconds since the epoch, UTC. */
  readonly scheduleStartMicros: bigint;
}

export interface DataFileInfo {
  readonly id: DataFileId;
  readonly beginSnapshot: SnapshotId;
  readonly path: string;
  readonly pathIsRelative: boolean;
  readonly fileFormat: string;
  readonly recordCount: bigint;
  readonly fileSizeBytes: bigint;
  readonly footerSize: bigint;
  /** Row id of the first row; `undefined` when the file carries its row ids in a column. */
  readonly rowIdStart: RowId | undefined;
  readonly partitionId: PartitionId | undefined;
  readonly encryptionKey: string | undefined;
  readonly mappingId: MappingId | undefined;
  readonly partialMax: SnapshotId | undefined;
  readonly partitionValues: readonly string[];
}

export interface DeleteFileInfo {
  readonly id: DeleteFileId;
  readonly dataFileId: DataFileId;
  readonly beginSnapshot: SnapshotId;
  readonly path: string;
  readonly pathIsRelative: boolean;
  readonly format: string;
  readonly deleteCount: bigint;
  readonly fileSizeBytes: bigint;
  readonly footerSize: bigint;
  readonly encryptionKey: string | undefined;
  readonly partialMax: SnapshotId | undefined;
}

export interface TableStatsInfo {
  readonly recordCount: bigint;
  readonly fileSizeBytes: bigint;
  /** The row id that the next new row gets. */
  readonly nextRowId: RowId;
}

export interface ColumnStatsInfo {
  readonly containsNull: boolean | undefined;
  readonly containsNan: boolean | undefined;
  readonly min: string | undefined;
  readonly max: string | undefined;
  readonly extraStats: string | undefined;
}
