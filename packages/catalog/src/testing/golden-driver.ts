import type { ColumnId, DataFileId, DeleteFileId, IndexId, MacroId, SchemaId, TableId, ViewId } from "@moraine/codec";
import type { MacroType } from "../model/change.js";
import type { OptionScope } from "../model/option-scope.js";
import type { ColumnDefinition } from "../verbs/column-tree.js";
import type { Transaction } from "../transaction.js";
import type { DataFile, FileColumnStats } from "../verbs/data-files.js";
import type { DeleteFile } from "../verbs/delete-files.js";
import type { ColumnOrder } from "../verbs/index-definitions.js";
import type { MacroImplementation } from "../verbs/macros.js";
import type { SortKey } from "../verbs/sorting.js";
import type { TagTarget } from "../verbs/tags.js";
import type { GoldenOperation } from "./golden-data.js";

/** Carries one operation of a script out. Gives what the script's `returns` says of it: an id or `null`. */
export type GoldenHandler = (tx: Transaction, op: Arguments) => unknown;

/** Typed access to the arguments of an operation, which are plain JSON. */
export class Arguments {
  readonly #op: Readonly<Record<string, unknown>>;

  constructor(op: Readonly<Record<string, unknown>>) {
    this.#op = op;
  }

  has(name: string): boolean {
    return this.#op[name] !== undefined;
  }

  raw(name: string): unknown {
    return this.#op[name];
  }

  text(name: string): string {
    const value = this.#op[name];
    if (typeof value !== "string") throw new Error(`the script has no text ${name}`);
    return value;
  }

  count(name: string): bigint {
    const value = this.#op[name];
    if (typeof value !== "number") throw new Error(`the script has no number ${name}`);
    return BigInt(value);
  }

  flag(name: string): boolean {
    return this.#op[name] === true;
  }

  list(name: string): unknown[] {
    return (this.#op[name] ?? []) as unknown[];
  }

  each(name: string): Arguments[] {
    return this.list(name).map((item) => new Arguments(item as Record<string, unknown>));
  }

  nested(name: string): Arguments {
    return new Arguments((this.#op[name] ?? {}) as Record<string, unknown>);
  }

  schema(): SchemaId {
    return this.count("schema") as SchemaId;
  }

  table(): TableId {
    return this.count("table") as TableId;
  }

  column(): ColumnId {
    return this.count("column") as ColumnId;
  }

  view(): ViewId {
    return this.count("view") as ViewId;
  }

  /** The property `name` under the key `as`, when the operation has it. */
  optional<K extends string, T>(name: string, as: K): { [P in K]?: T } {
    return (this.has(name) ? { [as]: this.#op[name] } : {}) as { [P in K]?: T };
  }
}

function columnDefinition(args: Arguments): ColumnDefinition {
  return {
    name: args.text("name"),
    columnType: args.text("type"),
    ...args.optional<"nullsAllowed", boolean>("nulls", "nullsAllowed"),
    ...args.optional<"defaultValue", string>("default", "defaultValue"),
    ...(args.has("children") ? { children: args.each("children").map(columnDefinition) } : {}),
  };
}

export function dataFile(args: Arguments): DataFile {
  return {
    path: args.text("path"),
    ...args.optional<"pathIsRelative", boolean>("path_is_relative", "pathIsRelative"),
    recordCount: args.count("record_count"),
    fileSizeBytes: args.count("file_size_bytes"),
    footerSize: args.count("footer_size"),
    ...args.optional<"encryptionKey", string>("encryption_key", "encryptionKey"),
    partitionValues: args.list("partition_values") as string[],
    columnStats: args.each("column_stats").map(fileColumnStats),
  };
}

function fileColumnStats(args: Arguments): FileColumnStats {
  return {
    columnId: args.column(),
    columnSizeBytes: args.count("column_size_bytes"),
    valueCount: args.count("value_count"),
    nullCount: args.count("null_count"),
    ...args.optional<"min", string>("min", "min"),
    ...args.optional<"max", string>("max", "max"),
    ...args.optional<"containsNan", boolean>("contains_nan", "containsNan"),
    ...args.optional<"extraStats", string>("extra_stats", "extraStats"),
  };
}

export function deleteFile(args: Arguments): DeleteFile {
  return {
    dataFileId: args.count("file") as DataFileId,
    path: args.text("path"),
    deleteCount: args.count("delete_count"),
    fileSizeBytes: args.count("file_size_bytes"),
    footerSize: args.count("footer_size"),
    ...args.optional<"encryptionKey", string>("encryption_key", "encryptionKey"),
  };
}

function macroImplementation(args: Arguments): MacroImplementation {
  return {
    dialect: args.text("dialect"),
    sql: args.text("sql"),
    macroType: args.text("type") as MacroType,
    parameters: args.each("parameters").map((parameter) => ({
      parameterName: parameter.text("name"),
      parameterType: parameter.text("type"),
      ...parameter.optional<"defaultValue", string>("default", "defaultValue"),
      defaultValueType: parameter.text("default_type"),
    })),
  };
}

function sortKey(args: Arguments): SortKey {
  return {
    expression: args.text("expression"),
    dialect: args.text("dialect"),
    direction: args.text("direction") as "ASC" | "DESC",
    nullOrder: args.text("null_order") as "NULLS_FIRST" | "NULLS_LAST",
  };
}

function optionScope(args: Arguments): OptionScope {
  if (args.has("table")) return { table: args.table() };
  return args.has("schema") ? { schema: args.schema() } : "global";
}

function tagTarget(args: Arguments): TagTarget {
  if (args.has("table")) return { table: args.table() };
  return args.has("schema") ? { schema: args.schema() } : { view: args.view() };
}

/** `desc nulls first` and the like. */
export function columnOrders(args: Arguments): ColumnOrder[] {
  return (args.list("orders") as string[]).map((text) => ({
    direction: text.startsWith("desc") ? "desc" : "asc",
    nulls: text.endsWith("first") ? "first" : "last",
  }));
}

/** The operations that are verbs of the catalog alone. Rows, entries and build steps are for the caller to add. */
export const catalogHandlers: Readonly<Record<string, GoldenHandler>> = {
  create_schema: (tx, op) => tx.createSchema({ name: op.text("name") }),
  drop_schema: (tx, op) => tx.dropSchema({ schema: op.schema() }),
  create_table: (tx, op) =>
    tx.createTable({
      schema: op.schema(),
      name: op.text("name"),
      columns: op.each("columns").map(columnDefinition),
    }),
  rename_table: (tx, op) => tx.renameTable({ table: op.table(), name: op.text("name") }),
  set_table_schema: (tx, op) => tx.setTableSchema({ table: op.table(), schema: op.schema() }),
  drop_table: (tx, op) => tx.dropTable({ table: op.table() }),
  add_column: (tx, op) => tx.addColumn({ table: op.table(), definition: columnDefinition(op.nested("def")) }),
  rename_column: (tx, op) => tx.renameColumn({ table: op.table(), column: op.column(), name: op.text("name") }),
  alter_column: (tx, op) =>
    tx.alterColumn({
      table: op.table(),
      column: op.column(),
      ...op.optional<"columnType", string>("type", "columnType"),
      ...op.optional<"nullsAllowed", boolean>("nulls", "nullsAllowed"),
      ...op.optional<"defaultValue", string | null>("default", "defaultValue"),
    }),
  drop_column: (tx, op) => tx.dropColumn({ table: op.table(), column: op.column() }),
  set_partitioning: (tx, op) =>
    tx.setPartitioning({
      table: op.table(),
      columns: op.each("columns").map((key) => ({ column: key.column(), transform: key.text("transform") })),
    }),
  clear_partitioning: (tx, op) => tx.clearPartitioning({ table: op.table() }),
  set_sorting: (tx, op) => tx.setSorting({ table: op.table(), keys: op.each("keys").map(sortKey) }),
  clear_sorting: (tx, op) => tx.clearSorting({ table: op.table() }),
  register_data_file: (tx, op) => tx.registerDataFile({ table: op.table(), file: dataFile(op) }).dataFileId,
  expire_data_file: (tx, op) => tx.expireDataFile({ table: op.table(), file: op.count("file") as DataFileId }),
  register_delete_file: (tx, op) => tx.registerDeleteFile({ table: op.table(), file: deleteFile(op) }),
  expire_delete_file: (tx, op) => tx.expireDeleteFile({ table: op.table(), file: op.count("file") as DeleteFileId }),
  update_table_stats: (tx, op) =>
    tx.updateTableStats({
      table: op.table(),
      recordCount: op.count("record_count"),
      fileSizeBytes: op.count("file_size_bytes"),
    }),
  update_column_stats: (tx, op) =>
    tx.updateColumnStats({
      table: op.table(),
      column: op.column(),
      stats: {
        ...op.optional<"containsNull", boolean>("contains_null", "containsNull"),
        ...op.optional<"containsNan", boolean>("contains_nan", "containsNan"),
        ...op.optional<"min", string>("min", "min"),
        ...op.optional<"max", string>("max", "max"),
      },
    }),
  create_view: (tx, op) =>
    tx.createView({ schema: op.schema(), name: op.text("name"), dialect: op.text("dialect"), sql: op.text("sql") }),
  alter_view: (tx, op) => tx.alterView({ view: op.view(), dialect: op.text("dialect"), sql: op.text("sql") }),
  drop_view: (tx, op) => tx.dropView({ view: op.view() }),
  create_macro: (tx, op) =>
    tx.createMacro({
      schema: op.schema(),
      name: op.text("name"),
      implementations: op.each("implementations").map(macroImplementation),
    }),
  drop_macro: (tx, op) => tx.dropMacro({ macro: op.count("macro") as MacroId }),
  set_option: (tx, op) =>
    tx.setOption({ scope: optionScope(op.nested("scope")), key: op.text("key"), value: op.text("value") }),
  unset_option: (tx, op) => tx.unsetOption({ scope: optionScope(op.nested("scope")), key: op.text("key") }),
  set_tag: (tx, op) =>
    tx.setTag({ target: tagTarget(op.nested("target")), key: op.text("key"), value: op.text("value") }),
  remove_tag: (tx, op) => tx.removeTag({ target: tagTarget(op.nested("target")), key: op.text("key") }),
  create_index: (tx, op) =>
    tx.createIndex({
      table: op.table(),
      name: op.text("name"),
      columns: (op.list("columns") as number[]).map((id) => BigInt(id) as ColumnId),
      unique: op.flag("unique"),
      orders: columnOrders(op),
      maintenance: op.flag("deferred") ? "deferred" : "synchronous",
    }),
  drop_index: (tx, op) => tx.dropIndex({ index: op.count("index") as IndexId }),
};

/** Carries the operations of one commit out. Gives their returns in the form that the scripts use. */
export function runOperations(
  tx: Transaction,
  operations: readonly GoldenOperation[],
  handlers: Readonly<Record<string, GoldenHandler>> = catalogHandlers,
): unknown[] {
  return operations.map((operation) => {
    const handler = handlers[operation.op];
    if (handler === undefined) throw new Error(`no handler for the operation ${operation.op}`);
    return asReturned(handler(tx, new Arguments(operation)));
  });
}

function asReturned(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return Array.isArray(value) ? value.map(asReturned) : (value ?? null);
}
