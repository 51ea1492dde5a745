import type { ColumnId, DataFileId, DeleteFileId, IndexId, MacroId, SchemaId, TableId, ViewId } from "@moraine/codec";
import fc from "fast-check";
import type { Draft } from "../model/draft.js";
import { addColumn, alterColumn, dropColumn, renameColumn } from "../verbs/columns.js";
import { expireDataFile, registerDataFile } from "../verbs/data-files.js";
import { expireDeleteFile, registerDeleteFile } from "../verbs/delete-files.js";
import { createIndexDefinition, dropIndex } from "../verbs/index-definitions.js";
import { createMacro, dropMacro } from "../verbs/macros.js";
import { setOption, unsetOption } from "../verbs/options.js";
import { clearPartitioning, setPartitioning } from "../verbs/partitioning.js";
import { createSchema, dropSchema } from "../verbs/schemas.js";
import { clearSorting, setSorting } from "../verbs/sorting.js";
import { updateColumnStats, updateTableStats } from "../verbs/stats.js";
import { createTable, dropTable, renameTable, setTableSchema } from "../verbs/tables.js";
import { removeTag, setTag } from "../verbs/tags.js";
import { alterView, createView, dropView } from "../verbs/views.js";

/**
 * One random call of a verb. The choices are numbers; what they pick depends on the state at the time, so a failing
 * sequence shrinks to a short one that still makes sense. Some calls are refused, which is part of the test.
 */
export interface RandomVerb {
  readonly verb: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

export const randomVerb: fc.Arbitrary<RandomVerb> = fc.record({
  verb: fc.nat(9_999),
  a: fc.nat(9_999),
  b: fc.nat(9_999),
  c: fc.nat(9_999),
});

/** Names that collide often, with one that needs quoting and two that differ in case only. */
const names = ["a", "b", "B", 'q"1', "unique_key"];

/** A live one of the ids, or one that is not there when there are none or once in a while. */
function pick<T extends bigint>(ids: readonly bigint[], choice: number): T {
  return (choice % 23 === 0 ? 77n : (ids[choice % ids.length] ?? 77n)) as T;
}

const nameOf = (choice: number): string => names[choice % names.length] as string;

type Verb = (draft: Draft, pickers: Pickers, call: RandomVerb) => unknown;

class Pickers {
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  schema(choice: number): SchemaId {
    return pick(
      this.#draft.list("schema").map((value) => value.schemaId),
      choice,
    );
  }

  table(choice: number): TableId {
    return pick(
      this.#draft.list("table").map((value) => value.tableId),
      choice,
    );
  }

  view(choice: number): ViewId {
    return pick(
      this.#draft.list("view").map((value) => value.viewId),
      choice,
    );
  }

  macro(choice: number): MacroId {
    return pick(
      this.#draft.list("macro").map((value) => value.macroId),
      choice,
    );
  }

  index(choice: number): IndexId {
    return pick(
      this.#draft.list("index").map((value) => value.indexId),
      choice,
    );
  }

  column(table: TableId, choice: number): ColumnId {
    return pick(
      this.#draft.list("column", table).map((value) => value.columnId),
      choice,
    );
  }

  file(table: TableId, choice: number): DataFileId {
    return pick(
      this.#draft.list("data_file", table).map((value) => value.dataFileId),
      choice,
    );
  }

  deleteFile(table: TableId, choice: number): DeleteFileId {
    return pick(
      this.#draft.list("delete_file", table).map((value) => value.deleteFileId),
      choice,
    );
  }

  /** As many values as the table's partition spec wants, most of the time. */
  partitionValues(table: TableId, choice: number): string[] {
    const keys = this.#draft.list("partition", table)[0]?.columns.length ?? 0;
    return Array.from({ length: choice % 11 === 0 ? keys + 1 : keys }, (_, at) => `p${at}`);
  }
}

const verbs: readonly Verb[] = [
  (draft, _, { a }) => createSchema(draft, { name: nameOf(a) }),
  (draft, pickers, { a }) => dropSchema(draft, { schema: pickers.schema(a) }),
  (draft, pickers, { a, b, c }) =>
    createTable(draft, {
      schema: pickers.schema(a),
      name: nameOf(b),
      columns: [
        { name: "x", columnType: "BIGINT" },
        { name: "s", columnType: "STRUCT", children: [{ name: "x", columnType: "VARCHAR" }] },
        ...(c % 2 === 0 ? [{ name: "y", columnType: "DATE", nullsAllowed: false, defaultValue: "1" }] : []),
      ],
    }),
  (draft, pickers, { a, b }) => renameTable(draft, { table: pickers.table(a), name: nameOf(b) }),
  (draft, pickers, { a, b }) => setTableSchema(draft, { table: pickers.table(a), schema: pickers.schema(b) }),
  (draft, pickers, { a, b }) => (b % 3 === 0 ? dropTable(draft, { table: pickers.table(a) }) : undefined),
  (draft, pickers, { a, b }) =>
    addColumn(draft, { table: pickers.table(a), definition: { name: nameOf(b), columnType: "INTEGER" } }),
  (draft, pickers, { a, b, c }) =>
    renameColumn(draft, { table: pickers.table(a), column: pickers.column(pickers.table(a), b), name: nameOf(c) }),
  (draft, pickers, { a, b, c }) =>
    alterColumn(draft, {
      table: pickers.table(a),
      column: pickers.column(pickers.table(a), b),
      ...(c % 2 === 0 ? { columnType: "DOUBLE" } : { defaultValue: c % 3 === 0 ? null : `${c}` }),
    }),
  (draft, pickers, { a, b }) =>
    dropColumn(draft, { table: pickers.table(a), column: pickers.column(pickers.table(a), b) }),
  (draft, pickers, { a, b }) =>
    setPartitioning(draft, {
      table: pickers.table(a),
      columns: [{ column: pickers.column(pickers.table(a), b), transform: "identity" }],
    }),
  (draft, pickers, { a }) => clearPartitioning(draft, { table: pickers.table(a) }),
  (draft, pickers, { a, b }) => setSorting(draft, { table: pickers.table(a), keys: [{ expression: nameOf(b) }] }),
  (draft, pickers, { a }) => clearSorting(draft, { table: pickers.table(a) }),
  (draft, pickers, { a, b, c }) =>
    registerDataFile(draft, {
      table: pickers.table(a),
      file: {
        path: `f${b}.parquet`,
        recordCount: b % 5,
        fileSizeBytes: c,
        footerSize: 8,
        partitionValues: pickers.partitionValues(pickers.table(a), b),
        columnStats: [
          { columnId: pickers.column(pickers.table(a), c), columnSizeBytes: 8n, valueCount: 1, nullCount: 0, min: "0" },
        ],
      },
    }),
  (draft, pickers, { a, b }) =>
    expireDataFile(draft, { table: pickers.table(a), file: pickers.file(pickers.table(a), b) }),
  (draft, pickers, { a, b }) =>
    registerDeleteFile(draft, {
      table: pickers.table(a),
      file: {
        dataFileId: pickers.file(pickers.table(a), b),
        path: "d",
        deleteCount: 1,
        fileSizeBytes: 2,
        footerSize: 1,
      },
    }),
  (draft, pickers, { a, b }) =>
    expireDeleteFile(draft, { table: pickers.table(a), file: pickers.deleteFile(pickers.table(a), b) }),
  (draft, pickers, { a, b }) =>
    updateTableStats(draft, { table: pickers.table(a), recordCount: b % 9, fileSizeBytes: b }),
  (draft, pickers, { a, b, c }) =>
    updateColumnStats(draft, {
      table: pickers.table(a),
      column: pickers.column(pickers.table(a), b),
      stats: { containsNull: c % 2 === 0, max: `${c}` },
    }),
  (draft, pickers, { a, b }) =>
    createView(draft, { schema: pickers.schema(a), name: nameOf(b), dialect: "duckdb", sql: "SELECT 1" }),
  (draft, pickers, { a, b }) => alterView(draft, { view: pickers.view(a), dialect: "duckdb", sql: `SELECT ${b}` }),
  (draft, pickers, { a }) => dropView(draft, { view: pickers.view(a) }),
  (draft, pickers, { a, b, c }) =>
    createMacro(draft, {
      schema: pickers.schema(a),
      name: nameOf(b),
      implementations: [
        {
          dialect: "duckdb",
          sql: "1",
          macroType: c % 2 === 0 ? "scalar" : "table",
          parameters: c % 3 === 0 ? [] : [{ parameterName: nameOf(c), parameterType: "int64" }],
        },
      ],
    }),
  (draft, pickers, { a }) => dropMacro(draft, { macro: pickers.macro(a) }),
  (draft, pickers, { a, b, c }) =>
    setOption(draft, { scope: c % 2 === 0 ? "global" : { table: pickers.table(a) }, key: nameOf(b), value: `${c}` }),
  (draft, pickers, { a, b, c }) =>
    unsetOption(draft, { scope: c % 2 === 0 ? "global" : { table: pickers.table(a) }, key: nameOf(b) }),
  (draft, pickers, { a, b, c }) =>
    setTag(draft, { target: { table: pickers.table(a) }, key: nameOf(b), value: `${c}` }),
  (draft, pickers, { a, b }) => removeTag(draft, { target: { table: pickers.table(a) }, key: nameOf(b) }),
  (draft, pickers, { a, b, c }) =>
    createIndexDefinition(draft, {
      table: pickers.table(a),
      name: nameOf(b),
      columns: [pickers.column(pickers.table(a), c)],
      unique: c % 3 === 0,
      orders: c % 5 === 0 ? [{ direction: "desc", nulls: "first" }] : [],
      maintenance: c % 7 === 0 ? "deferred" : "synchronous",
    }),
  (draft, pickers, { a }) => dropIndex(draft, { index: pickers.index(a) }),
];

export const randomVerbCount = verbs.length;

/** Calls the verb. Throws what the verb throws. */
export function callRandomVerb(draft: Draft, call: RandomVerb): void {
  (verbs[call.verb % verbs.length] as Verb)(draft, new Pickers(draft), call);
}
