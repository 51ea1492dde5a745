import { ConstraintError, InvalidArgumentError, parseDuckDbType } from "@moraine/codec";
import { fieldType, typeText } from "../inline/arrow-access.js";
import { arrowFieldOf } from "../inline/duckdb-arrow.js";
import type { InlineSchema } from "../inline/arrow-schema.js";
import type { ColumnData, RowBatch } from "./column-data.js";
import { unpaired } from "./metadata-row.js";
import type { TableChanges } from "./row-changes.js";
import { isValid, sameColumn } from "./slice-columns.js";

const leadingColumns = ["row_id", "begin_snapshot", "end_snapshot"];

/** Rows of one inlined table: their ids, begins and ends, and the user's columns. */
export interface InlinedRows {
  readonly count: number;
  readonly rowIds: BigInt64Array;
  readonly begins: BigInt64Array;
  /** `undefined` for a row that has not ended. */
  readonly endAt: (row: number) => bigint | undefined;
  readonly columns: readonly ColumnData[];
}

/** A row that a commit ends. */
export interface EndedRow {
  readonly rowId: bigint;
  readonly begin: bigint;
  readonly end: bigint;
}

/** What a transaction did to the rows of one inlined table. */
export interface InlinedChanges {
  readonly inserted: readonly InlinedRows[];
  readonly ended: readonly EndedRow[];
  readonly deleted: readonly InlinedRows[];
}

/**
 * Takes the changes of an inlined table apart.
 *
 * Errors: `invalid_argument` for rows that do not have the columns of the table's schema record, `constraint` for an update of
 * anything but the end of a row.
 */
export function readInlinedChanges(changes: TableChanges, schema: InlineSchema): InlinedChanges {
  checkNames(changes, schema);
  const rowsOf = (batch: RowBatch): InlinedRows => inlinedRows(changes.name, batch, schema);
  const before = changes.before.map(rowsOf);
  const after = changes.after.map(rowsOf);
  if (before.length !== after.length) throw unpaired(changes.name);
  const ended = before.flatMap((rows, at) => endedRows(changes.name, rows, after[at] as InlinedRows));
  return { inserted: changes.inserted.map(rowsOf), ended, deleted: changes.deleted.map(rowsOf) };
}

function checkNames({ name, columns }: TableChanges, { fields }: InlineSchema): void {
  const wanted = [...leadingColumns, ...fields.map((field) => field.name)];
  if (columns.length === wanted.length && wanted.every((column, at) => column === columns[at])) return;
  throw otherColumns(name);
}

export function otherColumns(name: string): InvalidArgumentError {
  return new InvalidArgumentError(`rows of ${name} do not have the columns that the table was created with`, {
    remedy: "Read the metadata tables again, and leave the inlined tables to DuckLake.",
  });
}

function inlinedRows(name: string, batch: RowBatch, { fields }: InlineSchema): InlinedRows {
  const [rowId, begin, end, ...columns] = batch.columns;
  const types = columns.map((column) => typeText(fieldType(arrowFieldOf("", parseDuckDbType(column.type)))));
  const matches = fields.length === columns.length && fields.every((field, at) => typeText(field.type) === types[at]);
  if (!matches || [rowId, begin, end, ...columns].some((column) => column?.rows !== batch.rows))
    throw otherColumns(name);
  const ends = bigintsOf(name, end);
  return {
    count: batch.rows,
    rowIds: ids(name, "row_id", rowId),
    begins: ids(name, "begin_snapshot", begin),
    endAt: (row) => (isValid(end?.validity, row) ? ends[row] : undefined),
    columns,
  };
}

/** A BIGINT column in which no row is NULL or negative. */
export function ids(table: string, name: string, column: ColumnData | undefined): BigInt64Array {
  const values = bigintsOf(table, column);
  values.forEach((value, row) => {
    if (value >= 0n && isValid(column?.validity, row)) return;
    throw new ConstraintError(`a row of ${table} has no ${name}`, { remedy: "Leave the inlined tables to DuckLake." });
  });
  return values;
}

function bigintsOf(table: string, column: ColumnData | undefined): BigInt64Array {
  const values = column?.values;
  if (column?.type !== "BIGINT" || values?.byteLength !== 8 * column.rows) throw otherColumns(table);
  // Typed arrays need aligned bytes.
  return new BigInt64Array(values.slice().buffer);
}

function endedRows(name: string, before: InlinedRows, after: InlinedRows): EndedRow[] {
  if (before.count !== after.count) throw unpaired(name);
  const unchanged = before.columns.every((column, at) => sameColumn(column, after.columns[at] as ColumnData));
  return Array.from({ length: before.count }, (_, row) => {
    const end = after.endAt(row);
    const same = before.rowIds[row] === after.rowIds[row] && before.begins[row] === after.begins[row];
    if (!unchanged || !same || end === undefined || before.endAt(row) !== undefined) {
      throw new ConstraintError(`rows of ${name} are edited`, {
        remedy: "Update the rows through the lake's table: an inlined row itself can only be ended.",
      });
    }
    return { rowId: before.rowIds[row] ?? 0n, begin: before.begins[row] ?? 0n, end };
  });
}
