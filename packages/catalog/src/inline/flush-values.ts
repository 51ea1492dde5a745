import { ConstraintError, fromIndexValue } from "@moraine/codec";
import {
  type Data,
  DataType,
  Field,
  List,
  makeData,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimeUnit,
  Utf8,
} from "apache-arrow";
import { quoted } from "../model/error-text.js";
import { columnData, fieldType, mapEntriesField } from "./arrow-access.js";
import { childrenOf } from "./arrow-schema.js";
import { timestampsInRange } from "./timestamp-range.js";

const microsPerSecond = 1_000_000n;
/** DuckDB's positive infinity, in timestamps of every unit. The negative one is its negative. */
const infinity = 2n ** 63n - 1n;
const utf8 = new TextEncoder();

/**
 * A chunk's rows in the types that DuckDB writes to Parquet, which has no timestamps in seconds and in which DuckDB reads times in
 * nanoseconds as microseconds: it writes the former as microseconds, the latter as text. Done on whole chunks, as slices share
 * their bitmaps. `isLive` marks the rows that are going to be written.
 *
 * Errors: `constraint` for a live row with a timestamp that DuckDB does not have.
 */
export function writableTable(table: Table, isLive: Uint8Array): Table {
  for (const [at, field] of table.schema.fields.entries()) {
    if (timestampsInRange(columnData(table, at), isLive)) continue;
    throw new ConstraintError(`column ${quoted(field.name)} has an inline row with a timestamp beyond DuckDB's range`, {
      remedy: "Delete the row, or insert it anew with another value.",
    });
  }
  if (!table.schema.fields.some((field) => isRewritten(fieldType(field)))) return table;
  const fields = table.schema.fields.map(writableField);
  const children = fields.map((_, at) => writableData(columnData(table, at)));
  const data = makeData({ type: new Struct(fields), length: table.numRows, nullCount: 0, children });
  return new Table([new RecordBatch(new Schema(fields), data)]);
}

function isSeconds(type: DataType): type is DataType & { readonly timezone: string | null } {
  return DataType.isTimestamp(type) && type.unit === TimeUnit.SECOND;
}

function isNanosecondTime(type: DataType): boolean {
  return DataType.isTime(type) && type.unit === TimeUnit.NANOSECOND;
}

function isRewritten(type: DataType): boolean {
  return isSeconds(type) || isNanosecondTime(type) || childrenOf(type).some((child) => isRewritten(fieldType(child)));
}

function writableField(field: Field): Field {
  return new Field(field.name, writableType(fieldType(field)), field.nullable, field.metadata);
}

function writableType(type: DataType): DataType {
  if (isSeconds(type)) return new TimestampMicrosecond(type.timezone ?? null);
  if (isNanosecondTime(type)) return new Utf8();
  if (!isRewritten(type)) return type;
  const fields = childrenOf(type).map(writableField);
  if (DataType.isStruct(type)) return new Struct(fields);
  if (DataType.isList(type)) return new List(fields[0]!);
  return DataType.isMap(type) ? new Map_(mapEntriesField(fields[0] as Field<Struct>), type.keysSorted) : type;
}

function writableData(data: Data): Data {
  const { length, nullCount, nullBitmap } = data;
  if (!isRewritten(data.type)) return data;
  const type = writableType(data.type);
  const common = { length, nullCount, nullBitmap };
  if (DataType.isTimestamp(type)) return makeData({ ...common, type, data: microsOf(data) });
  if (DataType.isUtf8(type)) return makeData({ ...common, type, ...timeTexts(data) });
  const children = data.children.map(writableData);
  if (DataType.isStruct(type)) return makeData({ ...common, type, children });
  const valueOffsets = data.valueOffsets as Int32Array;
  if (DataType.isList(type)) return makeData({ ...common, type, valueOffsets, child: children[0]! });
  if (DataType.isMap(type)) return makeData({ ...common, type, valueOffsets, child: children[0] as Data<Struct> });
  return data;
}

/** What NULLs and dead rows hide may be any count, and is lost. */
function microsOf(data: Data): BigInt64Array {
  return BigInt64Array.from(data.values as BigInt64Array, (seconds) =>
    seconds === infinity || seconds === -infinity ? seconds : seconds * microsPerSecond,
  );
}

function timeTexts(data: Data): { valueOffsets: Int32Array; data: Uint8Array } {
  const counts = data.values as BigInt64Array;
  const texts = Array.from({ length: data.length }, (_, row) =>
    data.getValid(row) ? utf8.encode(String(fromIndexValue("TIME_NS", counts[row] ?? 0n))) : new Uint8Array(0),
  );
  const valueOffsets = new Int32Array(data.length + 1);
  texts.forEach((text, row) => (valueOffsets[row + 1] = (valueOffsets[row] ?? 0) + text.length));
  const bytes = new Uint8Array(valueOffsets[data.length] ?? 0);
  texts.forEach((text, row) => bytes.set(text, valueOffsets[row]));
  return { valueOffsets, data: bytes };
}
