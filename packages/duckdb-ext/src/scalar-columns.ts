import type { ColumnData } from "@moraine/catalog";

const utf8 = new TextEncoder();

/** A column of 64-bit integers; `undefined` is NULL. */
export function integerColumn(type: "BIGINT" | "UBIGINT", values: readonly (bigint | undefined)[]): ColumnData {
  const numbers = new BigInt64Array(values.length);
  for (const [at, value] of values.entries()) numbers[at] = value ?? 0n;
  return columnOf(type, values, new Uint8Array(numbers.buffer));
}

/** A column of 64-bit integers that are all there. */
export function wordColumn(type: "BIGINT" | "UBIGINT", values: BigUint64Array): ColumnData {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { type, rows: values.length, validity: undefined, values: bytes, offsets: undefined, children: [] };
}

/** A column of 64-bit integers of which none is there. */
export function nullColumn(type: "BIGINT" | "UBIGINT", rows: number): ColumnData {
  const validity = new Uint8Array(Math.ceil(rows / 8));
  return { type, rows, validity, values: new Uint8Array(8 * rows), offsets: undefined, children: [] };
}

export function textColumn(values: readonly string[]): ColumnData {
  const parts = values.map((value) => utf8.encode(value));
  const offsets = new Uint32Array(values.length + 1);
  for (const [at, part] of parts.entries()) offsets[at + 1] = (offsets[at] ?? 0) + part.length;
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  for (const [at, part] of parts.entries()) bytes.set(part, offsets[at]);
  return { ...columnOf("VARCHAR", values, bytes), offsets };
}

export function booleanColumn(values: readonly boolean[]): ColumnData {
  return columnOf("BOOLEAN", values, bitsOf(values));
}

function columnOf(type: string, values: readonly unknown[], bytes: Uint8Array): ColumnData {
  const validity = values.includes(undefined) ? bitsOf(values.map((value) => value !== undefined)) : undefined;
  return { type, rows: values.length, validity, values: bytes, offsets: undefined, children: [] };
}

function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [at, flag] of flags.entries()) if (flag) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  return bits;
}
