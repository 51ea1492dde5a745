import { ConstraintError, InvalidArgumentError, parseDuckDbType } from "@moraine/codec";
import type { ColumnData, RowBatch } from "./column-data.js";
import { type MetadataTable, metadataTables } from "./metadata-tables.js";
import type { TableChanges } from "./row-changes.js";
import { isValid } from "./slice-columns.js";

const utf8 = new TextDecoder();
const hexDigits = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** One row of a metadata table, read by the names of its columns. */
export class MetadataRow {
  readonly table: MetadataTable;
  readonly #columns: ReadonlyMap<string, ColumnData>;
  readonly #row: number;

  constructor(table: MetadataTable, columns: ReadonlyMap<string, ColumnData>, row: number) {
    this.table = table;
    this.#columns = columns;
    this.#row = row;
  }

  isNull(name: string): boolean {
    return !isValid(this.#column(name).validity, this.#row);
  }

  /** An id, a count, a snapshot: a BIGINT that is there and not negative. */
  id(name: string): bigint {
    return this.optionalId(name) ?? this.#missing(name);
  }

  optionalId(name: string): bigint | undefined {
    const value = this.#bigint(name);
    if (value === undefined || value >= 0n) return value;
    throw new ConstraintError(`a row of ${this.table} has a negative ${name}`, {
      remedy: "DuckLake counts from 0: undo the edit of its metadata.",
    });
  }

  /** Microseconds since the epoch, UTC. */
  time(name: string): bigint {
    return this.#bigint(name) ?? this.#missing(name);
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name);
  }

  optionalText(name: string): string | undefined {
    if (this.isNull(name)) return undefined;
    const { offsets, values } = this.#column(name);
    return utf8.decode(values?.subarray(offsets?.[this.#row], offsets?.[this.#row + 1]));
  }

  flag(name: string): boolean {
    return this.optionalFlag(name) ?? this.#missing(name);
  }

  optionalFlag(name: string): boolean | undefined {
    if (this.isNull(name)) return undefined;
    return isValid(this.#column(name).values, this.#row);
  }

  uuid(name: string): string {
    if (this.isNull(name)) return this.#missing(name);
    const bytes = this.#column(name).values?.subarray(16 * this.#row, 16 * this.#row + 16) ?? [];
    return Buffer.from(bytes).toString("hex").replace(hexDigits, "$1-$2-$3-$4-$5");
  }

  /** The value of any column in a form that can be compared. */
  plain(name: string): bigint | string | boolean | undefined {
    const { type } = this.#column(name);
    if (type === "BIGINT") return this.#bigint(name);
    if (type === "VARCHAR") return this.optionalText(name);
    if (type === "BOOLEAN") return this.optionalFlag(name);
    if (type === "UUID") return this.isNull(name) ? undefined : this.uuid(name);
    return this.#bigint(name);
  }

  #bigint(name: string): bigint | undefined {
    if (this.isNull(name)) return undefined;
    const { values } = this.#column(name);
    if (values === undefined) return undefined;
    return new DataView(values.buffer, values.byteOffset, values.byteLength).getBigInt64(8 * this.#row, true);
  }

  #missing(name: string): never {
    throw new ConstraintError(`a row of ${this.table} has NULL for ${name}`, {
      remedy: "Give the column a value: DuckLake never leaves it out.",
    });
  }

  #column(name: string): ColumnData {
    const column = this.#columns.get(name);
    if (column === undefined) throw new Error(`${this.table} has no column ${name}`);
    return column;
  }
}

/** A row that was updated in place. */
export interface RowUpdate {
  readonly before: MetadataRow;
  readonly after: MetadataRow;
}

/** What a transaction did to one metadata table, row by row. */
export interface MetadataChanges {
  readonly deleted: readonly MetadataRow[];
  readonly updated: readonly RowUpdate[];
  readonly inserted: readonly MetadataRow[];
}

export function isMetadataTable(name: string): name is MetadataTable {
  return Object.hasOwn(metadataTables, name);
}

/**
 * Takes the changes of a metadata table apart.
 *
 * Errors: `invalid_argument` for rows that do not have the columns of the table.
 */
export function readMetadataChanges(table: MetadataTable, changes: TableChanges): MetadataChanges {
  const names = metadataTables[table].map(({ name }) => name);
  if (names.length !== changes.columns.length || names.some((name, at) => name !== changes.columns[at])) {
    throw otherColumns(table);
  }
  const before = rowsOf(table, changes.before);
  const after = rowsOf(table, changes.after);
  if (before.length !== after.length) throw unpaired(table);
  const updated = before.map((row, at) => ({ before: row, after: after[at] as MetadataRow }));
  return { deleted: rowsOf(table, changes.deleted), updated, inserted: rowsOf(table, changes.inserted) };
}

export function unpaired(table: string): InvalidArgumentError {
  return new InvalidArgumentError(`the updated rows of ${table} are not as many as they were before`, {
    remedy: "Send each updated row as it was and as it is.",
  });
}

function otherColumns(table: string): InvalidArgumentError {
  return new InvalidArgumentError(`rows of ${table} do not have the columns that DuckLake 1.0 gives it`, {
    remedy:
      "Use the DuckLake extension that this version of moraine is made for, and leave its metadata tables as they are.",
  });
}

function rowsOf(table: MetadataTable, batches: readonly RowBatch[]): MetadataRow[] {
  const declared = metadataTables[table];
  return batches.flatMap((batch) => {
    if (batch.columns.length !== declared.length) throw otherColumns(table);
    const columns = new Map<string, ColumnData>();
    declared.forEach(({ name, type }, at) => {
      const column = batch.columns[at] as ColumnData;
      if (parseDuckDbType(column.type).name !== type || column.rows !== batch.rows) throw otherColumns(table);
      columns.set(name, column);
    });
    return Array.from({ length: batch.rows }, (_, row) => new MetadataRow(table, columns, row));
  });
}

/** Names of the columns in which two rows of a table differ. */
export function differingColumns(a: MetadataRow, b: MetadataRow): string[] {
  return metadataTables[a.table].map(({ name }) => name).filter((name) => a.plain(name) !== b.plain(name));
}
