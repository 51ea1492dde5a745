import { CorruptionError } from "@moraine/codec";
import { BufferType, Data, DataType, IntervalUnit, makeData, type Struct } from "apache-arrow";
import { fieldType } from "./arrow-access.js";
import type { FieldNode, RecordBatchParts } from "./arrow-body.js";
import { childrenOf, type InlineSchema } from "./arrow-schema.js";

/**
 * Reads one top-level field of a record batch into Arrow data. Arrow itself takes lengths and offsets on trust and then reads
 * nonsense or runs out of its buffers; here everything is checked first.
 *
 * Errors: `corruption` for parts that do not fit the schema or each other.
 */
export function readField(schema: InlineSchema, parts: RecordBatchParts, position: number): Data {
  const field = schema.fields[position];
  if (field === undefined) throw damaged(`has no field ${position}`);
  if (parts.nodes.length !== schema.nodeCount || parts.buffers.length !== schema.bufferCount) {
    throw damaged("does not have the shape of its schema");
  }
  const cursor = new Cursor(parts, field.firstNode, field.firstBuffer);
  const data = readData(field.type, cursor);
  if (data.length !== parts.length) throw damaged("has a column of another length than its rows");
  return data;
}

const alignmentBytes = 8;

function damaged(what: string): CorruptionError {
  return new CorruptionError(`inline chunk ${what}`);
}

/** The next parts of a batch, in depth-first order of its fields. */
class Cursor {
  readonly #parts: RecordBatchParts;
  #node: number;
  #buffer: number;

  constructor(parts: RecordBatchParts, node: number, buffer: number) {
    this.#parts = parts;
    this.#node = node;
    this.#buffer = buffer;
  }

  node(): FieldNode {
    const node = this.#parts.nodes[this.#node++];
    if (node === undefined) throw damaged("lacks a field node");
    if (node.nullCount > node.length) throw damaged("has more NULLs than rows");
    return node;
  }

  buffer(leastBytes: number): Uint8Array {
    const buffer = this.#parts.buffers[this.#buffer++];
    if (buffer === undefined || buffer.byteLength < leastBytes) throw damaged("lacks a buffer");
    // Typed arrays need aligned bytes, and where a body lies in memory is up to the store.
    return buffer.byteOffset % alignmentBytes === 0 ? buffer : buffer.slice();
  }
}

function readData(type: DataType, cursor: Cursor): Data {
  const { length, nullCount } = cursor.node();
  if (DataType.isNull(type)) return makeData({ type, length });
  const validity = cursor.buffer(nullCount === 0 ? 0 : Math.ceil(length / 8));
  const nullBitmap = nullCount === 0 ? null : validity;
  if (DataType.isStruct(type)) {
    const children = childrenOf(type).map((child) => readChild(fieldType(child), cursor, length));
    return makeData({ type, length, nullCount, nullBitmap, children });
  }
  if (DataType.isFixedSizeList(type)) {
    const child = readChild(elementType(type), cursor, length * type.listSize);
    return makeData({ type, length, nullCount, nullBitmap, child });
  }
  if (DataType.isList(type) || DataType.isMap(type)) {
    const valueOffsets = offsets32(cursor.buffer(offsetBytes(length, 4)), length);
    const child = readChild(elementType(type), cursor, valueOffsets[length] ?? 0);
    return DataType.isList(type)
      ? makeData({ type, length, nullCount, nullBitmap, valueOffsets, child })
      : makeData({ type, length, nullCount, nullBitmap, valueOffsets, child: child as Data<Struct> });
  }
  if (DataType.isUtf8(type) || DataType.isBinary(type)) {
    const valueOffsets = offsets32(cursor.buffer(offsetBytes(length, 4)), length);
    const data = cursor.buffer(valueOffsets[length] ?? 0);
    return DataType.isUtf8(type)
      ? makeData({ type, length, nullCount, nullBitmap, valueOffsets, data })
      : makeData({ type, length, nullCount, nullBitmap, valueOffsets, data });
  }
  if (DataType.isLargeUtf8(type) || DataType.isLargeBinary(type)) {
    const valueOffsets = offsets64(cursor.buffer(offsetBytes(length, 8)), length);
    const data = cursor.buffer(Number(valueOffsets[length] ?? 0n));
    return DataType.isLargeUtf8(type)
      ? makeData({ type, length, nullCount, nullBitmap, valueOffsets, data })
      : makeData({ type, length, nullCount, nullBitmap, valueOffsets, data });
  }
  const values = typedView(type, cursor.buffer(fixedBytes(type, length)));
  const buffers =
    nullBitmap === null
      ? { [BufferType.DATA]: values }
      : { [BufferType.DATA]: values, [BufferType.VALIDITY]: nullBitmap };
  return new Data(type, 0, length, nullCount, buffers);
}

/** Values below a nested column. There may be more of them than the column refers to, never fewer. */
function readChild(type: DataType, cursor: Cursor, leastLength: number): Data {
  const child = readData(type, cursor);
  if (child.length < leastLength) throw damaged("has fewer nested values than it refers to");
  return child;
}

function elementType(type: DataType): DataType {
  const child = childrenOf(type)[0];
  if (child === undefined) throw damaged("has a list without an element type");
  return fieldType(child);
}

function offsetBytes(length: number, width: number): number {
  return length === 0 ? 0 : (length + 1) * width;
}

/** Offsets have to begin at 0 or above and never fall: then the last one bounds them all. */
function offsets32(bytes: Uint8Array, length: number): Int32Array {
  const offsets = new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 4));
  if (length === 0) return offsets;
  let last = 0;
  for (let i = 0; i <= length; i++) {
    const offset = offsets[i] ?? -1;
    if (offset < last) throw damaged("has offsets that fall");
    last = offset;
  }
  return offsets;
}

function offsets64(bytes: Uint8Array, length: number): BigInt64Array {
  const offsets = new BigInt64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 8));
  if (length === 0) return offsets;
  let last = 0n;
  for (let i = 0; i <= length; i++) {
    const offset = offsets[i] ?? -1n;
    if (offset < last || offset > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged("has offsets that fall");
    last = offset;
  }
  return offsets;
}

interface TypedArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): ArrayBufferView;
}

function arrayTypeOf(type: DataType): TypedArrayConstructor {
  return type.ArrayType as TypedArrayConstructor;
}

const intervalBytes = {
  [IntervalUnit.YEAR_MONTH]: 4,
  [IntervalUnit.DAY_TIME]: 8,
  [IntervalUnit.MONTH_DAY_NANO]: 16,
} as const;

function fixedBytes(type: DataType, length: number): number {
  if (DataType.isBool(type)) return Math.ceil(length / 8);
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth * length;
  if (DataType.isDecimal(type)) return (type.bitWidth / 8) * length;
  if (DataType.isInterval(type)) return intervalBytes[type.unit] * length;
  return arrayTypeOf(type).BYTES_PER_ELEMENT * length;
}

function typedView(type: DataType, bytes: Uint8Array): ArrayBufferView {
  if (DataType.isBool(type) || DataType.isFixedSizeBinary(type)) return bytes;
  const ArrayType = arrayTypeOf(type);
  return new ArrayType(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / ArrayType.BYTES_PER_ELEMENT));
}
