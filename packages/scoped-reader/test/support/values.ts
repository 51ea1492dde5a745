import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  DuckDBUUIDValue,
} from "@duckdb/node-api";
import type { ColumnVector } from "@moraine/codec";
import { expect } from "vitest";
import { type FileSource, type ScanOptions, type ScopedBatch, scanFile } from "../../src/index.js";

/** A value in the form in which a vector's row and a row of DuckDB can be compared: integers as bigint, bytes as hex. */
export type Comparable = bigint | number | boolean | string | null;

/** What DuckDB returned, in the column's canonical form. */
export function fromDuckDB(value: unknown): Comparable {
  if (value === null || typeof value === "bigint" || typeof value === "boolean" || typeof value === "string")
    return value;
  if (typeof value === "number") return Object.is(value, -0) ? 0 : value;
  if (value instanceof DuckDBDateValue) return BigInt(value.days);
  if (value instanceof DuckDBTimeValue) return value.micros;
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) return value.micros;
  if (value instanceof DuckDBTimestampSecondsValue) return value.seconds;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.millis;
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.nanos;
  if (value instanceof DuckDBDecimalValue) return value.value;
  if (value instanceof DuckDBUUIDValue) return value.toString().replaceAll("-", "");
  if (value instanceof DuckDBBlobValue) return hex(value.bytes);
  throw new TypeError(`no canonical form for a ${typeof value}`);
}

/** The same of row `row` of a vector. Integers of up to 32 bits are bigint too when `type` says so on the other side. */
export function fromVector(vector: ColumnVector, row: number): Comparable {
  if (vector.validity !== null && vector.validity[row] === 0) return null;
  const { type, values, offsets } = vector;
  if (offsets !== null) {
    const bytes = (values as Uint8Array).subarray(offsets[row], offsets[row + 1]);
    return type === "string" ? new TextDecoder().decode(bytes) : hex(bytes);
  }
  if (type === "int128") {
    const view = new DataView(values.buffer, values.byteOffset + row * 16, 16);
    return (view.getBigInt64(8, true) << 64n) | view.getBigUint64(0, true);
  }
  const value = values[row] as number | bigint;
  if (type === "boolean") return value === 1;
  if (type === "float32" || type === "float64") return Object.is(value, -0) ? 0 : value;
  return BigInt(value);
}

/** A row of DuckDB brought to what `fromVector` gives: it returns small integers as numbers. */
export function sameKind(vector: ColumnVector, value: Comparable): Comparable {
  return typeof value === "number" && vector.type !== "float32" && vector.type !== "float64" ? BigInt(value) : value;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export interface ScannedRow {
  readonly position: number;
  readonly rowId: bigint | null;
  readonly values: Comparable[];
}

/** All rows of a scan, one by one. */
export async function scanRows(source: FileSource, options: ScanOptions): Promise<ScannedRow[]> {
  const rows: ScannedRow[] = [];
  for await (const batch of scanFile(source, options)) rows.push(...batchRows(batch));
  return rows;
}

export function batchRows(batch: ScopedBatch): ScannedRow[] {
  return Array.from({ length: batch.length }, (_, i) => ({
    position: batch.positions[i] ?? -1,
    rowId: batch.rowIds === null ? null : (batch.rowIds[i] ?? null),
    values: batch.columns.map((column) => fromVector(column, i)),
  }));
}

/** Compares the first column of a scan with the first column of DuckDB's rows. */
export async function expectColumn(
  batches: AsyncIterable<ScopedBatch>,
  expected: readonly (readonly unknown[])[],
): Promise<void> {
  let row = 0;
  for await (const { columns, length, positions } of batches) {
    const [vector] = columns;
    if (vector === undefined) throw new Error("a column is missing");
    const wanted = Array.from(positions, (position) => sameKind(vector, fromDuckDB(expected[position]?.[0])));
    expect(Array.from({ length }, (_, i) => fromVector(vector, i))).toEqual(wanted);
    expect(vector.length).toBe(length);
    row += length;
  }
  expect(row).toBe(expected.length);
}
