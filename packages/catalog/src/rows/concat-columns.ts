import type { ColumnData } from "./column-data.js";
import { allSet } from "./encode-column.js";

/** Puts the rows of columns of one type one after the other. At least one column. */
export function concatColumns(columns: readonly ColumnData[]): ColumnData {
  const [first] = columns;
  if (first === undefined) throw new Error("no columns to put together");
  if (columns.length === 1) return first;
  const { type } = first;
  const rows = columns.reduce((sum, column) => sum + column.rows, 0);
  const validity = columns.some((column) => column.validity !== undefined)
    ? concatBits(columns, rows, ({ validity: bits }) => bits)
    : undefined;
  return {
    type,
    rows,
    validity,
    values: first.values === undefined ? undefined : concatValues(columns, rows, isBits(type, first)),
    offsets: first.offsets === undefined ? undefined : concatOffsets(columns, rows),
    children: first.children.map((_, at) => concatColumns(columns.map(({ children }) => children[at] as ColumnData))),
  };
}

/** Booleans are the one type of less than a byte a row. */
function isBits(type: string, { offsets }: ColumnData): boolean {
  return offsets === undefined && type.toUpperCase() === "BOOLEAN";
}

function concatValues(columns: readonly ColumnData[], rows: number, bits: boolean): Uint8Array {
  if (bits) return concatBits(columns, rows, ({ values }) => values);
  const out = new Uint8Array(columns.reduce((sum, { values }) => sum + (values?.byteLength ?? 0), 0));
  let at = 0;
  for (const { values } of columns) {
    if (values === undefined) continue;
    out.set(values, at);
    at += values.byteLength;
  }
  return out;
}

function concatOffsets(columns: readonly ColumnData[], rows: number): Uint32Array {
  const out = new Uint32Array(rows + 1);
  let at = 0;
  let base = 0;
  for (const { offsets, rows: count } of columns) {
    for (let row = 1; row <= count; row++) out[at + row] = base + (offsets?.[row] ?? 0);
    at += count;
    base = out[at] ?? 0;
  }
  return out;
}

/** Bits of several columns; those of a column without any are set. */
function concatBits(
  columns: readonly ColumnData[],
  rows: number,
  bitsOf: (column: ColumnData) => Uint8Array | undefined,
): Uint8Array {
  const out = new Uint8Array((rows + 7) >> 3);
  let at = 0;
  for (const column of columns) {
    const bits = bitsOf(column) ?? allSet(column.rows);
    for (let row = 0; row < column.rows; row++, at++)
      if (((bits[row >> 3]! >> (row & 7)) & 1) === 1) out[at >> 3]! |= 1 << (at & 7);
  }
  return out;
}
