import { CorruptionError, type IndexableType } from "@moraine/codec";
import {
  Binary,
  Bool,
  DataType,
  DateDay,
  Decimal,
  FixedSizeBinary,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  Precision,
  TimeMicrosecond,
  TimeNanosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  TimeUnit,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";

/** What says which values a column of Arrow data has. */
export interface TypedField {
  readonly type: DataType;
  readonly metadata: ReadonlyMap<string, string>;
}

const uuidBytes = 16;

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

/** The Arrow type in which DuckDB exports a scalar column without loss. `columnTypeOf` is its inverse. */
export function scalarArrowType(type: IndexableType): DataType {
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

const timestampTypes: Readonly<Record<TimeUnit, string>> = {
  [TimeUnit.SECOND]: "TIMESTAMP_S",
  [TimeUnit.MILLISECOND]: "TIMESTAMP_MS",
  [TimeUnit.MICROSECOND]: "TIMESTAMP",
  [TimeUnit.NANOSECOND]: "TIMESTAMP_NS",
};

/** The column type whose values a scalar Arrow column has; `undefined` for what no index and no plain row holds. */
export function columnTypeOf({ type, metadata }: TypedField): string | undefined {
  if (DataType.isBool(type)) return "BOOLEAN";
  if (DataType.isInt(type)) return `${type.isSigned ? "INT" : "UINT"}${type.bitWidth}`;
  if (DataType.isFloat(type)) return type.precision === Precision.SINGLE ? "FLOAT" : "DOUBLE";
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return "VARCHAR";
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return "BLOB";
  if (DataType.isFixedSizeBinary(type)) {
    // DuckDB exports other types of sixteen bytes too, HUGEINT for one, and marks them as opaque.
    const isOpaque = metadata.get("ARROW:extension:name") === "arrow.opaque";
    return type.byteWidth === uuidBytes && !isOpaque ? "UUID" : "BLOB";
  }
  if (DataType.isDate(type)) return "DATE";
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? "TIME_NS" : "TIME";
  if (DataType.isTimestamp(type)) return (type.timezone ?? "") === "" ? timestampTypes[type.unit] : "TIMESTAMPTZ";
  return DataType.isDecimal(type) ? `DECIMAL(${type.precision},${type.scale})` : undefined;
}
