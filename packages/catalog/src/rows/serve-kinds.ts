import {
  ColumnTag,
  type EntityKind,
  type EntityValue,
  equalValue,
  FilePartitionValue,
  FileVariantStats,
  MacroImplementation,
  type MessageType,
  NameMapping,
  PartitionColumn,
  SortExpression,
  TagEntry,
} from "@moraine/codec";
import type { MetadataTable } from "./metadata-tables.js";
import type { RowLists } from "./serve-table.js";

/** A table with the columns that hold the ids of a record's key, in the order of the key. `undefined`: the others are enough. */
export interface KeyedTable {
  readonly table: MetadataTable;
  readonly ids: readonly (string | undefined)[];
}

/** The tables that hold rows of the records of one kind of entity, and how they are made. */
export interface ServedKind<V> {
  /** The table with one row for each record, current or past. */
  readonly own: KeyedTable | undefined;
  /** Tables with rows for the parts of a record. They have no versions: the newest record of an entity counts. */
  readonly parts: readonly KeyedTable[];
  readonly addOwn: (value: V, to: RowLists) => void;
  readonly addParts: (value: V, to: RowLists) => void;
  /** Those of `parts` in which a record has rows. */
  readonly partTables: (value: V) => readonly KeyedTable[];
  readonly sameParts: (a: V, b: V) => boolean;
}

/** Options are rows of `ducklake_metadata`, see serve-settings.ts. DuckLake knows no indexes. */
export type ServedEntityKind = Exclude<EntityKind, "index" | "option">;

function whole<V>(own: KeyedTable | undefined, addOwn: (value: V, to: RowLists) => void): ServedKind<V> {
  return { own, addOwn, parts: [], addParts: () => undefined, partTables: () => [], sameParts: () => true };
}

interface Parts<V, P> {
  readonly message: MessageType<P>;
  readonly table: KeyedTable;
  readonly of: (value: V) => readonly P[];
  /** A further table, with rows for what a part holds. */
  readonly inner?: { readonly table: KeyedTable; readonly of: (part: P) => readonly unknown[] };
  readonly add: (value: V, part: P, to: RowLists) => void;
}

function withParts<V, P>(kind: ServedKind<V>, { message, table, of, inner, add }: Parts<V, P>): ServedKind<V> {
  const tables = inner === undefined ? [table] : [table, inner.table];
  return {
    ...kind,
    parts: tables,
    addParts: (value, to) => of(value).forEach((part) => add(value, part, to)),
    partTables: (value) => {
      if (of(value).length === 0) return [];
      return inner === undefined || of(value).some((part) => inner.of(part).length > 0) ? tables : [table];
    },
    sameParts: (a, b) =>
      of(a).length === of(b).length && of(a).every((part, at) => equalValue(message, part, of(b)[at] as P)),
  };
}

/** What the records of each kind are in DuckLake's tables. */
export const servedKinds: { readonly [K in ServedEntityKind]: ServedKind<EntityValue[K]> } = {
  schema: whole({ table: "ducklake_schema", ids: ["schema_id"] }, (value, to) => to.add("ducklake_schema", value)),
  table: whole({ table: "ducklake_table", ids: ["table_id"] }, (value, to) => to.add("ducklake_table", value)),
  view: whole({ table: "ducklake_view", ids: ["view_id"] }, (value, to) => to.add("ducklake_view", value)),
  column: withParts(
    whole({ table: "ducklake_column", ids: ["table_id", "column_id"] }, (value, to) =>
      to.add("ducklake_column", value),
    ),
    {
      message: ColumnTag,
      table: { table: "ducklake_column_tag", ids: ["table_id", "column_id"] },
      of: ({ tags }) => tags,
      add: (of, part, to) => to.add("ducklake_column_tag", { of, part }),
    },
  ),
  partition: withParts(
    whole({ table: "ducklake_partition_info", ids: [undefined, "partition_id"] }, (value, to) =>
      to.add("ducklake_partition_info", value),
    ),
    {
      message: PartitionColumn,
      table: { table: "ducklake_partition_column", ids: [undefined, "partition_id"] },
      of: ({ columns }) => columns,
      add: (of, part, to) => to.add("ducklake_partition_column", { of, part }),
    },
  ),
  data_file: withParts(
    whole({ table: "ducklake_data_file", ids: [undefined, "data_file_id"] }, (value, to) =>
      to.add("ducklake_data_file", value),
    ),
    {
      message: FilePartitionValue,
      table: { table: "ducklake_file_partition_value", ids: [undefined, "data_file_id"] },
      of: ({ partitionValues }) => partitionValues,
      add: (of, part, to) => to.add("ducklake_file_partition_value", { of, part }),
    },
  ),
  delete_file: whole({ table: "ducklake_delete_file", ids: [undefined, "delete_file_id"] }, (value, to) =>
    to.add("ducklake_delete_file", value),
  ),
  file_column_stats: withParts(
    whole({ table: "ducklake_file_column_stats", ids: [undefined, "data_file_id", "column_id"] }, (value, to) =>
      to.add("ducklake_file_column_stats", value),
    ),
    {
      message: FileVariantStats,
      table: { table: "ducklake_file_variant_stats", ids: [undefined, "data_file_id", "column_id"] },
      of: ({ variantStats }) => variantStats,
      add: (of, part, to) => to.add("ducklake_file_variant_stats", { of, part }),
    },
  ),
  table_stats: whole({ table: "ducklake_table_stats", ids: ["table_id"] }, (value, to) =>
    to.add("ducklake_table_stats", value),
  ),
  table_column_stats: whole({ table: "ducklake_table_column_stats", ids: ["table_id", "column_id"] }, (value, to) =>
    to.add("ducklake_table_column_stats", value),
  ),
  tag: withParts(
    whole(undefined, () => undefined),
    {
      message: TagEntry,
      table: { table: "ducklake_tag", ids: ["object_id"] },
      of: ({ entries }) => entries,
      add: (of, part, to) => to.add("ducklake_tag", { of, part }),
    },
  ),
  sort: withParts(
    whole({ table: "ducklake_sort_info", ids: [undefined, "sort_id"] }, (value, to) =>
      to.add("ducklake_sort_info", value),
    ),
    {
      message: SortExpression,
      table: { table: "ducklake_sort_expression", ids: [undefined, "sort_id"] },
      of: ({ expressions }) => expressions,
      add: (of, part, to) => to.add("ducklake_sort_expression", { of, part }),
    },
  ),
  macro: withParts(
    whole({ table: "ducklake_macro", ids: ["macro_id"] }, (value, to) => to.add("ducklake_macro", value)),
    {
      message: MacroImplementation,
      table: { table: "ducklake_macro_impl", ids: ["macro_id"] },
      of: ({ implementations }) => implementations,
      inner: { table: { table: "ducklake_macro_parameters", ids: ["macro_id"] }, of: ({ parameters }) => parameters },
      add: (of, part, to) => {
        const implementation = { of, part };
        to.add("ducklake_macro_impl", implementation);
        for (const parameter of part.parameters)
          to.add("ducklake_macro_parameters", { of: implementation, part: parameter });
      },
    },
  ),
  mapping: withParts(
    whole({ table: "ducklake_column_mapping", ids: [undefined, "mapping_id"] }, (value, to) =>
      to.add("ducklake_column_mapping", value),
    ),
    {
      message: NameMapping,
      table: { table: "ducklake_name_mapping", ids: [undefined, "mapping_id"] },
      of: ({ nameMappings }) => nameMappings,
      add: (of, part, to) => to.add("ducklake_name_mapping", { of, part }),
    },
  ),
};

export function isServedKind(kind: EntityKind): kind is ServedEntityKind {
  return kind in servedKinds;
}
