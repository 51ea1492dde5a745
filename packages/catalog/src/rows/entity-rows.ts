import { ConstraintError, type EntityKind, type EntityValue } from "@moraine/codec";
import type { MetadataRow } from "./metadata-row.js";
import type { MetadataTable } from "./metadata-tables.js";

/** The kinds whose rows have a begin and an end. */
export type VersionedKind = Extract<
  EntityKind,
  "schema" | "table" | "view" | "column" | "data_file" | "delete_file" | "partition" | "sort" | "macro"
>;

/** How rows of one metadata table become records of one kind. */
export interface EntityRows<K extends VersionedKind> {
  readonly kind: K;
  /** Ids in key order. */
  readonly ids: (row: MetadataRow) => bigint[];
  /** The record of a row. `known`: the version before, or the record that is edited, for what the row does not say. */
  readonly value: (row: MetadataRow, known: EntityValue[K] | undefined, children: ChildRows) => EntityValue[K];
}

/** Rows that are kept inside the record of their parent, by parent. */
export class ChildRows {
  readonly #rows = new Map<string, MetadataRow[]>();

  add(row: MetadataRow, parent: string): void {
    const key = `${row.table} ${parent}`;
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, [row]);
    else known.push(row);
  }

  /** The new rows of a parent in the order of `by`; they count as taken. */
  take(table: MetadataTable, parent: string, by: string): MetadataRow[] {
    const key = `${table} ${parent}`;
    const rows = this.#rows.get(key) ?? [];
    this.#rows.delete(key);
    return rows.sort((a, b) => Number(a.id(by) - b.id(by)));
  }

  /** Refuses rows whose parent the commit does not write. */
  refuseOrphans(): void {
    for (const rows of this.#rows.values()) {
      const [row] = rows;
      if (row !== undefined) throw orphan(row.table, rows.length);
    }
  }
}

function orphan(table: MetadataTable, rows: number): ConstraintError {
  return new ConstraintError(`${rows} new rows of ${table} belong to nothing that the same commit writes`, {
    remedy: "Insert them together with the row that they belong to, as DuckLake does.",
  });
}

const schemaRows: EntityRows<"schema"> = {
  kind: "schema",
  ids: (row) => [row.id("schema_id")],
  value: (row) => ({
    schemaId: row.id("schema_id"),
    schemaUuid: row.uuid("schema_uuid"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    schemaName: row.text("schema_name"),
    path: row.text("path"),
    pathIsRelative: row.flag("path_is_relative"),
  }),
};

const tableRows: EntityRows<"table"> = {
  kind: "table",
  ids: (row) => [row.id("table_id")],
  value: (row, known) => ({
    tableId: row.id("table_id"),
    tableUuid: row.uuid("table_uuid"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    schemaId: row.id("schema_id"),
    tableName: row.text("table_name"),
    path: row.text("path"),
    pathIsRelative: row.flag("path_is_relative"),
    nextColumnId: known?.nextColumnId ?? 1n,
  }),
};

const viewRows: EntityRows<"view"> = {
  kind: "view",
  ids: (row) => [row.id("view_id")],
  value: (row) => ({
    viewId: row.id("view_id"),
    viewUuid: row.uuid("view_uuid"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    schemaId: row.id("schema_id"),
    viewName: row.text("view_name"),
    dialect: row.text("dialect"),
    sql: row.text("sql"),
    columnAliases: row.optionalText("column_aliases"),
  }),
};

export const columnRows: EntityRows<"column"> = {
  kind: "column",
  ids: (row) => [row.id("table_id"), row.id("column_id")],
  value: (row, known) => ({
    columnId: row.id("column_id"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    tableId: row.id("table_id"),
    columnOrder: row.id("column_order"),
    columnName: row.text("column_name"),
    columnType: row.text("column_type"),
    initialDefault: row.optionalText("initial_default"),
    defaultValue: row.optionalText("default_value"),
    nullsAllowed: row.flag("nulls_allowed"),
    parentColumn: row.optionalId("parent_column"),
    defaultValueType: row.optionalText("default_value_type"),
    defaultValueDialect: row.optionalText("default_value_dialect"),
    tags: known?.tags ?? [],
  }),
};

const dataFileRows: EntityRows<"data_file"> = {
  kind: "data_file",
  ids: (row) => [row.id("table_id"), row.id("data_file_id")],
  value: (row, known, children) => ({
    dataFileId: row.id("data_file_id"),
    tableId: row.id("table_id"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    fileOrder: row.optionalId("file_order"),
    path: row.text("path"),
    pathIsRelative: row.flag("path_is_relative"),
    fileFormat: row.text("file_format"),
    recordCount: row.id("record_count"),
    fileSizeBytes: row.id("file_size_bytes"),
    // A footer of no bytes does not exist: 0 says that its size is not known, as NULL does.
    footerSize: row.optionalId("footer_size") ?? 0n,
    rowIdStart: row.optionalId("row_id_start"),
    partitionId: row.optionalId("partition_id"),
    encryptionKey: row.optionalText("encryption_key"),
    mappingId: row.optionalId("mapping_id"),
    partialMax: row.optionalId("partial_max"),
    partitionValues: [
      ...(known?.partitionValues ?? []),
      ...children
        .take("ducklake_file_partition_value", `${row.id("data_file_id")}`, "partition_key_index")
        .map((value) => ({
          partitionKeyIndex: value.id("partition_key_index"),
          partitionValue: value.optionalText("partition_value") ?? "",
          isNull: value.isNull("partition_value"),
        })),
    ],
  }),
};

const deleteFileRows: EntityRows<"delete_file"> = {
  kind: "delete_file",
  ids: (row) => [row.id("table_id"), row.id("delete_file_id")],
  value: (row) => ({
    deleteFileId: row.id("delete_file_id"),
    tableId: row.id("table_id"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    dataFileId: row.id("data_file_id"),
    path: row.text("path"),
    pathIsRelative: row.flag("path_is_relative"),
    format: row.text("format"),
    deleteCount: row.id("delete_count"),
    fileSizeBytes: row.id("file_size_bytes"),
    footerSize: row.optionalId("footer_size") ?? 0n,
    encryptionKey: row.optionalText("encryption_key"),
    partialMax: row.optionalId("partial_max"),
  }),
};

const partitionRows: EntityRows<"partition"> = {
  kind: "partition",
  ids: (row) => [row.id("table_id"), row.id("partition_id")],
  value: (row, known, children) => ({
    partitionId: row.id("partition_id"),
    tableId: row.id("table_id"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    columns: [
      ...(known?.columns ?? []),
      ...children
        .take("ducklake_partition_column", `${row.id("partition_id")}`, "partition_key_index")
        .map((column) => ({
          partitionKeyIndex: column.id("partition_key_index"),
          columnId: column.id("column_id"),
          transform: column.text("transform"),
        })),
    ],
  }),
};

const sortRows: EntityRows<"sort"> = {
  kind: "sort",
  ids: (row) => [row.id("table_id"), row.id("sort_id")],
  value: (row, known, children) => ({
    sortId: row.id("sort_id"),
    tableId: row.id("table_id"),
    beginSnapshot: row.id("begin_snapshot"),
    endSnapshot: row.optionalId("end_snapshot"),
    expressions: [
      ...(known?.expressions ?? []),
      ...children.take("ducklake_sort_expression", `${row.id("sort_id")}`, "sort_key_index").map((expression) => ({
        sortKeyIndex: expression.id("sort_key_index"),
        expression: expression.text("expression"),
        dialect: expression.text("dialect"),
        sortDirection: expression.text("sort_direction"),
        nullOrder: expression.text("null_order"),
      })),
    ],
  }),
};

const macroRows: EntityRows<"macro"> = {
  kind: "macro",
  ids: (row) => [row.id("macro_id")],
  value: (row, known, children) => {
    const macroId = row.id("macro_id");
    const implementations = children.take("ducklake_macro_impl", `${macroId}`, "impl_id").map((impl) => ({
      implId: impl.id("impl_id"),
      dialect: impl.text("dialect"),
      sql: impl.text("sql"),
      macroType: impl.text("type"),
      parameters: children
        .take("ducklake_macro_parameters", `${macroId}/${impl.id("impl_id")}`, "column_id")
        .map((parameter) => ({
          columnId: parameter.id("column_id"),
          parameterName: parameter.text("parameter_name"),
          parameterType: parameter.text("parameter_type"),
          defaultValue: parameter.optionalText("default_value"),
          defaultValueType: parameter.text("default_value_type"),
        })),
    }));
    return {
      macroId,
      beginSnapshot: row.id("begin_snapshot"),
      endSnapshot: row.optionalId("end_snapshot"),
      schemaId: row.id("schema_id"),
      macroName: row.text("macro_name"),
      implementations: [...(known?.implementations ?? []), ...implementations],
    };
  },
};

/** Tables of versioned entities, in the order in which their rows are applied: parents first. */
export const versionedTables = {
  ducklake_schema: schemaRows,
  ducklake_table: tableRows,
  ducklake_view: viewRows,
  ducklake_column: columnRows,
  ducklake_partition_info: partitionRows,
  ducklake_data_file: dataFileRows,
  ducklake_delete_file: deleteFileRows,
  ducklake_sort_info: sortRows,
  ducklake_macro: macroRows,
} as const;

export type VersionedTable = keyof typeof versionedTables;

/** Tables whose rows live inside the record of a parent, with the parent's id as `ChildRows` knows it. */
export const childTables: Readonly<Partial<Record<MetadataTable, (row: MetadataRow) => string>>> = {
  ducklake_partition_column: (row) => `${row.id("partition_id")}`,
  ducklake_sort_expression: (row) => `${row.id("sort_id")}`,
  ducklake_macro_impl: (row) => `${row.id("macro_id")}`,
  ducklake_macro_parameters: (row) => `${row.id("macro_id")}/${row.id("impl_id")}`,
  ducklake_file_partition_value: (row) => `${row.id("data_file_id")}`,
  ducklake_file_variant_stats: (row) => `${row.id("data_file_id")}/${row.id("column_id")}`,
  ducklake_name_mapping: (row) => `${row.id("mapping_id")}`,
};
