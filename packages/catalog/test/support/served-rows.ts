import {
  type ColumnValue,
  decodeKey,
  decodeValue,
  entityMessages,
  type EntityValue,
  GcFileValue,
  InlineChunkValue,
  InlineFileDeleteValue,
  InlineInlineDeleteValue,
  InlineSchemaValue,
  LooseRowsValue,
  type MessageType,
  SchemaVersionValue,
  SnapshotValue,
} from "@moraine/codec";
import { type ReadView, rowKey, rowValue } from "@moraine/store";
import { parseSchema } from "../../src/inline/arrow-schema.js";
import type { InlineSchema } from "../../src/inline/arrow-schema.js";
import { decodeChunkColumns } from "../../src/rows/inline-columns.js";
import type { PlainValue } from "./row-batches.js";
import { plainValues } from "./plain-columns.js";

/** Rows by table, each a list of values in the order of the columns. */
export type ServedRows = Map<string, PlainValue[][]>;

type Versioned = { [K in keyof EntityValue]: { readonly kind: K; readonly value: EntityValue[K] } }[keyof EntityValue];

const orNull = (value: PlainValue): PlainValue => value ?? null;

/**
 * The rows of DuckLake's tables that the records of a store stand for, worked out record by record and without any of the code that
 * writes them: what a database should hold that has followed every commit.
 */
export async function servedRows(view: ReadView): Promise<ServedRows> {
  const rows: ServedRows = new Map();
  const add = (table: string, ...values: PlainValue[]): void => {
    const known = rows.get(table) ?? [];
    rows.set(table, known);
    known.push(values.map(orNull));
  };
  const columns = new Map<string, ColumnValue[]>();
  const schemas = new Map<string, InlineSchema>();
  const chunks: {
    readonly table: string;
    readonly version: bigint;
    readonly begin: bigint;
    readonly value: InlineChunkValue;
  }[] = [];
  const ends = new Map<string, bigint[]>();
  const registered = new Set<string>();
  for await (const block of view.scan({})) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i).slice());
      const bytes = rowValue(block, i).slice();
      if (key.subspace === "snapshot") snapshotRows(add, decodeValue(SnapshotValue, bytes));
      else if (key.subspace === "schema_version") {
        add(
          "ducklake_schema_versions",
          key.beginSnapshot,
          decodeValue(SchemaVersionValue, bytes).schemaVersion,
          key.tableId,
        );
      } else if (key.subspace === "gc_file") {
        const file = decodeValue(GcFileValue, bytes);
        add(
          "ducklake_files_scheduled_for_deletion",
          file.dataFileId,
          file.path,
          file.pathIsRelative,
          file.scheduleStartMicros,
        );
      } else if (key.subspace === "sys" && key.kind === "loose_rows") {
        for (const { table, cells } of decodeValue(LooseRowsValue, bytes).rows)
          add(table, ...cells.map(({ text }) => (/^\d+$/.test(text ?? "") ? BigInt(text!) : text)));
      } else if (key.subspace === "current" || key.subspace === "history") {
        const { kind, ids } = key.entity;
        const message: MessageType<EntityValue[typeof kind]> = entityMessages[kind];
        const value = decodeValue(message, bytes);
        if (kind === "option") optionRows(add, ids, value as EntityValue["option"]);
        else entityRows(add, { kind, value } as Versioned);
        if (kind !== "column") continue;
        const versions = columns.get(ids.join("/")) ?? [];
        columns.set(ids.join("/"), versions);
        versions.push(value as ColumnValue);
      } else if (key.subspace === "inline") {
        if (key.kind === "schema") {
          const record = decodeValue(InlineSchemaValue, bytes);
          registered.add(`${key.tableId}/${key.schemaVersion}`);
          if (record.sameAsVersion === undefined)
            schemas.set(`${key.tableId}/${key.schemaVersion}`, parseSchema(record.arrowSchema));
        } else if (key.kind === "chunk") {
          const table = `${key.tableId}`;
          chunks.push({
            table,
            version: key.schemaVersion,
            begin: key.beginSnapshot,
            value: decodeValue(InlineChunkValue, bytes),
          });
        } else if (key.kind === "row_tombstone") {
          const name = `${key.tableId}/${key.rowId}`;
          ends.set(name, [...(ends.get(name) ?? []), decodeValue(InlineInlineDeleteValue, bytes).endSnapshot]);
        } else if (key.kind === "schema_dropped") {
          registered.delete(`${key.tableId}/${key.schemaVersion}`);
        } else if (key.kind === "file_delete") {
          const { beginSnapshot } = decodeValue(InlineFileDeleteValue, bytes);
          add(`ducklake_inlined_delete_${key.tableId}`, key.dataFileId, key.position, beginSnapshot);
        }
      }
    }
  }
  for (const versions of columns.values()) columnTagRows(add, versions);
  for (const name of registered) {
    const [table = 0n, version = 0n] = name.split("/").map(BigInt);
    add("ducklake_inlined_data_tables", table, `ducklake_inlined_data_${table}_${version}`, version);
  }
  for (const { table, version, begin, value } of chunks) {
    const schema = schemas.get(`${table}/${version}`);
    if (schema === undefined) throw new Error(`no schema for chunks of ${table}/${version}`);
    const count = Number(value.rowCount);
    const data = decodeChunkColumns(schema, value.body, count).map(plainValues);
    for (let row = 0; row < count; row++) {
      const rowId = value.rowIdStart + BigInt(row);
      const end = (ends.get(`${table}/${rowId}`) ?? []).filter((at) => at > begin).sort((a, b) => Number(a - b))[0];
      add(`ducklake_inlined_data_${table}_${version}`, rowId, begin, end, ...data.map((column) => column[row]));
    }
  }
  return rows;
}

type Add = (table: string, ...values: PlainValue[]) => void;

function snapshotRows(add: Add, value: SnapshotValue): void {
  add(
    "ducklake_snapshot",
    value.snapshotId,
    value.snapshotTimeMicros,
    value.schemaVersion,
    value.nextCatalogId,
    value.nextFileId,
  );
  const { changesMade, author, commitMessage, commitExtraInfo } = value;
  add(
    "ducklake_snapshot_changes",
    value.snapshotId,
    changesMade === "" ? null : changesMade,
    author,
    commitMessage,
    commitExtraInfo,
  );
}

function optionRows(add: Add, [scope, id]: readonly bigint[], { options }: EntityValue["option"]): void {
  for (const [key, value] of options) {
    if (scope === 0n) add("ducklake_metadata", key, value, null, null);
    else add("ducklake_metadata", key, value, scope === 1n ? "schema" : "table", id);
  }
}

/** A tag is in every version of its column that came after it; the newest says how it ended. */
function columnTagRows(add: Add, versions: readonly ColumnValue[]): void {
  const newestFirst = [...versions].sort((a, b) => Number(b.beginSnapshot - a.beginSnapshot));
  const seen = new Set<string>();
  for (const { tableId, columnId, tags } of newestFirst) {
    for (const { beginSnapshot, endSnapshot, key, value, isNull } of tags) {
      if (seen.has(`${beginSnapshot}/${key}`)) continue;
      seen.add(`${beginSnapshot}/${key}`);
      add("ducklake_column_tag", tableId, columnId, beginSnapshot, endSnapshot, key, isNull ? null : value);
    }
  }
}

function entityRows(add: Add, { kind, value: v }: Versioned): void {
  switch (kind) {
    case "schema":
      return add(
        "ducklake_schema",
        v.schemaId,
        v.schemaUuid,
        v.beginSnapshot,
        v.endSnapshot,
        v.schemaName,
        v.path,
        v.pathIsRelative,
      );
    case "table":
      return add(
        "ducklake_table",
        v.tableId,
        v.tableUuid,
        v.beginSnapshot,
        v.endSnapshot,
        v.schemaId,
        v.tableName,
        v.path,
        v.pathIsRelative,
      );
    case "view":
      return add(
        "ducklake_view",
        v.viewId,
        v.viewUuid,
        v.beginSnapshot,
        v.endSnapshot,
        v.schemaId,
        v.viewName,
        v.dialect,
        v.sql,
        v.columnAliases,
      );
    case "column":
      return add(
        "ducklake_column",
        v.columnId,
        v.beginSnapshot,
        v.endSnapshot,
        v.tableId,
        v.columnOrder,
        v.columnName,
        v.columnType,
        v.initialDefault,
        v.defaultValue,
        v.nullsAllowed,
        v.parentColumn,
        v.defaultValueType,
        v.defaultValueDialect,
      );
    case "partition":
      add("ducklake_partition_info", v.partitionId, v.tableId, v.beginSnapshot, v.endSnapshot);
      for (const c of v.columns)
        add("ducklake_partition_column", v.partitionId, v.tableId, c.partitionKeyIndex, c.columnId, c.transform);
      return;
    case "sort":
      add("ducklake_sort_info", v.sortId, v.tableId, v.beginSnapshot, v.endSnapshot);
      for (const e of v.expressions)
        add(
          "ducklake_sort_expression",
          v.sortId,
          v.tableId,
          e.sortKeyIndex,
          e.expression,
          e.dialect,
          e.sortDirection,
          e.nullOrder,
        );
      return;
    case "macro":
      add("ducklake_macro", v.schemaId, v.macroId, v.macroName, v.beginSnapshot, v.endSnapshot);
      for (const impl of v.implementations) {
        add("ducklake_macro_impl", v.macroId, impl.implId, impl.dialect, impl.sql, impl.macroType);
        for (const p of impl.parameters)
          add(
            "ducklake_macro_parameters",
            v.macroId,
            impl.implId,
            p.columnId,
            p.parameterName,
            p.parameterType,
            p.defaultValue,
            p.defaultValueType,
          );
      }
      return;
    case "data_file":
      add(
        "ducklake_data_file",
        v.dataFileId,
        v.tableId,
        v.beginSnapshot,
        v.endSnapshot,
        v.fileOrder,
        v.path,
        v.pathIsRelative,
        v.fileFormat,
        v.recordCount,
        v.fileSizeBytes,
        v.footerSize === 0n ? null : v.footerSize,
        v.rowIdStart,
        v.partitionId,
        v.encryptionKey,
        v.mappingId,
        v.partialMax,
      );
      for (const p of v.partitionValues)
        add(
          "ducklake_file_partition_value",
          v.dataFileId,
          v.tableId,
          p.partitionKeyIndex,
          p.isNull ? null : p.partitionValue,
        );
      return;
    case "delete_file":
      return add(
        "ducklake_delete_file",
        v.deleteFileId,
        v.tableId,
        v.beginSnapshot,
        v.endSnapshot,
        v.dataFileId,
        v.path,
        v.pathIsRelative,
        v.format,
        v.deleteCount,
        v.fileSizeBytes,
        v.footerSize === 0n ? null : v.footerSize,
        v.encryptionKey,
        v.partialMax,
      );
    case "file_column_stats": {
      const counts = v.countsUnknown ? [null, null] : [v.valueCount, v.nullCount];
      add(
        "ducklake_file_column_stats",
        v.dataFileId,
        v.tableId,
        v.columnId,
        v.columnSizeBytes,
        ...counts,
        v.minValue,
        v.maxValue,
        v.containsNan,
        v.extraStats,
      );
      for (const s of v.variantStats) {
        const of = s.countsUnknown ? [null, null] : [s.valueCount, s.nullCount];
        add(
          "ducklake_file_variant_stats",
          v.dataFileId,
          v.tableId,
          v.columnId,
          s.variantPath,
          s.shreddedType,
          s.columnSizeBytes,
          ...of,
          s.minValue,
          s.maxValue,
          s.containsNan,
          s.extraStats,
        );
      }
      return;
    }
    case "table_stats":
      return add("ducklake_table_stats", v.tableId, v.recordCount, v.nextRowId, v.fileSizeBytes);
    case "table_column_stats":
      return add(
        "ducklake_table_column_stats",
        v.tableId,
        v.columnId,
        v.containsNull,
        v.containsNan,
        v.minValue,
        v.maxValue,
        v.extraStats,
      );
    case "tag":
      for (const t of v.entries)
        add("ducklake_tag", v.objectId, t.beginSnapshot, t.endSnapshot, t.key, t.isNull ? null : t.value);
      return;
    case "mapping":
      add("ducklake_column_mapping", v.mappingId, v.tableId, v.mapType);
      for (const n of v.nameMappings)
        add(
          "ducklake_name_mapping",
          v.mappingId,
          n.columnId,
          n.sourceName,
          n.targetFieldId,
          n.parentColumn,
          n.isPartition,
        );
      return;
    case "index":
    case "option":
      return;
  }
}
