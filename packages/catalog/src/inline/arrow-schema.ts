import { CorruptionError, parseColumnType, UnsupportedError } from "@moraine/codec";
import {
  DataType,
  DateUnit,
  Field,
  IntervalUnit,
  List,
  Map_,
  Precision,
  RecordBatchReader,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimeUnit,
} from "apache-arrow";
import { quoted } from "../model/error-text.js";
import { fieldType, mapEntriesField, typeText } from "./arrow-access.js";
import { scalarArrowType } from "./arrow-types.js";
import { checkSchemaStream } from "./schema-stream.js";

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
  /** Of the field itself, not of those below it: what says that bytes are a type of DuckDB's own. */
  readonly metadata: ReadonlyMap<string, string>;
  readonly firstNode: number;
  readonly firstBuffer: number;
}

/** The schema of every chunk of one (table, schema version). */
export interface InlineSchema {
  readonly fields: readonly InlineField[];
  readonly nodeCount: number;
  readonly bufferCount: number;
}

/** Whether a column is nested, and how. */
export function nestedKind(columnType: string): "struct" | "list" | "map" | undefined {
  const lower = columnType.trim().toLowerCase();
  return lower === "struct" || lower === "list" || lower === "map" ? lower : undefined;
}

/** A field of a nested column: a list has one, a map its key and its value. */
export function childOf<T extends InlineColumn & { readonly children: readonly T[] }>(column: T, position: number): T {
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
    throw new UnsupportedError(`inline chunk with an Arrow ${typeText(type)} column`, {
      remedy: "Decode the column before inserting it.",
    });
  }
  const own = ownBuffers(type);
  if (own === undefined) throw new CorruptionError("inline schema record names a type that no chunk can have");
  let nodes = 1;
  let buffers = own;
  for (const child of childrenOf(type)) {
    const extent = extentOf(fieldType(child));
    nodes += extent.nodes;
    buffers += extent.buffers;
  }
  return { nodes, buffers };
}

/**
 * How many buffers a column has beside those of its children; `undefined` for types that DuckDB does not export, and for widths
 * and units that no type has. Apache Arrow takes those on trust too, and fails when it is asked for a value.
 */
function ownBuffers(type: DataType): number | undefined {
  if (DataType.isNull(type)) return 0;
  if (DataType.isStruct(type)) return 1;
  if (DataType.isFixedSizeList(type)) return childrenOf(type).length === 1 && type.listSize >= 0 ? 1 : undefined;
  if (DataType.isList(type)) return childrenOf(type).length === 1 ? 2 : undefined;
  if (DataType.isMap(type)) return isMapOfPairs(type) ? 2 : undefined;
  if (DataType.isUtf8(type) || DataType.isBinary(type) || DataType.isLargeUtf8(type) || DataType.isLargeBinary(type)) {
    return 3;
  }
  return isFixedWidth(type) ? 2 : undefined;
}

function isMapOfPairs(type: DataType): boolean {
  const entries = childrenOf(type);
  const pair = entries[0] === undefined ? undefined : fieldType(entries[0]);
  return entries.length === 1 && pair !== undefined && DataType.isStruct(pair) && childrenOf(pair).length === 2;
}

function isFixedWidth(type: DataType): boolean {
  if (DataType.isBool(type)) return true;
  if (DataType.isInt(type)) return [8, 16, 32, 64].includes(type.bitWidth);
  if (DataType.isFloat(type)) return type.precision === Precision.SINGLE || type.precision === Precision.DOUBLE;
  // A scale out of all bounds would ask for a power of ten that takes forever to compute.
  if (DataType.isDecimal(type)) {
    return type.bitWidth === 128 && type.precision <= 38 && type.scale >= 0 && type.scale <= type.precision;
  }
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth >= 0;
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY;
  if (DataType.isTime(type))
    return (
      type.bitWidth === (type.unit === TimeUnit.SECOND || type.unit === TimeUnit.MILLISECOND ? 32 : 64) &&
      isTimeUnit(type.unit)
    );
  if (DataType.isTimestamp(type) || DataType.isDuration(type)) return isTimeUnit(type.unit);
  return (
    DataType.isInterval(type) &&
    [IntervalUnit.YEAR_MONTH, IntervalUnit.DAY_TIME, IntervalUnit.MONTH_DAY_NANO].includes(type.unit)
  );
}

function isTimeUnit(unit: TimeUnit): boolean {
  return [TimeUnit.SECOND, TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND].includes(unit);
}

/** Fields below a nested type. A record may leave them out, which Arrow does not notice. */
export function childrenOf(type: DataType): readonly Field[] {
  const children: unknown = type.children;
  if (!Array.isArray(children)) return [];
  if (children.includes(undefined)) throw new CorruptionError("inline schema record leaves out a nested field");
  return children as readonly Field[];
}

/** Parses a schema record. Fails with `corruption` where the bytes are no Arrow schema. */
export function parseSchema(bytes: Uint8Array): InlineSchema {
  checkSchemaStream(bytes);
  try {
    const reader = RecordBatchReader.from(bytes);
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
    const { name, metadata } = field;
    inlineFields.push({ name, type, metadata, firstNode: nodeCount, firstBuffer: bufferCount });
    const extent = extentOf(type);
    nodeCount += extent.nodes;
    bufferCount += extent.buffers;
  }
  return { fields: inlineFields, nodeCount, bufferCount };
}
