import { type SchemaId, type TableId, AlreadyExistsError, ConstraintError, InvalidArgumentError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import type { StateKind } from "../model/entities.js";
import { quoted } from "../model/error-text.js";
import { checkId, checkKnown, checkPathName, type Names } from "./arguments.js";
import { type ColumnDefinition, columnValues, flattenColumns } from "./column-tree.js";
import { removeOptions } from "./options.js";
import { requireFreeRelationName, requireSchema, requireTable } from "./require.js";

export interface CreateTableArguments {
  readonly schema: SchemaId;
  /** Also the table's folder. Free among the schema's tables and views. */
  readonly name: string;
  /** At least one. */
  readonly columns: readonly ColumnDefinition[];
}

const createTableNames: Names<CreateTableArguments> = { schema: true, name: true, columns: true };

export interface RenameTableArguments {
  readonly table: TableId;
  readonly name: string;
}

const renameTableNames: Names<RenameTableArguments> = { table: true, name: true };

export interface SetTableSchemaArguments {
  readonly table: TableId;
  readonly schema: SchemaId;
}

const setTableSchemaNames: Names<SetTableSchemaArguments> = { table: true, schema: true };

export interface DropTableArguments {
  readonly table: TableId;
}

const dropTableNames: Names<DropTableArguments> = { table: true };

/**
 * Creates an empty table. Field ids run from 1 in pre-order over nested columns. `already_exists` when a table or view
 * of the schema has the name, `invalid_argument` without columns, with two of one name or one of a type that there is not, `unsupported` for VARIANT.
 */
export function createTable(draft: Draft, args: CreateTableArguments): TableId {
  checkKnown(args, createTableNames, "arguments");
  const schema = requireSchema(draft, checkId(args.schema, "schema"));
  const name = checkPathName(args.name, "name");
  const columns = flattenColumns(args.columns, "columns");
  if (columns.length === 0)
    throw new InvalidArgumentError("columns is empty: a table needs one", { remedy: "Pass at least one column." });
  requireFreeRelationName(draft, schema.schemaId, name);
  const tableId = draft.allocateCatalogId();
  const beginSnapshot = draft.snapshotId;
  draft.put("table", [tableId], {
    tableId,
    tableUuid: draft.newUuid(),
    beginSnapshot,
    endSnapshot: undefined,
    schemaId: schema.schemaId,
    tableName: name,
    path: `${name}/`,
    pathIsRelative: true,
    nextColumnId: BigInt(columns.length) + 1n,
  });
  for (const column of columnValues(columns, { tableId, firstId: 1n, firstOrder: 1n, beginSnapshot })) {
    draft.put("column", [tableId, column.columnId], column);
  }
  draft.put("table_stats", [tableId], draft.tableStats(tableId));
  draft.record({ op: "create_table", tableId, schemaId: schema.schemaId, schemaName: schema.schemaName, name });
  return tableId as TableId;
}

/** Gives a table another name in its schema. Its files stay where they are. `already_exists` when the name is taken, also by itself. */
export function renameTable(draft: Draft, args: RenameTableArguments): void {
  checkKnown(args, renameTableNames, "arguments");
  const table = requireTable(draft, checkId(args.table, "table"));
  const name = checkPathName(args.name, "name");
  requireFreeRelationName(draft, table.schemaId, name, table);
  draft.put("table", [table.tableId], { ...table, beginSnapshot: draft.snapshotId, tableName: name });
  draft.record({ op: "alter_table", tableId: table.tableId });
}

/**
 * Moves a table to another schema. `already_exists` when the schema has a table or view of that name (so also for the
 * table's own schema), or an index of the name of one of the table's indexes; `constraint` while the table has data files:
 * their paths begin with the path of the schema, so they would be looked for in another folder.
 */
export function setTableSchema(draft: Draft, args: SetTableSchemaArguments): void {
  checkKnown(args, setTableSchemaNames, "arguments");
  const table = requireTable(draft, checkId(args.table, "table"));
  const { schemaId } = requireSchema(draft, checkId(args.schema, "schema"));
  requireFreeRelationName(draft, schemaId, table.tableName);
  for (const index of draft.indexesOf(table.tableId)) {
    if (draft.indexesInSchemaByFoldedName(schemaId, index.indexName).length > 0) {
      throw new AlreadyExistsError(`an index ${quoted(index.indexName)} in schema ${schemaId}`);
    }
  }
  const files = draft.count("data_file", table.tableId);
  if (files > 0 && table.pathIsRelative) {
    throw new ConstraintError(`table ${table.tableId} has ${files} data files below its schema's folder`, {
      remedy: "Create a table in the other schema and copy the rows.",
    });
  }
  draft.put("table", [table.tableId], { ...table, beginSnapshot: draft.snapshotId, schemaId });
  draft.record({ op: "alter_table", tableId: table.tableId });
}

const droppedWithTable: readonly StateKind[] = [
  "column",
  "data_file",
  "delete_file",
  "partition",
  "sort",
  "index",
  "table_stats",
  "table_column_stats",
];

/**
 * Drops a table with its columns, files, layout, index definitions, statistics and options. The past keeps seeing them.
 * Its index entries stay in the store until maintenance sweeps them; tags, name mappings and inline records stay for the past.
 */
export function dropTable(draft: Draft, args: DropTableArguments): void {
  const { tableId } = requireTable(draft, checkId(checkKnown(args, dropTableNames, "arguments").table, "table"));
  for (const kind of droppedWithTable) {
    const ids =
      kind === "table_stats" ? [[tableId]] : [...draft.entries(kind, tableId)].map(([entityIds]) => entityIds);
    for (const entityIds of ids) if (draft.get(kind, ...entityIds) !== undefined) draft.remove(kind, entityIds);
  }
  draft.remove("table", [tableId]);
  removeOptions(draft, { table: tableId as TableId });
  draft.record({ op: "drop_table", tableId });
}
