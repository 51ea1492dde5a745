import { ConstraintError } from "./errors.js";
import type { IndexValueType } from "./index-value.js";
import { maxCachedColumnTypes } from "./limits.js";

/** What one count of a temporal type is. */
export type TimeUnit = "s" | "ms" | "us" | "ns";

/** A column type as an index sees it. */
export interface IndexableType {
  readonly valueType: IndexValueType;
  readonly logical:
    | "integer"
    | "float"
    | "boolean"
    | "string"
    | "blob"
    | "uuid"
    | "date"
    | "time"
    | "timestamp"
    | "decimal";
  /** Of `time` and `timestamp`: what the integer counts. */
  readonly unit?: TimeUnit;
  /** Of `timestamp`: whether it stands for an instant. Its count is the same either way. */
  readonly withTimeZone?: boolean;
  /** Of `decimal`: all digits, and those after the point. The integer is the value times 10^scale. */
  readonly precision?: number;
  readonly scale?: number;
}

const plainTypes: Readonly<Record<string, IndexableType>> = {
  TINYINT: { valueType: "int8", logical: "integer" },
  INT8: { valueType: "int8", logical: "integer" },
  SMALLINT: { valueType: "int16", logical: "integer" },
  INT16: { valueType: "int16", logical: "integer" },
  INTEGER: { valueType: "int32", logical: "integer" },
  INT: { valueType: "int32", logical: "integer" },
  INT32: { valueType: "int32", logical: "integer" },
  BIGINT: { valueType: "int64", logical: "integer" },
  INT64: { valueType: "int64", logical: "integer" },
  UTINYINT: { valueType: "uint8", logical: "integer" },
  UINT8: { valueType: "uint8", logical: "integer" },
  USMALLINT: { valueType: "uint16", logical: "integer" },
  UINT16: { valueType: "uint16", logical: "integer" },
  UINTEGER: { valueType: "uint32", logical: "integer" },
  UINT32: { valueType: "uint32", logical: "integer" },
  UBIGINT: { valueType: "uint64", logical: "integer" },
  UINT64: { valueType: "uint64", logical: "integer" },
  BOOLEAN: { valueType: "boolean", logical: "boolean" },
  BOOL: { valueType: "boolean", logical: "boolean" },
  FLOAT: { valueType: "float32", logical: "float" },
  FLOAT32: { valueType: "float32", logical: "float" },
  REAL: { valueType: "float32", logical: "float" },
  DOUBLE: { valueType: "float64", logical: "float" },
  FLOAT64: { valueType: "float64", logical: "float" },
  "DOUBLE PRECISION": { valueType: "float64", logical: "float" },
  VARCHAR: { valueType: "string", logical: "string" },
  TEXT: { valueType: "string", logical: "string" },
  STRING: { valueType: "string", logical: "string" },
  JSON: { valueType: "string", logical: "string" },
  BLOB: { valueType: "bytes", logical: "blob" },
  BYTEA: { valueType: "bytes", logical: "blob" },
  BINARY: { valueType: "bytes", logical: "blob" },
  VARBINARY: { valueType: "bytes", logical: "blob" },
  UUID: { valueType: "bytes", logical: "uuid" },
  DATE: { valueType: "int32", logical: "date" },
  TIME: { valueType: "int64", logical: "time", unit: "us" },
  TIME_NS: { valueType: "int64", logical: "time", unit: "ns" },
  TIMESTAMP: { valueType: "int64", logical: "timestamp", unit: "us", withTimeZone: false },
  DATETIME: { valueType: "int64", logical: "timestamp", unit: "us", withTimeZone: false },
  TIMESTAMP_S: { valueType: "int64", logical: "timestamp", unit: "s", withTimeZone: false },
  TIMESTAMP_MS: { valueType: "int64", logical: "timestamp", unit: "ms", withTimeZone: false },
  TIMESTAMP_US: { valueType: "int64", logical: "timestamp", unit: "us", withTimeZone: false },
  TIMESTAMP_NS: { valueType: "int64", logical: "timestamp", unit: "ns", withTimeZone: false },
  TIMESTAMPTZ: { valueType: "int64", logical: "timestamp", unit: "us", withTimeZone: true },
  "TIMESTAMP WITH TIME ZONE": { valueType: "int64", logical: "timestamp", unit: "us", withTimeZone: true },
};

const tooWide = "DuckDB writes 128-bit integers to Parquet as a double, which loses digits";
const nested = "a nested type has no single value";
const zonedTime = "a time of day with an offset is not one count";

/** Known types that no index holds, with the reason. */
const refusedTypes: Readonly<Record<string, string>> = {
  HUGEINT: tooWide,
  INT128: tooWide,
  UHUGEINT: tooWide,
  UINT128: tooWide,
  BIGNUM: "a number of unbounded length has no fixed-width key",
  VARINT: "a number of unbounded length has no fixed-width key",
  INTERVAL: "months, days and time of an interval are not one count",
  TIMETZ: zonedTime,
  "TIME WITH TIME ZONE": zonedTime,
  VARIANT: "its values are of several types, which have no common order",
  LIST: nested,
  ARRAY: nested,
  STRUCT: nested,
  ROW: nested,
  MAP: nested,
  UNION: nested,
  ENUM: "an enumeration orders by its own list, which keys do not hold",
  BIT: "bit strings have no order that keys hold",
  GEOMETRY: "shapes have no order",
};

/** Types that take parameters which do not change their keys. */
const lengthTypes = new Set(["VARCHAR", "TEXT", "STRING"]);
const decimalTypes = new Set(["DECIMAL", "NUMERIC", "DEC"]);
const maxDecimalPrecision = 38;
const defaultDecimal = { precision: 18, scale: 3 } as const;

const cache = new Map<string, IndexableType>();

/**
 * What an index holds for a column of this DuckLake type. Case and spacing do not matter. Names are DuckLake's: `int8` has
 * eight bits. Decimals map to the integer width that DuckDB gives them: up to 4, 9, 18 and 38 digits.
 *
 * Errors: `constraint`, with the reason, for types that cannot be indexed: 128-bit integers, nested types, `INTERVAL`,
 * `TIMETZ`, `VARIANT`, collated text and unknown ones. Source: specification, "Canonical value encoding".
 */
export function parseColumnType(columnType: string): IndexableType {
  const known = cache.get(columnType);
  if (known !== undefined) return known;
  const parsed = parse(columnType.trim().replace(/\s+/g, " ").toUpperCase());
  if (cache.size >= maxCachedColumnTypes) cache.clear();
  cache.set(columnType, parsed);
  return parsed;
}

function parse(text: string): IndexableType {
  if (/\bCOLLATE\b/.test(text)) throw refused("VARCHAR COLLATE", "keys order text by its bytes, not by a collation");
  if (text.endsWith("]")) throw refused("LIST", nested);
  const match = /^([A-Z][A-Z0-9_ ]*?) ?(?:\((.*)\))?$/.exec(text);
  const name = match?.[1] ?? "";
  const parameters = match?.[2];
  if (decimalTypes.has(name)) return parseDecimal(parameters);
  const reason = Object.hasOwn(refusedTypes, name) ? refusedTypes[name] : undefined;
  if (reason !== undefined) throw refused(name, reason);
  const plain = Object.hasOwn(plainTypes, name) ? plainTypes[name] : undefined;
  if (plain === undefined) throw refused(undefined, "its name is not one that this version knows");
  if (parameters !== undefined && !(lengthTypes.has(name) && /^ ?\d+ ?$/.test(parameters))) {
    throw refused(name, "it takes no parameters");
  }
  return plain;
}

function parseDecimal(parameters: string | undefined): IndexableType {
  const match = parameters === undefined ? null : /^ ?(\d{1,4}) ?(?:, ?(\d{1,4}) ?)?$/.exec(parameters);
  if (parameters !== undefined && match === null)
    throw refused("DECIMAL", "its parameters are not a precision and a scale");
  const precision = match === null ? defaultDecimal.precision : Number(match[1]);
  const scale = match === null ? defaultDecimal.scale : Number(match[2] ?? 0);
  if (precision < 1 || precision > maxDecimalPrecision || scale > precision) {
    throw refused("DECIMAL", `its precision must be 1 to ${maxDecimalPrecision} and its scale no more than that`);
  }
  return { valueType: decimalWidth(precision), logical: "decimal", precision, scale };
}

function decimalWidth(precision: number): IndexValueType {
  if (precision <= 4) return "int16";
  if (precision <= 9) return "int32";
  return precision <= 18 ? "int64" : "int128";
}

// Only names of the tables above are quoted: a type name of a caller's own could hold any text.
function refused(name: string | undefined, reason: string): ConstraintError {
  const subject = name === undefined ? "this column type" : `column type ${name}`;
  return new ConstraintError(`${subject} cannot be indexed: ${reason}`, {
    remedy: "Index a column of a scalar type: integers to 64 bits, floats, decimals, text, blobs, UUIDs, dates, times.",
  });
}
