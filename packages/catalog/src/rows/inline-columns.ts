import { ConstraintError, parseDuckDbType, UnsupportedError } from "@moraine/codec";
import { BufferType, type Data, DataType, Schema, Table, tableToIPC } from "apache-arrow";
import { decodeBody, encodeBody, type FieldNode, type RecordBatchParts } from "../inline/arrow-body.js";
import { readField } from "../inline/arrow-read.js";
import { type InlineSchema, parseSchema } from "../inline/arrow-schema.js";
import { arrowFieldOf, duckDbTypeOf } from "../inline/duckdb-arrow.js";
import type { RegisteredSchema } from "../inline/registry.js";
import type { ColumnData } from "./column-data.js";
import { isValid, sliceBits, sliceColumn } from "./slice-columns.js";

/** A column of inlined rows, its type in DuckDB's own words. */
export interface InlineColumnType {
  readonly name: string;
  readonly type: string;
}

/**
 * The schema record under which rows of these columns are kept.
 *
 * Errors: `unsupported` for a type that cannot be kept, by its name.
 */
export function inlineSchemaOf(columns: readonly InlineColumnType[]): RegisteredSchema {
  const fields = columns.map(({ name, type }) => arrowFieldOf(name, parseDuckDbType(type)));
  const bytes = tableToIPC(new Table(new Schema(fields)), "stream");
  return { bytes, parsed: parseSchema(bytes) };
}

/** The columns of a schema record, as a DuckDB table has them that holds its rows. The inverse of `inlineSchemaOf`. */
export function inlineColumnTypes(schema: InlineSchema): InlineColumnType[] {
  return schema.fields.map((field) => ({ name: field.name, type: duckDbTypeOf(field) }));
}

/** Rows by columns in the form in which a chunk keeps them. */
export interface EncodedChunk {
  readonly parts: RecordBatchParts;
  readonly body: Uint8Array;
}

/**
 * Encodes rows as a chunk of a schema whose columns they have, in its order.
 *
 * Errors: `constraint` for an INTERVAL whose time of day does not fit 64 bits of nanoseconds, and for a column of 2 GiB of text.
 */
export function encodeChunkColumns(columns: readonly ColumnData[], rows: number): EncodedChunk {
  const nodes: FieldNode[] = [];
  const buffers: Uint8Array[] = [];
  for (const column of columns) appendColumn(column, nodes, buffers);
  const parts = { length: rows, nodes, buffers };
  return { parts, body: encodeBody(parts) };
}

/**
 * The columns of a chunk, in the schema's order: the inverse of `encodeChunkColumns`.
 *
 * Errors: `corruption` for a body that is no record batch of so many rows of the schema.
 */
export function decodeChunkColumns(schema: InlineSchema, body: Uint8Array, rowCount: number): ColumnData[] {
  const parts = decodeBody(body, rowCount);
  return schema.fields.map((field, position) => columnOf(readField(schema, parts, position), duckDbTypeOf(field)));
}

const noBytes = new Uint8Array(0);
const intervalBytes = 16;
const nanosPerMicro = 1000n;
const mostOffset = 2 ** 31 - 1;

function appendColumn(column: ColumnData, nodes: FieldNode[], buffers: Uint8Array[]): void {
  const { rows, validity, offsets, values, children } = column;
  const { name } = parseDuckDbType(column.type);
  if (name === "NULL") {
    nodes.push({ length: rows, nullCount: rows });
    return;
  }
  const nullCount = countNulls(validity, rows);
  nodes.push({ length: rows, nullCount });
  buffers.push(nullCount === 0 || validity === undefined ? noBytes : validity);
  if (offsets !== undefined) {
    if ((offsets[rows] ?? 0) > mostOffset) {
      throw new ConstraintError(`inlined rows of ${rows} values of type ${name} take 2 GiB or more`, {
        remedy: "Insert fewer rows at once, or set data_inlining_row_limit to 0.",
      });
    }
    buffers.push(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength));
  }
  if (values !== undefined) buffers.push(name === "INTERVAL" ? toNanoseconds(values) : values);
  for (const child of children) appendColumn(child, nodes, buffers);
}

function countNulls(validity: Uint8Array | undefined, rows: number): number {
  if (validity === undefined) return 0;
  let count = 0;
  for (let row = 0; row < rows; row++) if (!isValid(validity, row)) count += 1;
  return count;
}

/** DuckDB counts the time of an INTERVAL in microseconds, Arrow in nanoseconds. */
function toNanoseconds(values: Uint8Array): Uint8Array {
  const out = values.slice();
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  for (let at = 8; at < out.byteLength; at += intervalBytes) {
    const nanos = view.getBigInt64(at, true) * nanosPerMicro;
    if (BigInt.asIntN(64, nanos) !== nanos) {
      throw new ConstraintError("an inlined INTERVAL has a time of more than 292 years, which cannot be kept", {
        remedy: "Give the interval in months and days, or set data_inlining_row_limit to 0.",
      });
    }
    view.setBigInt64(at, nanos, true);
  }
  return out;
}

function toMicroseconds(values: Uint8Array): Uint8Array {
  const out = values.slice();
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  for (let at = 8; at < out.byteLength; at += intervalBytes) {
    const nanos = view.getBigInt64(at, true);
    if (nanos % nanosPerMicro !== 0n) {
      throw new UnsupportedError("an inlined INTERVAL counts nanoseconds, and DuckDB has microseconds", {
        remedy: "Flush the table's inlined rows with the embedding API.",
      });
    }
    view.setBigInt64(at, nanos / nanosPerMicro, true);
  }
  return out;
}

function columnOf(data: Data, typeText: string): ColumnData {
  const { type: dataType, length: rows } = data;
  if (DataType.isNull(dataType)) {
    return { type: typeText, rows, validity: undefined, values: undefined, offsets: undefined, children: [] };
  }
  const bitmap = data.buffers[BufferType.VALIDITY] as Uint8Array | undefined;
  const validity = data.nullCount === 0 || bitmap === undefined ? undefined : sliceBits(bitmap, 0, rows);
  const base = { type: typeText, rows, validity, values: undefined, offsets: undefined, children: [] };
  const children = data.children as readonly Data[];
  const types = childTypes(typeText);
  if (DataType.isStruct(dataType)) {
    return { ...base, children: children.map((child, at) => part(child, types[at] ?? "", 0, rows)) };
  }
  if (DataType.isFixedSizeList(dataType)) {
    const end = rows * dataType.listSize;
    return { ...base, children: children.map((child, at) => part(child, types[at] ?? "", 0, end)) };
  }
  const raw = data.valueOffsets as Int32Array | BigInt64Array | undefined;
  if (raw !== undefined) {
    const { offsets, first, last } = rebased(raw, rows);
    if (DataType.isList(dataType) || DataType.isMap(dataType)) {
      return { ...base, offsets, children: children.map((child, at) => part(child, types[at] ?? "", first, last)) };
    }
    return { ...base, offsets, values: (data.values as Uint8Array).subarray(first, last) };
  }
  if (DataType.isBool(dataType)) return { ...base, values: sliceBits(bytesOf(data.values), 0, rows) };
  const bytes = bytesOf(data.values);
  const width = widthOf(dataType, data);
  const values = bytes.subarray(0, rows * width);
  return { ...base, values: DataType.isInterval(dataType) ? toMicroseconds(values) : values };
}

/** A child of a chunk may have more rows than its parent refers to. */
function part(child: Data, typeText: string, start: number, end: number): ColumnData {
  return sliceColumn(columnOf(child, typeText), start, end);
}

/** The texts of the types that a column's children have. That of a map is one struct of its keys and values. */
function childTypes(typeText: string): string[] {
  const type = parseDuckDbType(typeText);
  if (type.name !== "MAP") return type.children.map((child) => child.type.text);
  const [key, value] = type.children;
  return [`STRUCT("key" ${key?.type.text ?? ""}, "value" ${value?.type.text ?? ""})`];
}

function rebased(
  raw: Int32Array | BigInt64Array,
  rows: number,
): { readonly offsets: Uint32Array; readonly first: number; readonly last: number } {
  const first = Number(raw[0] ?? 0);
  const offsets = new Uint32Array(rows + 1);
  for (let row = 1; row <= rows; row++) offsets[row] = Number(raw[row] ?? 0) - first;
  return { offsets, first, last: first + (offsets[rows] ?? 0) };
}

function bytesOf(values: unknown): Uint8Array {
  const view = values as ArrayBufferView;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function widthOf(type: DataType, data: Data): number {
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth;
  if (DataType.isDecimal(type)) return type.bitWidth / 8;
  if (DataType.isInterval(type)) return intervalBytes;
  return (data.values as { readonly BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
}
