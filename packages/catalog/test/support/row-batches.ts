import { type DuckDbType, parseDuckDbType } from "@moraine/codec";
import type { ColumnData, RowBatch } from "../../src/rows/column-data.js";
import type { DdlChange, TableChanges } from "../../src/rows/row-changes.js";

/**
 * Plain values of a column: `null`; numbers and bigints (counts of time types, unscaled decimals, 128-bit integers); booleans; text;
 * `Uint8Array`s for everything that is bytes; `{ months, days, micros }`; arrays for lists, fixed arrays and the fields of structs;
 * `[key, value]` pairs for maps.
 */
export type PlainValue = unknown;

const fixedWidths: Readonly<Record<string, number>> = {
  TINYINT: 1,
  UTINYINT: 1,
  SMALLINT: 2,
  USMALLINT: 2,
  INTEGER: 4,
  UINTEGER: 4,
  DATE: 4,
  BIGINT: 8,
  UBIGINT: 8,
  TIME: 8,
  TIME_NS: 8,
  TIMESTAMP: 8,
  TIMESTAMP_S: 8,
  TIMESTAMP_MS: 8,
  TIMESTAMP_NS: 8,
  "TIMESTAMP WITH TIME ZONE": 8,
  "TIME WITH TIME ZONE": 8,
  HUGEINT: 16,
  UHUGEINT: 16,
  DECIMAL: 16,
};

/** One column of plain values in the layout of PROTOCOL.md, "Column data". */
export function columnOf(typeText: string, values: readonly PlainValue[]): ColumnData {
  const type = parseDuckDbType(typeText);
  const rows = values.length;
  const base = {
    type: typeText,
    rows,
    validity: validityOf(values),
    values: undefined,
    offsets: undefined,
    children: [],
  };
  const width = fixedWidths[type.name];
  if (width !== undefined) return { ...base, values: integers(values, width) };
  switch (type.name) {
    case "NULL":
      return { ...base, validity: undefined };
    case "BOOLEAN":
      return { ...base, values: bitsOf(values, (value) => value === true) };
    case "FLOAT":
      return { ...base, values: bytesOf(Float32Array.from(values, (value) => Number(value ?? 0))) };
    case "DOUBLE":
      return { ...base, values: bytesOf(Float64Array.from(values, (value) => Number(value ?? 0))) };
    case "UUID":
      return { ...base, values: uuids(values) };
    case "INTERVAL":
      return { ...base, values: intervals(values) };
    case "LIST":
    case "MAP": {
      const lists = values.map((value) => (value ?? []) as PlainValue[]);
      return { ...base, offsets: offsetsOf(lists), children: [columnOf(elementText(type), lists.flat(1))] };
    }
    case "ARRAY": {
      const size = type.size ?? 0;
      const lists = values.map((value) => (value ?? Array.from({ length: size }, () => null)) as PlainValue[]);
      return { ...base, children: [columnOf(elementText(type), lists.flat(1))] };
    }
    case "STRUCT":
    case "VARIANT":
      return {
        ...base,
        children: type.children.map((field, at) =>
          columnOf(
            field.type.text,
            values.map((value) => (value === null ? null : (value as PlainValue[])[at])),
          ),
        ),
      };
    default: {
      const texts = values.map(textBytes);
      return { ...base, offsets: offsetsOf(texts), values: new Uint8Array(Buffer.concat(texts)) };
    }
  }
}

function elementText(type: DuckDbType): string {
  const [first, second] = type.children;
  if (type.name === "MAP") return `STRUCT("key" ${first?.type.text ?? ""}, "value" ${second?.type.text ?? ""})`;
  return first?.type.text ?? "";
}

function validityOf(values: readonly PlainValue[]): Uint8Array | undefined {
  return values.includes(null) ? bitsOf(values, (value) => value !== null) : undefined;
}

function bitsOf(values: readonly PlainValue[], isSet: (value: PlainValue) => boolean): Uint8Array {
  const bits = new Uint8Array((values.length + 7) >> 3);
  values.forEach((value, row) => {
    if (isSet(value)) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  });
  return bits;
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function integers(values: readonly PlainValue[], width: number): Uint8Array {
  const out = new Uint8Array(values.length * width);
  values.forEach((value, row) => {
    let rest = BigInt.asUintN(8 * width, BigInt((value ?? 0) as number | bigint));
    for (let at = 0; at < width; at++, rest >>= 8n) out[row * width + at] = Number(rest & 0xffn);
  });
  return out;
}

function uuids(values: readonly PlainValue[]): Uint8Array {
  const out = new Uint8Array(16 * values.length);
  values.forEach((value, row) => {
    if (typeof value === "string") out.set(Buffer.from(value.replaceAll("-", ""), "hex"), 16 * row);
    else if (value instanceof Uint8Array) out.set(value, 16 * row);
  });
  return out;
}

function intervals(values: readonly PlainValue[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(16 * values.length));
  values.forEach((value, row) => {
    if (value === null) return;
    const { months, days, micros } = value as { months: number; days: number; micros: bigint };
    view.setInt32(16 * row, months, true);
    view.setInt32(16 * row + 4, days, true);
    view.setBigInt64(16 * row + 8, micros, true);
  });
  return bytesOf(view);
}

function textBytes(value: PlainValue): Uint8Array {
  if (value === null) return new Uint8Array(0);
  return typeof value === "string" ? Buffer.from(value) : (value as Uint8Array);
}

function offsetsOf(values: readonly { readonly length: number }[]): Uint32Array {
  const offsets = new Uint32Array(values.length + 1);
  values.forEach(({ length }, row) => {
    offsets[row + 1] = (offsets[row] ?? 0) + length;
  });
  return offsets;
}

/** Rows of a table, as arrays of values in the order of the columns. */
export function batchOf(types: readonly string[], rows: readonly (readonly PlainValue[])[]): RowBatch {
  const columns = types.map((type, at) =>
    columnOf(
      type,
      rows.map((row) => row[at] ?? null),
    ),
  );
  return { rows: rows.length, columns };
}

/** What a transaction did to one table, in plain rows. Missing values at the end of a row are NULL. */
export interface PlainChanges {
  readonly deleted?: readonly (readonly PlainValue[])[];
  /** Pairs of a row as it was and as it is. */
  readonly updated?: readonly (readonly [before: readonly PlainValue[], after: readonly PlainValue[]])[];
  readonly inserted?: readonly (readonly PlainValue[])[];
  /** More inserted rows, each list in a batch of its own. */
  readonly inserts?: readonly (readonly (readonly PlainValue[])[])[];
}

export function tableChanges(
  name: string,
  columns: readonly { readonly name: string; readonly type: string }[],
  { deleted = [], updated = [], inserted = [], inserts = [] }: PlainChanges,
): TableChanges {
  const types = columns.map(({ type }) => type);
  const batches = (rows: readonly (readonly PlainValue[])[]): RowBatch[] =>
    rows.length === 0 ? [] : [batchOf(types, rows)];
  return {
    schema: "main",
    name,
    columns: columns.map((column) => column.name),
    deleted: batches(deleted),
    before: batches(updated.map(([before]) => before)),
    after: batches(updated.map(([, after]) => after)),
    inserted: [inserted, ...inserts].flatMap(batches),
  };
}

const inlinedColumns = [
  { name: "row_id", type: "BIGINT" },
  { name: "begin_snapshot", type: "BIGINT" },
  { name: "end_snapshot", type: "BIGINT" },
];

export type PlainColumns = readonly { readonly name: string; readonly type: string }[];

export function createInlinedTable(table: bigint, version: bigint, columns: PlainColumns): DdlChange {
  return ddl("create_table", `ducklake_inlined_data_${table}_${version}`, [...inlinedColumns, ...columns]);
}

export function dropTable(name: string): DdlChange {
  return ddl("drop_table", name, []);
}

export function ddl(kind: DdlChange["kind"], name: string, columns: PlainColumns): DdlChange {
  return { kind, schema: "main", name, columns, sql: `${kind} ${name}` };
}
