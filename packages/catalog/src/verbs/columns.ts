import {
  type ColumnId,
  type ColumnValue,
  type TableId,
  AlreadyExistsError,
  ConstraintError,
  InvalidArgumentError,
} from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { quoted } from "../model/error-text.js";
import { foldSqlName } from "../model/name-index.js";
import type { CatalogReader } from "../model/state.js";
import {
  checkId,
  checkKnown,
  checkName,
  checkOptionalBoolean,
  checkOptionalString,
  invalid,
  type Names,
} from "./arguments.js";
import { type ColumnDefinition, columnValues, flattenColumn } from "./column-tree.js";
import { checkColumnType, columnKind } from "./column-type.js";
import { requireColumn, requireTable } from "./require.js";
import { isPromotion } from "./type-promotion.js";

export interface AddColumnArguments {
  readonly table: TableId;
  readonly definition: ColumnDefinition;
}

const addColumnNames: Names<AddColumnArguments> = { table: true, definition: true };

export interface RenameColumnArguments {
  readonly table: TableId;
  readonly column: ColumnId;
  readonly name: string;
}

const renameColumnNames: Names<RenameColumnArguments> = { table: true, column: true, name: true };

/** At least one of the three attributes; one that is left out stays as it is. */
export interface AlterColumnArguments {
  readonly table: TableId;
  readonly column: ColumnId;
  readonly columnType?: string;
  readonly nullsAllowed?: boolean;
  /** SQL text of the new default, or `null` for none. */
  readonly defaultValue?: string | null;
}

const alterColumnNames: Names<AlterColumnArguments> = {
  table: true,
  column: true,
  columnType: true,
  nullsAllowed: true,
  defaultValue: true,
};

export interface DropColumnArguments {
  readonly table: TableId;
  readonly column: ColumnId;
}

const dropColumnNames: Names<DropColumnArguments> = { table: true, column: true };

/**
 * Adds a top-level column, with its fields when it is nested. The field ids are new to the table for good.
 * `already_exists` when the name is taken, `unsupported` for VARIANT.
 */
export function addColumn(draft: Draft, args: AddColumnArguments): ColumnId {
  checkKnown(args, addColumnNames, "arguments");
  const table = requireTable(draft, checkId(args.table, "table"));
  const columns = flattenColumn(args.definition, "definition");
  const live = draft.list("column", table.tableId);
  requireFreeColumnName(live, undefined, (columns[0] as { name: string }).name);
  const firstId = live.reduce(
    (next, column) => (column.columnId >= next ? column.columnId + 1n : next),
    firstColumnId(table.nextColumnId),
  );
  const lastOrder = live.reduce((last, column) => (column.columnOrder > last ? column.columnOrder : last), 0n);
  const place = { tableId: table.tableId, firstId, firstOrder: lastOrder + 1n, beginSnapshot: draft.snapshotId };
  for (const column of columnValues(columns, place)) draft.put("column", [table.tableId, column.columnId], column);
  draft.put("table", [table.tableId], {
    ...table,
    beginSnapshot: draft.snapshotId,
    nextColumnId: firstId + BigInt(columns.length),
  });
  draft.record({ op: "alter_table", tableId: table.tableId });
  return firstId as ColumnId;
}

/** Field ids begin at 1, also where a record made elsewhere never set the counter. */
function firstColumnId(nextColumnId: bigint): bigint {
  return nextColumnId > 1n ? nextColumnId : 1n;
}

/**
 * Renames a column or a nested field among its siblings. Indexes and layouts follow: they name columns by field id.
 * `constraint` for what a list or a map consists of.
 */
export function renameColumn(draft: Draft, args: RenameColumnArguments): void {
  checkKnown(args, renameColumnNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const column = requireColumn(draft, tableId, checkId(args.column, "column"));
  const name = checkName(args.name, "name");
  const live = draft.list("column", tableId);
  refuseFixedField(live, column, "get another name");
  requireFreeColumnName(live, column.parentColumn, name, column);
  putColumn(draft, { ...column, columnName: name });
}

/**
 * Changes a column's type, nullability or default. `constraint` for another type under a live index, `invalid_argument` for one
 * to which DuckLake does not widen the column's, a nested one for a scalar among them.
 */
export function alterColumn(draft: Draft, args: AlterColumnArguments): void {
  checkKnown(args, alterColumnNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const column = requireColumn(draft, tableId, checkId(args.column, "column"));
  const columnType = args.columnType === undefined ? column.columnType : checkColumnType(args.columnType, "columnType");
  const nullsAllowed = checkOptionalBoolean(args.nullsAllowed, "nullsAllowed") ?? column.nullsAllowed;
  const { defaultValue } = args;
  const newDefault =
    defaultValue === null ? undefined : (checkOptionalString(defaultValue, "defaultValue") ?? column.defaultValue);
  if (args.columnType === undefined && args.nullsAllowed === undefined && defaultValue === undefined) {
    throw invalid("arguments", "an object with columnType, nullsAllowed or defaultValue");
  }
  if (columnKind(columnType) !== columnKind(column.columnType)) {
    throw new InvalidArgumentError(
      `columnType makes a ${columnKind(columnType)} of a ${columnKind(column.columnType)}`,
      {
        remedy: "Add a column of the other type and drop this one.",
      },
    );
  }
  if (columnKind(columnType) === "scalar" && !isPromotion(column.columnType, columnType)) {
    throw new InvalidArgumentError(
      `columnType changes column ${column.columnId} of table ${tableId} from ${quoted(column.columnType)} to ${columnType}, which DuckLake does not`,
      { remedy: "Widen the type only, or add a column of the other type and drop this one." },
    );
  }
  if (columnType !== column.columnType) refuseIndexed(draft, tableId, [column.columnId], "get another type");
  putColumn(draft, { ...column, columnType, nullsAllowed, defaultValue: newDefault });
}

/**
 * Drops a column, or a nested field, with everything below it. `constraint` when it is the last top-level column, the
 * only field of a struct, part of a list or a map, a partition key, or under a live index. Its statistics stay until the table goes; no other column gets its id.
 */
export function dropColumn(draft: Draft, args: DropColumnArguments): void {
  checkKnown(args, dropColumnNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const column = requireColumn(draft, tableId, checkId(args.column, "column"));
  const live = draft.list("column", tableId);
  const isLast = live.filter(isSiblingOf(column)).length === 1;
  if (isLast && column.parentColumn === undefined) {
    throw new ConstraintError(`column ${column.columnId} is the last of table ${tableId}`, {
      remedy: "Add another column first, or drop the table.",
    });
  }
  refuseFixedField(live, column, "be dropped");
  if (isLast) {
    throw new ConstraintError(`column ${column.columnId} of table ${tableId} is the only field of a struct`, {
      remedy: "Drop the struct.",
    });
  }
  const dropped = subtree(live, column.columnId);
  refuseIndexed(draft, tableId, dropped, "be dropped");
  refusePartitionKeys(draft, tableId, dropped);
  for (const columnId of dropped) draft.remove("column", [tableId, columnId]);
  draft.record({ op: "alter_table", tableId });
}

function isSiblingOf(column: ColumnValue): (other: ColumnValue) => boolean {
  return (other) => other.parentColumn === column.parentColumn;
}

/** A column and every field below it. */
function subtree(columns: readonly ColumnValue[], root: bigint): bigint[] {
  const children = new Map<bigint, bigint[]>();
  for (const column of columns) {
    if (column.parentColumn === undefined) continue;
    const siblings = children.get(column.parentColumn);
    if (siblings === undefined) children.set(column.parentColumn, [column.columnId]);
    else siblings.push(column.columnId);
  }
  const out = new Set([root]);
  for (const id of out) for (const child of children.get(id) ?? []) out.add(child);
  return [...out];
}

/** Case does not count among siblings. `renamed` is a column that gives up its name: it may change the case of it. */
function requireFreeColumnName(
  columns: readonly ColumnValue[],
  parent: bigint | undefined,
  name: string,
  renamed?: ColumnValue,
): void {
  const folded = foldSqlName(name);
  const holder = columns.find(
    (column) =>
      column.parentColumn === parent &&
      foldSqlName(column.columnName) === folded &&
      (column.columnId !== renamed?.columnId || column.columnName === name),
  );
  if (holder !== undefined) {
    throw new AlreadyExistsError(`column ${quoted(holder.columnName)} of table ${holder.tableId}`);
  }
}

/** What a list or a map consists of goes by fixed names, and is there for as long as the column is. */
function refuseFixedField(columns: readonly ColumnValue[], column: ColumnValue, what: string): void {
  const parent = columns.find(({ columnId }) => columnId === column.parentColumn);
  const kind = parent === undefined ? "struct" : columnKind(parent.columnType);
  if (kind !== "list" && kind !== "map") return;
  throw new ConstraintError(
    `column ${column.columnId} of table ${column.tableId} is part of a ${kind} and cannot ${what}`,
    {
      remedy: "Change the column that it belongs to.",
    },
  );
}

/** An index key is bound to its columns' types, so neither may change under it (specification, "Column DDL on indexed columns"). */
function refuseIndexed(reader: CatalogReader, tableId: bigint, columnIds: readonly bigint[], what: string): void {
  for (const index of reader.indexesOf(tableId)) {
    const columnId = columnIds.find((id) => index.columnIds.includes(id));
    if (columnId === undefined) continue;
    throw new ConstraintError(`column ${columnId} of table ${tableId} cannot ${what} under index ${index.indexId}`, {
      remedy: `Drop index ${index.indexId} first.`,
    });
  }
}

/** Later files could not name their partition: a spec holds one value per key, and this one would have no column. */
function refusePartitionKeys(reader: CatalogReader, tableId: bigint, columnIds: readonly bigint[]): void {
  for (const spec of reader.list("partition", tableId)) {
    const key = spec.columns.find((column) => columnIds.includes(column.columnId));
    if (key === undefined) continue;
    throw new ConstraintError(`column ${key.columnId} of table ${tableId} is a partition key`, {
      remedy: "Clear or change the partitioning first.",
    });
  }
}

function putColumn(draft: Draft, column: ColumnValue): void {
  draft.put("column", [column.tableId, column.columnId], { ...column, beginSnapshot: draft.snapshotId });
  draft.record({ op: "alter_table", tableId: column.tableId });
}
