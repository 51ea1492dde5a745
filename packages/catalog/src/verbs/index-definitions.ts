import {
  type ColumnId,
  type IndexId,
  type TableId,
  AlreadyExistsError,
  ConstraintError,
  InvalidArgumentError,
  IndexDefinitionValue,
  NotFoundError,
  parseColumnType,
} from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { quoted } from "../model/error-text.js";
import {
  checkArray,
  checkBoolean,
  checkId,
  checkKnown,
  checkName,
  checkOneOf,
  type Names,
  orDefault,
} from "./arguments.js";
import { requireColumn, requireTable } from "./require.js";

/** How one column of an index is ordered. */
export interface ColumnOrder {
  /** Default `asc`. */
  readonly direction?: "asc" | "desc";
  /** Default `last`, whatever the direction. */
  readonly nulls?: "first" | "last";
}

const columnOrderNames: Names<ColumnOrder> = { direction: true, nulls: true };

export type IndexMaintenance = "synchronous" | "deferred";

export interface CreateIndexDefinitionArguments {
  readonly table: TableId;
  /** Free among the indexes of the table's schema, without regard to case. */
  readonly name: string;
  /** Field ids of top-level columns, the most significant first. */
  readonly columns: readonly ColumnId[];
  /** Default `false`. */
  readonly unique?: boolean;
  /** Empty or left out: ascending, NULLs last. Otherwise one per column. */
  readonly orders?: readonly ColumnOrder[];
  /** Default `synchronous`. */
  readonly maintenance?: IndexMaintenance;
  /** `building` for an index whose entries follow in later commits. Default `ready`. */
  readonly state?: "ready" | "building";
}

const createIndexDefinitionNames: Names<CreateIndexDefinitionArguments> = {
  table: true,
  name: true,
  columns: true,
  unique: true,
  orders: true,
  maintenance: true,
  state: true,
};

export interface DropIndexArguments {
  readonly index: IndexId;
}

const dropIndexNames: Names<DropIndexArguments> = { index: true };

/**
 * Writes the definition of an index; the entries are the engine's. `already_exists` when the schema has an index of
 * the name, `not_found` for a table or column that is not live, `constraint` for a nested column or a
 * type that has no order in an index, `invalid_argument` for a column twice or a deferred index that is to refuse duplicates.
 */
export function createIndexDefinition(draft: Draft, args: CreateIndexDefinitionArguments): IndexId {
  checkKnown(args, createIndexDefinitionNames, "arguments");
  const table = requireTable(draft, checkId(args.table, "table"));
  const { tableId } = table;
  const name = checkName(args.name, "name");
  const columnIds = checkColumns(draft, tableId, args.columns);
  const unique = checkBoolean(orDefault(args.unique, false), "unique");
  const orders = checkOrders(orDefault(args.orders, []), columnIds.length);
  const maintenance = checkOneOf(
    orDefault(args.maintenance, "synchronous"),
    ["synchronous", "deferred"],
    "maintenance",
  );
  const state = checkOneOf(orDefault(args.state, "ready"), ["ready", "building"], "state");
  if (unique && maintenance === "deferred") {
    throw new InvalidArgumentError(
      "maintenance: an index that refuses duplicates cannot be deferred: it must know every row before a commit lands",
      {
        remedy: "Choose synchronous maintenance.",
      },
    );
  }
  const holder = draft.indexesInSchemaByFoldedName(table.schemaId, name)[0];
  if (holder !== undefined) {
    throw new AlreadyExistsError(
      `index ${holder.indexId} of table ${holder.tableId} is called ${quoted(holder.indexName)} in schema ${table.schemaId}`,
    );
  }
  const indexId = draft.allocateCatalogId();
  const descending = orders.map((order) => order.direction === "desc");
  const nullsFirst = orders.map((order) => order.nulls === "first");
  draft.put("index", [tableId, indexId], {
    ...IndexDefinitionValue.defaults,
    indexId,
    tableId,
    beginSnapshot: draft.snapshotId,
    indexName: name,
    columnIds,
    unique,
    buildState: state === "building" ? "building" : undefined,
    columnDescending: descending.includes(true) ? descending : [],
    columnNullsFirst: nullsFirst.includes(true) ? nullsFirst : [],
    deferredMaintenance: maintenance === "deferred" ? true : undefined,
  });
  draft.record({ op: "alter_table", tableId });
  return indexId as IndexId;
}

/** Ends an index. Nothing reads its entries from then on; maintenance takes them. `not_found` when it is not live. */
export function dropIndex(draft: Draft, args: DropIndexArguments): void {
  const indexId = checkId(checkKnown(args, dropIndexNames, "arguments").index, "index");
  const index = draft.indexById(indexId);
  if (index === undefined) throw new NotFoundError(`index ${indexId}`);
  draft.remove("index", [index.tableId, indexId]);
  draft.record({ op: "alter_table", tableId: index.tableId });
}

function checkColumns(draft: Draft, tableId: bigint, columns: readonly ColumnId[]): bigint[] {
  const columnIds = checkArray(columns, "columns").map((id, at) => checkId(id, `columns[${at}]`));
  if (columnIds.length === 0)
    throw new InvalidArgumentError("columns is empty: an index needs one", { remedy: "Pass at least one field id." });
  if (new Set(columnIds).size < columnIds.length) {
    throw new InvalidArgumentError("columns names one column twice", { remedy: "Name each column once." });
  }
  for (const columnId of columnIds) {
    const column = requireColumn(draft, tableId, columnId);
    if (column.parentColumn !== undefined) {
      throw new ConstraintError(`column ${columnId} of table ${tableId} is a field of column ${column.parentColumn}`, {
        remedy: "Index top-level columns only; copy the field to a column of its own.",
      });
    }
    parseColumnType(column.columnType);
  }
  return columnIds;
}

function checkOrders(given: readonly ColumnOrder[], columnCount: number): ColumnOrder[] {
  const orders = checkArray(given, "orders");
  if (orders.length !== 0 && orders.length !== columnCount) {
    throw new InvalidArgumentError(`orders has ${orders.length} entries for an index of ${columnCount} columns`, {
      remedy: "Pass one order for each column, or none.",
    });
  }
  return orders.map((order, at) => {
    checkKnown(order, columnOrderNames, `orders[${at}]`);
    return {
      direction: checkOneOf(orDefault(order.direction, "asc"), ["asc", "desc"], `orders[${at}].direction`),
      nulls: checkOneOf(orDefault(order.nulls, "last"), ["first", "last"], `orders[${at}].nulls`),
    };
  });
}
