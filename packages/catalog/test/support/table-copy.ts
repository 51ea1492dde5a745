import { type DuckDbType, parseDuckDbType } from "@moraine/codec";
import type { ColumnData } from "../../src/rows/column-data.js";
import type { FollowStep, TableColumn } from "../../src/rows/follow-step.js";

type Row = readonly unknown[];

/** Tables in memory that steps are applied to, as a client applies them to tables in DuckDB. It is strict where DuckDB is. */
export class TableCopy {
  readonly tables = new Map<string, { readonly columns: readonly TableColumn[]; rows: Row[] }>();

  apply(step: FollowStep): void {
    if (step.kind === "create") {
      if (this.tables.has(step.table)) throw new Error(`${step.table} is there already`);
      this.tables.set(step.table, { columns: step.columns, rows: [] });
      return;
    }
    const table = this.tables.get(step.table);
    if (table === undefined) throw new Error(`there is no ${step.table}`);
    const position = (name: string): number => {
      const at = table.columns.findIndex((column) => column.name === name);
      if (at < 0) throw new Error(`${step.table} has no column ${name}`);
      return at;
    };
    switch (step.kind) {
      case "drop":
        this.tables.delete(step.table);
        return;
      case "delete": {
        const where = step.where.map(([column, value]) => [position(column), value] as const);
        const left = table.rows.filter((row) => !where.every(([at, value]) => row[at] === value));
        if (left.length === table.rows.length) throw new Error(`a delete from ${step.table} found nothing`);
        table.rows = left;
        return;
      }
      case "end": {
        const [rowId, begin, end] = [position("row_id"), position("begin_snapshot"), position("end_snapshot")];
        table.rows = table.rows.map((row) =>
          row[rowId] === step.rowId && (row[begin] as bigint) < step.endSnapshot && row[end] === null
            ? row.with(end, step.endSnapshot)
            : row,
        );
        return;
      }
      case "rows": {
        const { rows, columns } = step.batch;
        const types = columns.map(({ type }) => type);
        if (types.join() !== table.columns.map(({ type }) => type).join())
          throw new Error(`${step.table} has columns of other types than ${types.join()}`);
        const values = columns.map((column) => columnValues(column, rows));
        for (let row = 0; row < rows; row++) table.rows.push(values.map((column) => column[row]));
        this.#checkConstraints(step.table);
      }
    }
  }

  /** Rows of one table as objects. */
  rows(name: string): Record<string, unknown>[] {
    const table = this.tables.get(name);
    if (table === undefined) throw new Error(`there is no ${name}`);
    return table.rows.map((row) => Object.fromEntries(table.columns.map((column, at) => [column.name, row[at]])));
  }

  /** All tables with their rows, without an order. */
  contents(): unknown {
    return Object.fromEntries(
      [...this.tables]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { columns, rows }]) => [name, { columns, rows: rows.map(rowText).sort() }]),
    );
  }

  #checkConstraints(name: string): void {
    const { columns, rows } = this.tables.get(name)!;
    columns.forEach(({ constraint, name: column }, at) => {
      if (constraint === undefined) return;
      if (rows.some((row) => row[at] === null)) throw new Error(`${name}.${column} is NULL`);
      if (constraint === "PRIMARY KEY" && new Set(rows.map((row) => row[at])).size < rows.length)
        throw new Error(`${name}.${column} is there twice`);
    });
  }
}

export async function copyOf(steps: AsyncIterable<FollowStep>): Promise<TableCopy> {
  const copy = new TableCopy();
  for await (const step of steps) copy.apply(step);
  return copy;
}

function rowText(row: Row): string {
  return JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

/** Plain values of a column. Reads every buffer to its end: one of another length than the layout gives is an error. */
export function columnValues(column: ColumnData, rows: number): unknown[] {
  if (column.rows !== rows) throw new Error(`a column of ${column.rows} rows in place of ${rows}`);
  return valuesOf(column, parseDuckDbType(column.type));
}

const widths: Readonly<Record<string, number>> = {
  TINYINT: 1,
  UTINYINT: 1,
  SMALLINT: 2,
  USMALLINT: 2,
  INTEGER: 4,
  UINTEGER: 4,
  DATE: 4,
  DECIMAL: 16,
  HUGEINT: 16,
  UHUGEINT: 16,
};

function valuesOf(column: ColumnData, type: DuckDbType): unknown[] {
  const { rows, validity, offsets, values, children } = column;
  const isNull = (row: number): boolean => validity !== undefined && ((validity[row >> 3]! >> (row & 7)) & 1) === 0;
  const bitBytes = (rows + 7) >> 3;
  expectLength(validity, bitBytes);
  expectLength(offsets, rows + 1);
  const list = <T>(valueAt: (row: number) => T): (T | null)[] =>
    Array.from({ length: rows }, (_, row) => (isNull(row) ? null : valueAt(row)));
  switch (type.name) {
    case "BOOLEAN":
      expectLength(values, bitBytes);
      return list((row) => ((values![row >> 3]! >> (row & 7)) & 1) === 1);
    case "VARCHAR":
    case "JSON":
      expectLength(values, offsets![rows]!);
      return list((row) => Buffer.from(values!.subarray(offsets![row], offsets![row + 1])).toString());
    case "BLOB":
      return list((row) => Buffer.from(values!.subarray(offsets![row], offsets![row + 1])).toString("hex"));
    case "UUID":
      expectLength(values, 16 * rows);
      return list((row) =>
        Buffer.from(values!.subarray(16 * row, 16 * row + 16))
          .toString("hex")
          .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
      );
    case "FLOAT":
    case "DOUBLE": {
      const width = type.name === "FLOAT" ? 4 : 8;
      expectLength(values, width * rows);
      const view = new DataView(values!.buffer, values!.byteOffset, values!.byteLength);
      return list((row) => (width === 4 ? view.getFloat32(4 * row, true) : view.getFloat64(8 * row, true)));
    }
    case "LIST":
    case "MAP": {
      const element = type.children.length === 1 ? type.children[0]!.type : pairType(type);
      const items = columnItems(children[0]!, element, offsets![rows]!);
      return list((row) => items.slice(offsets![row], offsets![row + 1]));
    }
    case "STRUCT": {
      const fields = type.children.map((field, at) => columnItems(children[at]!, field.type, rows));
      return list((row) => fields.map((field) => field[row]));
    }
    default: {
      const width = widths[type.name] ?? 8;
      expectLength(values, width * rows);
      return list((row) => integerAt(values!, row * width, width));
    }
  }
}

function pairType(map: DuckDbType): DuckDbType {
  return { name: "STRUCT", text: "", children: map.children };
}

function columnItems(column: ColumnData, type: DuckDbType, rows: number): unknown[] {
  if (column.rows !== rows) throw new Error(`a nested column of ${column.rows} rows in place of ${rows}`);
  return valuesOf(column, type);
}

function integerAt(bytes: Uint8Array, at: number, width: number): bigint {
  let value = 0n;
  for (let i = width - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i]!);
  return BigInt.asIntN(8 * width, value);
}

function expectLength(buffer: { readonly length: number } | undefined, length: number): void {
  if (buffer !== undefined && buffer.length !== length)
    throw new Error(`a buffer of length ${buffer.length} in place of ${length}`);
}
