declare const brand: unique symbol;

/** A 64-bit unsigned id of one kind. Brands keep a table id from being passed where a file id is meant. */
export type Id<Kind extends string> = bigint & { readonly [brand]: Kind };

export type SnapshotId = Id<"snapshot">;
export type SchemaId = Id<"schema">;
export type TableId = Id<"table">;
export type ViewId = Id<"view">;
export type MacroId = Id<"macro">;
/** A field id: unique within its table, never reused, the same number as in a Parquet schema. */
export type ColumnId = Id<"column">;
export type PartitionId = Id<"partition">;
export type SortId = Id<"sort">;
export type MappingId = Id<"mapping">;
export type IndexId = Id<"index">;
export type DataFileId = Id<"data_file">;
export type DeleteFileId = Id<"delete_file">;
/** DuckLake's stable row identity, unique within its table. */
export type RowId = Id<"row">;
