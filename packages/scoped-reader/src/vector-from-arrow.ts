import { isUtf8 } from "node:buffer";
import { DataType, type Data, Precision, TimeUnit as ArrowTimeUnit, DateUnit, Vector } from "apache-arrow";
import { type ColumnVector, ConstraintError, type IndexableType, parseColumnType } from "@moraine/codec";
import { ConversionFailed } from "./malformed.js";
import type { TimeUnit } from "./parquet/schema.js";
import { convertColumn } from "./values/convert.js";
import { integersOf } from "./values/numbers.js";
import type { RawColumn } from "./values/raw-column.js";
import type { SourceType } from "./values/source-type.js";
import { concatVectors, gatherVector, nullVector } from "./values/vector.js";

const maxBytes = 2 ** 31 - 1;

/**
 * An Arrow column in the flat form that index keys are built from, through the same conversion as a column of a Parquet
 * file: a value has the same bytes whether it was stored inline or in a file. `columnType` is the DuckLake type name.
 *
 * Dictionary-encoded columns are resolved. Nothing is shared with the Arrow buffers. Timestamps with and without time
 * zone are told apart, as they are in Parquet files.
 *
 * Errors: `constraint` when the Arrow type or a value does not fit the column's type, or buffers are shorter than the
 * column says, and when the column type cannot be indexed.
 */
export function vectorFromArrow(column: Vector | Data, columnType: string): ColumnVector {
  const type = parseColumnType(columnType);
  const parts = column instanceof Vector ? (column.data as readonly Data[]) : [column];
  try {
    if (parts.length === 0) return nullVector(type.valueType, 0);
    return concatVectors(
      parts.map((part) => convertData(part, type)),
      type.valueType,
    );
  } catch (error) {
    if (!(error instanceof ConversionFailed)) throw error;
    throw new ConstraintError(`an Arrow column does not fit the column type ${columnType}: ${error.message}`, {
      remedy: "Give the Arrow column the type that DuckDB exports for the column's type.",
      cause: error,
    });
  }
}

function convertData(data: Data, type: IndexableType): ColumnVector {
  if (DataType.isDictionary(data.type)) return convertDictionary(data, type);
  const source = sourceTypeOfArrow(data.type);
  return convertColumn(rawOfArrow(data, source), source, type);
}

/** Indices are converted like a column of their own, so that their NULLs and their bounds are checked alike. */
function convertDictionary(data: Data, type: IndexableType): ColumnVector {
  const { dictionary } = data;
  if (dictionary === undefined) throw new ConversionFailed("a dictionary column has no dictionary");
  const entries = concatVectors(
    dictionary.data.map((part: Data) => convertData(part, type)),
    type.valueType,
  );
  const indexType = (data.type as { indices?: { bitWidth: number; isSigned: boolean } }).indices;
  const bytes = (indexType?.bitWidth ?? 0) / 8;
  if (bytes !== 1 && bytes !== 2 && bytes !== 4) throw new ConversionFailed("a dictionary column has wide indices");
  const raw = rawOfArrow(data, { kind: "integer", bytes, signed: indexType?.isSigned ?? true });
  const indices = integersOf(raw, bytes, indexType?.isSigned ?? true);
  const isNull = (row: number): boolean => {
    const at = raw.validityOffset + row;
    return raw.validity !== null && (((raw.validity[at >> 3] ?? 0) >> (at & 7)) & 1) === 0;
  };
  const rows = new Uint32Array(data.length);
  for (let i = 0; i < rows.length; i++) {
    const index = isNull(i) ? entries.length : (indices[i] ?? -1);
    if (index < 0 || (index >= entries.length && !isNull(i)))
      throw new ConversionFailed("a dictionary index is out of range");
    rows[i] = index;
  }
  // One NULL entry behind the dictionary stands for NULL indices.
  return gatherVector(concatVectors([entries, nullVector(type.valueType, 1)], type.valueType), rows);
}

const units: Readonly<Record<ArrowTimeUnit, TimeUnit>> = {
  [ArrowTimeUnit.SECOND]: "s",
  [ArrowTimeUnit.MILLISECOND]: "ms",
  [ArrowTimeUnit.MICROSECOND]: "us",
  [ArrowTimeUnit.NANOSECOND]: "ns",
};

function sourceTypeOfArrow(type: DataType): SourceType {
  if (DataType.isNull(type)) return { kind: "null" };
  if (DataType.isBool(type)) return { kind: "boolean" };
  if (DataType.isInt(type)) {
    const bytes = type.bitWidth / 8;
    if (bytes === 1 || bytes === 2 || bytes === 4 || bytes === 8)
      return { kind: "integer", bytes, signed: type.isSigned };
  }
  if (DataType.isFloat(type)) {
    const bytes = { [Precision.HALF]: 2, [Precision.SINGLE]: 4, [Precision.DOUBLE]: 8 } as const;
    return { kind: "float", bytes: bytes[type.precision] };
  }
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return { kind: "string" };
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return { kind: "bytes" };
  if (DataType.isFixedSizeBinary(type)) return { kind: "fixed", width: type.byteWidth };
  if (DataType.isDate(type)) return { kind: "date", unit: type.unit === DateUnit.DAY ? "day" : "ms" };
  if (DataType.isTime(type)) return { kind: "time", unit: units[type.unit], bytes: type.bitWidth === 32 ? 4 : 8 };
  if (DataType.isTimestamp(type)) {
    return { kind: "timestamp", unit: units[type.unit], adjustedToUtc: (type.timezone ?? "") !== "" };
  }
  if (DataType.isDecimal(type)) {
    const storage = { endian: "little", width: type.bitWidth / 8 } as const;
    return { kind: "decimal", precision: type.precision, scale: type.scale, storage };
  }
  return { kind: "other", name: `Arrow type ${type.typeId}` };
}

/** Bytes of one row, 0 for variable-length values, or bits for booleans. */
function storageWidth(source: SourceType): number | "bits" | "variable" {
  switch (source.kind) {
    case "boolean":
      return "bits";
    case "integer":
    case "float":
    case "time":
      return source.bytes;
    case "fixed":
      return source.width;
    case "date":
      return source.unit === "day" ? 4 : 8;
    case "timestamp":
      return 8;
    case "decimal":
      return source.storage.width;
    case "string":
    case "bytes":
      return "variable";
    case "null":
    case "other":
    case "int96":
      return 0;
  }
}

/** Arrow buffers as a raw column, every length checked first: nothing behind this looks beyond what it was promised. */
function rawOfArrow(data: Data, source: SourceType): RawColumn {
  const { length, offset } = data;
  const validity = data.nullCount === 0 || source.kind === "null" ? null : data.nullBitmap;
  if (validity !== null && validity.length > 0) requireBytes(validity, Math.ceil((offset + length) / 8));
  const common = {
    length,
    validity: validity === null || validity.length === 0 ? null : validity,
    validityOffset: offset,
    valuesOffset: 0,
    offsets: null,
  };
  const width = storageWidth(source);
  const values = width === 0 ? new Uint8Array(0) : bytesOf(data.values as ArrayBufferView | undefined);
  if (width === "bits") {
    requireBytes(values, Math.ceil((offset + length) / 8));
    return { ...common, values, valuesOffset: offset };
  }
  if (width !== "variable") {
    requireBytes(values, length * width);
    return { ...common, values: values.subarray(0, length * width) };
  }
  const offsets = checkedOffsets(data.valueOffsets as Int32Array | BigInt64Array | undefined, length, values.length);
  if (source.kind === "string" && !isUtf8(values.subarray(offsets[0], offsets[length]))) {
    throw new ConversionFailed("a string is not valid UTF-8");
  }
  return { ...common, values, offsets };
}

function checkedOffsets(offsets: Int32Array | BigInt64Array | undefined, length: number, bytes: number): Int32Array {
  if (length === 0) return new Int32Array(1);
  if (offsets === undefined || offsets.length <= length || bytes > maxBytes) {
    throw new ConversionFailed("a buffer is shorter or longer than its column");
  }
  const narrow = offsets instanceof Int32Array ? offsets : Int32Array.from(offsets, Number);
  let last = 0;
  for (let i = 0; i <= length; i++) {
    const next = narrow[i] ?? -1;
    if (next < last || next > bytes) throw new ConversionFailed("the offsets of a column are out of order");
    last = next;
  }
  return narrow;
}

function bytesOf(view: ArrayBufferView | undefined): Uint8Array {
  if (view === undefined) return new Uint8Array(0);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function requireBytes(bytes: Uint8Array, needed: number): void {
  if (bytes.length < needed) throw new ConversionFailed("a buffer is shorter than its column");
}
