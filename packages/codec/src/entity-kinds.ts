/** The kinds of catalog entity that have a record of their own. */
export type EntityKind =
  | "schema"
  | "table"
  | "view"
  | "column"
  | "partition"
  | "data_file"
  | "delete_file"
  | "file_column_stats"
  | "table_stats"
  | "table_column_stats"
  | "tag"
  | "option"
  | "sort"
  | "macro"
  | "mapping"
  | "index";

/** How the records of one entity kind are keyed. */
export interface EntityKindInfo {
  /** The byte that names the kind inside a key. Permanent. */
  readonly discriminant: number;
  /** Number of ids in the key, most significant first. */
  readonly components: 1 | 2 | 3;
  /** Whether superseded versions are kept under `history`. */
  readonly versioned: boolean;
}

/**
 * Every entity kind. Ids in key order: schema, table, view, macro, tag: the object's own id; table_stats: table;
 * column, partition, data_file, delete_file, sort, mapping, index, table_column_stats: table, then the object;
 * file_column_stats: table, data file, column; option: scope kind (0 global, 1 schema, 2 table), scope id (0 for global).
 */
export const entityKinds: Readonly<Record<EntityKind, EntityKindInfo>> = {
  schema: { discriminant: 0x02, components: 1, versioned: true },
  table: { discriminant: 0x03, components: 1, versioned: true },
  view: { discriminant: 0x04, components: 1, versioned: true },
  column: { discriminant: 0x05, components: 2, versioned: true },
  partition: { discriminant: 0x06, components: 2, versioned: true },
  data_file: { discriminant: 0x07, components: 2, versioned: true },
  delete_file: { discriminant: 0x08, components: 2, versioned: true },
  file_column_stats: { discriminant: 0x09, components: 3, versioned: false },
  table_stats: { discriminant: 0x0a, components: 1, versioned: false },
  table_column_stats: { discriminant: 0x0b, components: 2, versioned: false },
  tag: { discriminant: 0x0c, components: 1, versioned: false },
  option: { discriminant: 0x0d, components: 2, versioned: false },
  sort: { discriminant: 0x0e, components: 2, versioned: true },
  macro: { discriminant: 0x0f, components: 1, versioned: true },
  mapping: { discriminant: 0x10, components: 2, versioned: false },
  index: { discriminant: 0x11, components: 2, versioned: true },
};

const byDiscriminant: readonly (EntityKind | undefined)[] = (() => {
  const kinds: (EntityKind | undefined)[] = [];
  for (const [kind, info] of Object.entries(entityKinds) as [EntityKind, EntityKindInfo][])
    kinds[info.discriminant] = kind;
  return kinds;
})();

/** The kind of a discriminant byte, or `undefined` for a byte that names none. */
export function entityKindOf(discriminant: number): EntityKind | undefined {
  return byDiscriminant[discriminant];
}
