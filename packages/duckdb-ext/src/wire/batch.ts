import type { ColumnData, RowBatch } from "@moraine/catalog";
import { InvalidArgumentError, parseDuckDbType } from "@moraine/codec";
import { maxColumnRows } from "../limits.js";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";
import { childTypes, type ColumnLayout, layoutOf } from "./column-layout.js";
import type { Field } from "./fields.js";
import { ProtocolError } from "./protocol-error.js";

/** Rows of one table by columns: PROTOCOL.md, "Column data". What is read are views of the message where alignment allows. */
export const batch: Field<RowBatch> = {
  write(to, value) {
    to.makeRoom(value.columns.reduce((sum, column) => sum + roomFor(column), columnHeadBytes));
    to.u32(value.rows);
    to.u32(value.columns.length);
    for (const column of value.columns) {
      if (column.rows !== value.rows) throw otherRows(column, value.rows);
      to.text(column.type);
      writeData(to, column);
    }
  },
  read(from) {
    const rows = from.u32();
    const columns: ColumnData[] = [];
    for (let left = from.u32(); left > 0; left--) columns.push(readData(from, from.text(), rows));
    return { rows, columns };
  },
};

/** What a column takes beside its values, at most: its type, flags and lengths. A guess, which costs time and no more. */
const columnHeadBytes = 64;

function roomFor({ validity, values, offsets, children }: ColumnData): number {
  const own = columnHeadBytes + (validity?.length ?? 0) + (values?.length ?? 0) + (offsets?.byteLength ?? 0);
  return children.reduce((sum, child) => sum + roomFor(child), own);
}

function otherRows(column: ColumnData, rows: number): ProtocolError {
  return new ProtocolError(`a column of type ${column.type} has ${column.rows} rows, not ${rows}`);
}

interface Shape {
  readonly layout: ColumnLayout;
  readonly childTypes: readonly string[];
}

function shapeOf(text: string): Shape {
  try {
    const type = parseDuckDbType(text);
    const layout = layoutOf(type);
    if (layout !== undefined) return { layout, childTypes: childTypes(type) };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new ProtocolError(error.message);
  }
  throw new ProtocolError("a column has a type that does not travel");
}

function writeData(to: ByteWriter, column: ColumnData): void {
  const { rows, validity, values, offsets, children } = column;
  const shape = shapeOf(column.type);
  to.bool(validity !== undefined);
  if (validity !== undefined) to.put(exactly(column, validity, bitBytes(rows)));
  const { layout } = shape;
  if (children.length !== shape.childTypes.length) {
    throw new ProtocolError(`a column of type ${column.type} has ${children.length} children`);
  }
  switch (layout.kind) {
    case "fixed":
      to.put(exactly(column, values, rows * layout.bytes));
      return;
    case "bits":
      to.put(exactly(column, values, bitBytes(rows)));
      return;
    case "bytes": {
      const end = writeOffsets(to, column, offsets);
      to.u32(end);
      to.put(exactly(column, values, end));
      return;
    }
    case "list":
      writeChild(to, column, 0, writeOffsets(to, column, offsets));
      return;
    case "array":
      writeChild(to, column, 0, rows * layout.size);
      return;
    case "fields":
      for (const at of children.keys()) writeChild(to, column, at, rows);
      return;
    case "nothing":
      return;
  }
}

function writeChild(to: ByteWriter, column: ColumnData, at: number, rows: number): void {
  const child = column.children[at];
  if (child?.rows !== rows) throw otherRows(child ?? column, rows);
  writeData(to, child);
}

function writeOffsets(to: ByteWriter, column: ColumnData, offsets: Uint32Array | undefined): number {
  if (offsets?.length !== column.rows + 1) {
    throw new ProtocolError(`a column of type ${column.type} has no ${column.rows + 1} offsets`);
  }
  to.put(littleEndianBytes(offsets));
  return checkedEnd(offsets);
}

function exactly(column: ColumnData, bytes: Uint8Array | undefined, byteLength: number): Uint8Array {
  if (bytes?.length === byteLength) return bytes;
  throw new ProtocolError(`a column of type ${column.type} has ${bytes?.length ?? 0} bytes, not ${byteLength}`);
}

function readData(from: ByteReader, type: string, rows: number): ColumnData {
  if (rows > maxColumnRows) throw new ProtocolError(`a column has ${rows} rows, more than ${maxColumnRows}`);
  const shape = shapeOf(type);
  const validity = from.bool() ? from.take(bitBytes(rows)) : undefined;
  const column = { type, rows, validity, values: undefined, offsets: undefined, children: [] };
  const { layout } = shape;
  switch (layout.kind) {
    case "fixed":
      return { ...column, values: from.take(rows * layout.bytes) };
    case "bits":
      return { ...column, values: from.take(bitBytes(rows)) };
    case "bytes": {
      const offsets = readOffsets(from, rows);
      const end = checkedEnd(offsets);
      const byteLength = from.u32();
      if (byteLength !== end) throw new ProtocolError(`${byteLength} bytes of strings, and the last offset is ${end}`);
      return { ...column, offsets, values: from.take(byteLength) };
    }
    case "list": {
      const offsets = readOffsets(from, rows);
      return { ...column, offsets, children: readChildren(from, shape, checkedEnd(offsets)) };
    }
    case "array":
      return { ...column, children: readChildren(from, shape, rows * layout.size) };
    case "fields":
      return { ...column, children: readChildren(from, shape, rows) };
    case "nothing":
      return column;
  }
}

function readChildren(from: ByteReader, shape: Shape, rows: number): ColumnData[] {
  return shape.childTypes.map((type) => readData(from, type, rows));
}

function readOffsets(from: ByteReader, rows: number): Uint32Array {
  // Copied: what lies in a message is aligned by chance only.
  const bytes = from.take((rows + 1) * 4).slice();
  return fromLittleEndian(bytes);
}

/** The last offset. Refuses offsets that do not begin at 0, or go back. */
function checkedEnd(offsets: Uint32Array): number {
  let last = 0;
  if (offsets[0] !== 0) throw new ProtocolError("offsets do not begin at 0");
  for (const offset of offsets) {
    if (offset < last) throw new ProtocolError("offsets go back");
    last = offset;
  }
  return last;
}

function bitBytes(rows: number): number {
  return Math.ceil(rows / 8);
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function littleEndianBytes(values: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return isLittleEndian ? bytes : Buffer.from(bytes).swap32();
}

function fromLittleEndian(bytes: Uint8Array): Uint32Array {
  if (!isLittleEndian) Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).swap32();
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}
