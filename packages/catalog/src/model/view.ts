import {
  type ColumnId,
  type IndexId,
  type MacroId,
  type SchemaId,
  type SnapshotId,
  type TableId,
  type ViewId,
  ConstraintError,
} from "@moraine/codec";
import { checkId, checkOneOf, checkString } from "../verbs/arguments.js";
import type { MacroType } from "./change.js";
import { Draft } from "./draft.js";
import { quoted } from "./error-text.js";
import { type OptionScope, checkOptionScope, optionIds } from "./option-scope.js";
import type { CatalogReader, CatalogState } from "./state.js";
import * as values from "./view-values.js";
import type {
  ColumnInfo,
  ColumnStatsInfo,
  DataFileInfo,
  DeleteFileInfo,
  IndexInfo,
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

/**
 * The catalog as it stands at one snapshot, or as a commit's draft leaves it. A value: later commits do not move it.
 * Lookups that find nothing give `undefined`; names are compared exactly, except index names within a schema.
 * Of a past snapshot, statistics, options, mappings and scheduled deletions are those of the present (format.md 8.4).
 */
export class CatalogSnapshot {
  readonly #source: CatalogState | Draft;

  constructor(source: CatalogState | Draft) {
    this.#source = source;
  }

  /** Called by every read: what cannot be read any more throws here. */
  protected checkReadable(): void {
    // A snapshot can be read for as long as somebody holds it.
  }

  get #reader(): CatalogReader {
    this.checkReadable();
    return this.#source;
  }

  /** The snapshot that this is the state of; of a draft, the one that it started from. */
  get currentSnapshot(): SnapshotInfo {
    this.checkReadable();
    const source = this.#source;
    return values.snapshotInfo((source instanceof Draft ? source.base : source).head);
  }

  schemas(): SchemaInfo[] {
    return this.#reader.list("schema").map(values.schemaInfo);
  }

  schemaByName(name: string): SchemaInfo | undefined {
    checkString(name, "name");
    return map(this.#reader.schemaByName(name), values.schemaInfo);
  }

  schemaById(schema: SchemaId): SchemaInfo | undefined {
    checkId(schema, "schema");
    return map(this.#reader.get("schema", schema), values.schemaInfo);
  }

  /** By ascending id. */
  tablesIn(schema: SchemaId): TableInfo[] {
    checkId(schema, "schema");
    return this.#reader.tablesIn(schema).map(values.tableInfo);
  }

  tableByName(schema: SchemaId, name: string): TableInfo | undefined {
    checkId(schema, "schema");
    checkString(name, "name");
    return map(this.#reader.tableByName(schema, name), values.tableInfo);
  }

  tableById(table: TableId): TableInfo | undefined {
    checkId(table, "table");
    return map(this.#reader.get("table", table), values.tableInfo);
  }

  /** By position, nested fields after their parents. */
  columnsOf(table: TableId): ColumnInfo[] {
    checkId(table, "table");
    const columns = this.#reader.list("column", table);
    columns.sort((a, b) => (a.columnOrder < b.columnOrder ? -1 : a.columnOrder > b.columnOrder ? 1 : 0));
    return columns.map(values.columnInfo);
  }

  viewsIn(schema: SchemaId): ViewInfo[] {
    checkId(schema, "schema");
    return this.#reader.viewsIn(schema).map(values.viewInfo);
  }

  viewByName(schema: SchemaId, name: string): ViewInfo | undefined {
    checkId(schema, "schema");
    checkString(name, "name");
    return map(this.#reader.viewByName(schema, name), values.viewInfo);
  }

  viewById(view: ViewId): ViewInfo | undefined {
    checkId(view, "view");
    return map(this.#reader.get("view", view), values.viewInfo);
  }

  macrosIn(schema: SchemaId): MacroInfo[] {
    checkId(schema, "schema");
    return this.#reader.macrosIn(schema).map(values.macroInfo);
  }

  macroByName(schema: SchemaId, name: string, type: MacroType = "scalar"): MacroInfo | undefined {
    checkId(schema, "schema");
    checkString(name, "name");
    checkOneOf(type, ["scalar", "table"], "type");
    return map(this.#reader.macroByName(schema, name, type), values.macroInfo);
  }

  macroById(macro: MacroId): MacroInfo | undefined {
    checkId(macro, "macro");
    return map(this.#reader.get("macro", macro), values.macroInfo);
  }

  mappingsOf(table: TableId): MappingInfo[] {
    checkId(table, "table");
    return this.#reader.list("mapping", table).map(values.mappingInfo);
  }

  partitioningOf(table: TableId): PartitioningInfo | undefined {
    checkId(table, "table");
    return map(this.#reader.list("partition", table)[0], values.partitioningInfo);
  }

  sortingOf(table: TableId): SortingInfo | undefined {
    checkId(table, "table");
    return map(this.#reader.list("sort", table)[0], values.sortingInfo);
  }

  /** Every index of the table, in whatever state, by ascending id. */
  indexesOf(table: TableId): IndexInfo[] {
    checkId(table, "table");
    return this.#reader.indexesOf(table).map(values.indexInfo);
  }

  /** The table's index of exactly that name. */
  indexByName(table: TableId, name: string): IndexInfo | undefined {
    checkId(table, "table");
    checkString(name, "name");
    return map(
      this.#reader.indexesOf(table).find((index) => index.indexName === name),
      values.indexInfo,
    );
  }

  indexById(table: TableId, index: IndexId): IndexInfo | undefined {
    checkId(table, "table");
    checkId(index, "index");
    return map(this.#reader.get("index", table, index), values.indexInfo);
  }

  /**
   * The index of that name in a schema, without regard to case. `constraint` when several answer to it, as catalogs
   * that others wrote may have it: then ask by table.
   */
  indexBySchemaName(schema: SchemaId, name: string): IndexInfo | undefined {
    checkId(schema, "schema");
    checkString(name, "name");
    const found = this.#reader.indexesInSchemaByFoldedName(schema, name);
    if (found.length > 1) {
      const ids = found.map((index) => index.indexId).join(", ");
      throw new ConstraintError(`indexes ${ids} of schema ${schema} all answer to the name ${quoted(name)}`, {
        remedy: "Name the table as well (indexByName), and drop all but one of them.",
      });
    }
    return map(found[0], values.indexInfo);
  }

  /** The value in force: the table's, else its schema's, else the global one. */
  option(scope: OptionScope, key: string): string | undefined {
    checkOptionScope(scope, "scope");
    checkString(key, "key");
    const own = this.#reader.get("option", ...optionIds(scope))?.options.get(key);
    if (own !== undefined || scope === "global") return own;
    if ("schema" in scope) return this.option("global", key);
    const schemaId = this.#reader.get("table", scope.table)?.schemaId as SchemaId | undefined;
    return this.option(schemaId === undefined ? "global" : { schema: schemaId }, key);
  }

  /** Where data files stand, if it was recorded. */
  dataPath(): string | undefined {
    return this.option("global", "data_path");
  }

  /** Tags in force at this snapshot, by key. */
  tagsOf(object: SchemaId | TableId | ViewId): TagInfo[] {
    checkId(object, "object");
    return (this.#reader.get("tag", object)?.entries ?? [])
      .filter((entry) => entry.beginSnapshot <= this.snapshotId && !entry.isNull)
      .filter((entry) => entry.endSnapshot === undefined || entry.endSnapshot > this.snapshotId)
      .map(values.tagInfo)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  scheduledDeletions(): ScheduledDeletion[] {
    return this.#reader.gcFiles().map(values.scheduledDeletion);
  }

  /** By ascending id. */
  dataFilesOf(table: TableId): DataFileInfo[] {
    checkId(table, "table");
    return this.#reader.list("data_file", table).map(values.dataFileInfo);
  }

  deleteFilesOf(table: TableId): DeleteFileInfo[] {
    checkId(table, "table");
    return this.#reader.list("delete_file", table).map(values.deleteFileInfo);
  }

  tableStats(table: TableId): TableStatsInfo | undefined {
    checkId(table, "table");
    return map(this.#reader.get("table_stats", table), values.tableStatsInfo);
  }

  columnStats(table: TableId, column: ColumnId): ColumnStatsInfo | undefined {
    checkId(table, "table");
    checkId(column, "column");
    return map(this.#reader.get("table_column_stats", table, column), values.columnStatsInfo);
  }

  /** The snapshot whose tags and versions count: for a draft, the one that it would make. */
  get snapshotId(): SnapshotId {
    this.checkReadable();
    const source = this.#source;
    return (source instanceof Draft ? source.snapshotId : source.head.snapshotId) as SnapshotId;
  }
}

function map<T, R>(value: T | undefined, convert: (value: T) => R): R | undefined {
  return value === undefined ? undefined : convert(value);
}
