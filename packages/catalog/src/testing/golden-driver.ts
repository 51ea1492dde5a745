import type { ColumnId, DataFileId, DeleteFileId, IndexId, MacroId, SchemaId, TableId, ViewId } from "@moraine/codec";
import type { MacroType } from "../model/change.js";
import type { Draft } from "../model/draft.js";
import type { OptionScope } from "../model/option-scope.js";
import type { ColumnDefinition } from "../verbs/column-tree.js";
import { addColumn, alterColumn, dropColumn, renameColumn } from "../verbs/columns.js";
import { type DataFile, type FileColumnStats, expireDataFile, registerDataFile } from "../verbs/data-files.js";
import { type DeleteFile, expireDeleteFile, registerDeleteFile } from "../verbs/delete-files.js";
import { type ColumnOrder, createIndexDefinition, dropIndex } from "../verbs/index-definitions.js";
import { type MacroImplementation, createMacro, dropMacro } from "../verbs/macros.js";
import { setOption, unsetOption } from "../verbs/options.js";
import { clearPartitioning, setPartitioning } from "../verbs/partitioning.js";
import { createSchema, dropSchema } from "../verbs/schemas.js";
import { type SortKey, clearSorting, setSorting } from "../verbs/sorting.js";
import { updateColumnStats, updateTableStats } from "../verbs/stats.js";
import { createTable, dropTable, renameTable, setTableSchema } from "../verbs/tables.js";
import { type TagTarget, removeTag, setTag } from "../verbs/tags.js";
import { alterView, createView, dropView } from "../verbs/views.js";
import type { GoldenOperation } from "./golden-data.js";

/** Carries one operation of a script out. Gives what the script's `returns` says of it: an id or `null`. */
export type GoldenHandler = (draft: Draft, op: Arguments) => unknown;

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
  create_schema: (draft, op) => createSchema(draft, { name: op.text("name") }),
  drop_schema: (draft, op) => dropSchema(draft, { schema: op.schema() }),
  create_table: (draft, op) =>
    createTable(draft, {
      schema: op.schema(),
      name: op.text("name"),
      columns: op.each("columns").map(columnDefinition),
    }),
  rename_table: (draft, op) => renameTable(draft, { table: op.table(), name: op.text("name") }),
  set_table_schema: (draft, op) => setTableSchema(draft, { table: op.table(), schema: op.schema() }),
  drop_table: (draft, op) => dropTable(draft, { table: op.table() }),
  add_column: (draft, op) => addColumn(draft, { table: op.table(), definition: columnDefinition(op.nested("def")) }),
  rename_column: (draft, op) => renameColumn(draft, { table: op.table(), column: op.column(), name: op.text("name") }),
  alter_column: (draft, op) =>
    alterColumn(draft, {
      table: op.table(),
      column: op.column(),
      ...op.optional<"columnType", string>("type", "columnType"),
      ...op.optional<"nullsAllowed", boolean>("nulls", "nullsAllowed"),
      ...op.optional<"defaultValue", string | null>("default", "defaultValue"),
    }),
  drop_column: (draft, op) => dropColumn(draft, { table: op.table(), column: op.column() }),
  set_partitioning: (draft, op) =>
    setPartitioning(draft, {
      table: op.table(),
      columns: op.each("columns").map((key) => ({ column: key.column(), transform: key.text("transform") })),
    }),
  clear_partitioning: (draft, op) => clearPartitioning(draft, { table: op.table() }),
  set_sorting: (draft, op) => setSorting(draft, { table: op.table(), keys: op.each("keys").map(sortKey) }),
  clear_sorting: (draft, op) => clearSorting(draft, { table: op.table() }),
  register_data_file: (draft, op) => registerDataFile(draft, { table: op.table(), file: dataFile(op) }).dataFileId,
  expire_data_file: (draft, op) => expireDataFile(draft, { table: op.table(), file: op.count("file") as DataFileId }),
  register_delete_file: (draft, op) => registerDeleteFile(draft, { table: op.table(), file: deleteFile(op) }),
  expire_delete_file: (draft, op) =>
    expireDeleteFile(draft, { table: op.table(), file: op.count("file") as DeleteFileId }),
  update_table_stats: (draft, op) =>
    updateTableStats(draft, {
      table: op.table(),
      recordCount: op.count("record_count"),
      fileSizeBytes: op.count("file_size_bytes"),
    }),
  update_column_stats: (draft, op) =>
    updateColumnStats(draft, {
      table: op.table(),
      column: op.column(),
      stats: {
        ...op.optional<"containsNull", boolean>("contains_null", "containsNull"),
        ...op.optional<"containsNan", boolean>("contains_nan", "containsNan"),
        ...op.optional<"min", string>("min", "min"),
        ...op.optional<"max", string>("max", "max"),
      },
    }),
  create_view: (draft, op) =>
    createView(draft, { schema: op.schema(), name: op.text("name"), dialect: op.text("dialect"), sql: op.text("sql") }),
  alter_view: (draft, op) => alterView(draft, { view: op.view(), dialect: op.text("dialect"), sql: op.text("sql") }),
  drop_view: (draft, op) => dropView(draft, { view: op.view() }),
  create_macro: (draft, op) =>
    createMacro(draft, {
      schema: op.schema(),
      name: op.text("name"),
      implementations: op.each("implementations").map(macroImplementation),
    }),
  drop_macro: (draft, op) => dropMacro(draft, { macro: op.count("macro") as MacroId }),
  set_option: (draft, op) =>
    setOption(draft, { scope: optionScope(op.nested("scope")), key: op.text("key"), value: op.text("value") }),
  unset_option: (draft, op) => unsetOption(draft, { scope: optionScope(op.nested("scope")), key: op.text("key") }),
  set_tag: (draft, op) =>
    setTag(draft, { target: tagTarget(op.nested("target")), key: op.text("key"), value: op.text("value") }),
  remove_tag: (draft, op) => removeTag(draft, { target: tagTarget(op.nested("target")), key: op.text("key") }),
  create_index: (draft, op) =>
    createIndexDefinition(draft, {
      table: op.table(),
      name: op.text("name"),
      columns: (op.list("columns") as number[]).map((id) => BigInt(id) as ColumnId),
      unique: op.flag("unique"),
      orders: columnOrders(op),
      maintenance: op.flag("deferred") ? "deferred" : "synchronous",
    }),
  drop_index: (draft, op) => dropIndex(draft, { index: op.count("index") as IndexId }),
};

/** Carries the operations of one commit out. Gives their returns in the form that the scripts use. */
export function runOperations(
  draft: Draft,
  operations: readonly GoldenOperation[],
  handlers: Readonly<Record<string, GoldenHandler>> = catalogHandlers,
): unknown[] {
  return operations.map((operation) => {
    const handler = handlers[operation.op];
    if (handler === undefined) throw new Error(`no handler for the operation ${operation.op}`);
    return asReturned(handler(draft, new Arguments(operation)));
  });
}

function asReturned(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return Array.isArray(value) ? value.map(asReturned) : (value ?? null);
}
