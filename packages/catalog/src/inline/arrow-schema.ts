import { CorruptionError, type IndexableType, parseColumnType, UnsupportedError } from "@moraine/codec";
import {
  Binary,
  Bool,
  BufferType,
  Data,
  DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeBinary,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  makeData,
  Map_,
  RecordBatchReader,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimeMicrosecond,
  TimeNanosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";
import { quoted } from "../model/error-text.js";
import { fieldType, mapEntriesField } from "./arrow-access.js";
import type { RecordBatchParts } from "./arrow-body.js";
import { checkedSchemaMessage } from "./arrow-schema-check.js";

/** A column with its nested fields, as inline rows need it. */
export interface InlineColumn {
  readonly name: string;
  readonly columnType: string;
  readonly children: readonly InlineColumn[];
}

/** One top-level field of a chunk, with where its parts begin in a record batch of its schema. */
export interface InlineField {
  readonly name: string;
  readonly type: DataType;
  readonly firstNode: number;
  readonly firstBuffer: number;
}

/** The schema of every chunk of one (table, schema version). */
export interface InlineSchema {
  readonly fields: readonly InlineField[];
  readonly nodeCount: number;
  readonly bufferCount: number;
}

const integerTypes: Readonly<Record<string, () => DataType>> = {
  int8: () => new Int8(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  int64: () => new Int64(),
  uint8: () => new Uint8(),
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  uint64: () => new Uint64(),
};

function timestampOf(type: IndexableType): DataType {
  const zone = type.withTimeZone === true ? "UTC" : null;
  switch (type.unit) {
    case "s":
      return new TimestampSecond(zone);
    case "ms":
      return new TimestampMillisecond(zone);
    case "ns":
      return new TimestampNanosecond(zone);
    default:
      return new TimestampMicrosecond(zone);
  }
}

/** The Arrow type in which DuckDB exports a scalar column without loss. */
function scalarArrowType(type: IndexableType): DataType {
  switch (type.logical) {
    case "integer": {
      const make = integerTypes[type.valueType];
      if (make === undefined) throw new CorruptionError(`integer column of width ${type.valueType}`);
      return make();
    }
    case "float":
      return type.valueType === "float32" ? new Float32() : new Float64();
    case "boolean":
      return new Bool();
    case "string":
      return new Utf8();
    case "blob":
      return new Binary();
    case "uuid":
      return new FixedSizeBinary(16);
    case "date":
      return new DateDay();
    case "time":
      return type.unit === "ns" ? new TimeNanosecond() : new TimeMicrosecond();
    case "timestamp":
      return timestampOf(type);
    case "decimal":
      return new Decimal(type.scale ?? 0, type.precision ?? 18, 128);
  }
}

function nestedKind(columnType: string): "struct" | "list" | "map" | undefined {
  const lower = columnType.trim().toLowerCase();
  return lower === "struct" || lower === "list" || lower === "map" ? lower : undefined;
}

function childOf(column: InlineColumn, position: number): InlineColumn {
  const child = column.children[position];
  if (child === undefined) throw new CorruptionError(`nested column ${quoted(column.name)} lacks a child`);
  return child;
}

/** Arrow type of a column, nested columns included. Fails with `unsupported` for types that plain values cannot express. */
export function arrowTypeOf(column: InlineColumn): DataType {
  switch (nestedKind(column.columnType)) {
    case "struct":
      return new Struct(column.children.map((child) => new Field(child.name, arrowTypeOf(child), true)));
    case "list": {
      const child = childOf(column, 0);
      return new List(new Field(child.name, arrowTypeOf(child), true));
    }
    case "map": {
      const key = new Field("key", arrowTypeOf(childOf(column, 0)), false);
      const value = new Field("value", arrowTypeOf(childOf(column, 1)), true);
      return new Map_(mapEntriesField(new Field<Struct>("entries", new Struct([key, value]), false)));
    }
    default:
      try {
        return scalarArrowType(parseColumnType(column.columnType));
      } catch (cause) {
        throw new UnsupportedError(`inline rows from plain values for a column of type ${quoted(column.columnType)}`, {
          remedy: "Pass the rows as an Arrow record batch, or register a data file.",
          cause,
        });
      }
  }
}

/** Encodes the schema record of a (table, schema version): an IPC stream that holds nothing but the schema. */
export function encodeSchema(columns: readonly InlineColumn[]): Uint8Array {
  return tableToIPC(
    new Table(new Schema(columns.map((column) => new Field(column.name, arrowTypeOf(column), true)))),
    "stream",
  );
}

interface Extent {
  readonly nodes: number;
  readonly buffers: number;
}

function extentOf(type: DataType): Extent {
  if (DataType.isDictionary(type) || DataType.isUnion(type)) {
    throw new UnsupportedError(`inline chunk with an Arrow ${type.toString()} column`, {
      remedy: "Decode the column before inserting it.",
    });
  }
  if (DataType.isNull(type)) return { nodes: 1, buffers: 0 };
  if (DataType.isUtf8(type) || DataType.isBinary(type) || DataType.isLargeUtf8(type) || DataType.isLargeBinary(type)) {
    return { nodes: 1, buffers: 3 };
  }
  const own =
    DataType.isList(type) || DataType.isMap(type)
      ? 2
      : DataType.isStruct(type) || DataType.isFixedSizeList(type)
        ? 1
        : undefined;
  if (own === undefined) {
    // Throws for a width that the type does not have.
    fixedBytes(type, 0);
    return { nodes: 1, buffers: 2 };
  }
  let nodes = 1;
  let buffers = own;
  for (const child of childrenOf(type)) {
    const extent = extentOf(fieldType(child));
    nodes += extent.nodes;
    buffers += extent.buffers;
  }
  return { nodes, buffers };
}

function childrenOf(type: DataType): readonly Field[] {
  const children: unknown = type.children;
  return Array.isArray(children) ? (children as readonly Field[]) : [];
}

/** Parses a schema record. Fails with `corruption` where the bytes are no Arrow schema. */
export function parseSchema(bytes: Uint8Array): InlineSchema {
  try {
    const reader = RecordBatchReader.from(checkedSchemaMessage(bytes));
    reader.open();
    return layOut(reader.schema.fields);
  } catch (cause) {
    if (cause instanceof UnsupportedError) throw cause;
    throw new CorruptionError("inline schema record is no Arrow schema", {
      remedy: "Restore the store: chunks of this schema version cannot be read.",
      cause,
    });
  }
}

function layOut(fields: readonly Field[]): InlineSchema {
  let nodeCount = 0;
  let bufferCount = 0;
  const inlineFields: InlineField[] = [];
  for (const field of fields) {
    const type = fieldType(field);
    inlineFields.push({ name: field.name, type, firstNode: nodeCount, firstBuffer: bufferCount });
    const extent = extentOf(type);
    nodeCount += extent.nodes;
    bufferCount += extent.buffers;
  }
  return { fields: inlineFields, nodeCount, bufferCount };
}

/** Reads one top-level field of a record batch into Arrow data. */
export function readField(schema: InlineSchema, parts: RecordBatchParts, position: number): Data {
  const field = schema.fields[position];
  if (field === undefined) throw new CorruptionError(`inline chunk has no field ${position}`);
  if (parts.nodes.length !== schema.nodeCount || parts.buffers.length !== schema.bufferCount) {
    throw new CorruptionError("inline chunk does not have the shape of its schema");
  }
  if (parts.nodes[field.firstNode]?.length !== parts.length) {
    throw new CorruptionError("inline chunk whose columns differ in length");
  }
  return readData(field.type, parts, { node: field.firstNode, buffer: field.firstBuffer });
}

interface Cursor {
  node: number;
  buffer: number;
}

function readData(type: DataType, parts: RecordBatchParts, cursor: Cursor): Data {
  const node = parts.nodes[cursor.node++];
  if (node === undefined) throw new CorruptionError("inline chunk lacks a field node");
  const take = (leastBytes: number): Uint8Array => {
    const buffer = parts.buffers[cursor.buffer++];
    if (buffer === undefined || buffer.byteLength < leastBytes)
      throw new CorruptionError("inline chunk lacks a buffer");
    return buffer;
  };
  const { length, nullCount } = node;
  if (nullCount > length) throw new CorruptionError("inline chunk with more NULLs than rows");
  if (DataType.isNull(type)) return makeData({ type, length });
  const validity = take(nullCount === 0 ? 0 : Math.ceil(length / 8));
  const nullBitmap = nullCount === 0 ? null : validity;
  if (DataType.isStruct(type)) {
    const children = childrenOf(type).map((child) => readData(fieldType(child), parts, cursor));
    if (children.some((child) => child.length !== length)) {
      throw new CorruptionError("inline struct whose fields differ in length");
    }
    return makeData({ type, length, nullCount, nullBitmap, children });
  }
  if (DataType.isFixedSizeList(type)) {
    const child = childrenOf(type)[0];
    if (child === undefined) throw new CorruptionError("inline list without a child");
    return makeData({ type, length, nullCount, nullBitmap, child: readData(fieldType(child), parts, cursor) });
  }
  if (DataType.isList(type) || DataType.isMap(type)) {
    const valueOffsets = int32View(take(length === 0 ? 0 : (length + 1) * 4));
    const child = childrenOf(type)[0];
    if (child === undefined) throw new CorruptionError("inline list without a child");
    const data = readData(fieldType(child), parts, cursor);
    checkOffsets(valueOffsets, length, data.length);
    return DataType.isList(type)
      ? makeData({ type, length, nullCount, nullBitmap, valueOffsets, child: data })
      : makeData({ type, length, nullCount, nullBitmap, valueOffsets, child: data as Data<Struct> });
  }
  if (DataType.isUtf8(type) || DataType.isBinary(type)) {
    const offsets = int32View(take(length === 0 ? 0 : (length + 1) * 4));
    const data = take(0);
    checkOffsets(offsets, length, data.byteLength);
    return DataType.isUtf8(type)
      ? makeData({ type, length, nullCount, nullBitmap, valueOffsets: offsets, data })
      : makeData({ type, length, nullCount, nullBitmap, valueOffsets: offsets, data });
  }
  if (DataType.isLargeUtf8(type) || DataType.isLargeBinary(type)) {
    const raw = take(length === 0 ? 0 : (length + 1) * 8);
    const offsets = new BigInt64Array(raw.buffer, raw.byteOffset, Math.floor(raw.byteLength / 8));
    const data = take(0);
    checkOffsets(offsets, length, data.byteLength);
    return DataType.isLargeUtf8(type)
      ? makeData({ type, length, nullCount, nullBitmap, valueOffsets: offsets, data })
      : makeData({ type, length, nullCount, nullBitmap, valueOffsets: offsets, data });
  }
  const values = typedView(type, take(fixedBytes(type, length)));
  const buffers =
    nullBitmap === null
      ? { [BufferType.DATA]: values }
      : { [BufferType.DATA]: values, [BufferType.VALIDITY]: nullBitmap };
  return new Data(type, 0, length, nullCount, buffers);
}

/** The elements of a list, text or blob column lie one after another within their `available` values or bytes. */
function checkOffsets(offsets: Int32Array | BigInt64Array, length: number, available: number): void {
  if (length === 0) return;
  let previous: number | bigint = offsets[0] ?? -1;
  if (previous < 0) throw new CorruptionError("inline chunk with a negative offset");
  for (let i = 1; i <= length; i++) {
    const offset: number | bigint = offsets[i] ?? -1;
    if (offset < previous) throw new CorruptionError("inline chunk with offsets that run backwards");
    previous = offset;
  }
  if (previous > available) throw new CorruptionError("inline chunk with an offset beyond its values");
}

function fixedBytes(type: DataType, length: number): number {
  if (DataType.isBool(type)) return Math.ceil(length / 8);
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth * length;
  if (DataType.isDecimal(type)) return (type.bitWidth / 8) * length;
  const ArrayType = type.ArrayType as { readonly BYTES_PER_ELEMENT: number };
  return ArrayType.BYTES_PER_ELEMENT * length;
}

function typedView(type: DataType, bytes: Uint8Array): ArrayBufferView {
  if (DataType.isBool(type) || DataType.isFixedSizeBinary(type)) return bytes;
  const ArrayType = type.ArrayType as unknown as {
    readonly BYTES_PER_ELEMENT: number;
    new (buffer: ArrayBufferLike, offset: number, length: number): ArrayBufferView;
  };
  return new ArrayType(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / ArrayType.BYTES_PER_ELEMENT));
}

function int32View(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 4));
}
