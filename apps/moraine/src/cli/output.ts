import type { Writable } from "node:stream";

/** Where a command writes. Passed in so that tests need no process. */
export interface Output {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

export type Json =
  | string
  | number
  | boolean
  | null
  | bigint
  | undefined
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Text of a JSON document: 64-bit integers as strings of digits, what is absent left out. */
export function jsonText(value: Json): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part), 2);
}

/** One column of a table that people read. */
export interface TableColumn<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Numbers stand to the right. */
  readonly right?: boolean;
}

/** A table with a line of titles; the last column is not padded. */
export function tableText<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cells.map((line) => line[at]?.length ?? 0)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => (columns[at]?.right === true ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join("\n");
}

/** Names come from catalogs that others wrote: control characters would move the terminal's cursor. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < byteUnits.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${byteUnits[unit]}`;
}

export function countText(count: number | bigint): string {
  return count.toString().replace(/\B(?=(?:\d{3})+$)/gu, ",");
}

export function durationText(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return milliseconds >= 1 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds * 1000)} us`;
}

/** Microseconds since the epoch as ISO 8601 text in UTC, with all six digits. */
export function timeText(micros: bigint): string {
  const millis = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n);
  const rest = (micros - millis * 1000n).toString().padStart(3, "0");
  const date = new Date(Number(millis));
  return Number.isNaN(date.getTime()) ? `${micros} us` : date.toISOString().replace("Z", `${rest}Z`);
}
