import {
  formatDate,
  formatTime,
  formatTimestamp,
  isTimestampCount,
  parseDate,
  parseTime,
  parseTimestamp,
  unitsPerSecond,
} from "./calendar.js";
import { type IndexableType, parseColumnType } from "./column-type.js";
import { integerLimits } from "./component.js";
import { InvalidArgumentError } from "./errors.js";
import type { IndexValue } from "./index-value.js";
import { isWellFormedText } from "./utf8.js";
import { formatDecimal, formatUuid, parseBlob, parseDecimal, parseFloatText, parseUuid } from "./scalar-text.js";

const millisecondsPerDay = 86_400_000;
const uuidBytes = 16;

/**
 * A JavaScript value as the value that an index of this column type holds. `null` is SQL NULL. Accepted are, the form that
 * `fromIndexValue` gives first:
 *
 * - TINYINT to INTEGER, UTINYINT to UINTEGER: `number`, or `bigint`; BIGINT, UBIGINT: `bigint`, or a safe-integer `number`;
 * - floats: `number` (rounded to 32 bits for FLOAT);
 * - BOOLEAN: `boolean`; text and JSON: well-formed `string`; BLOB: `Uint8Array`;
 * - UUID: its text, or sixteen bytes;
 * - DECIMAL: its text, a `bigint` (a whole number), or a `number` whose shortest text has no more digits than the scale;
 * - DATE: `YYYY-MM-DD`, a `Date` at midnight UTC, or a `bigint` count of days from the epoch;
 * - TIME: `HH:MM[:SS[.f]]`, or a `bigint` count from midnight in the type's unit;
 * - TIMESTAMP: `YYYY-MM-DD[ HH:MM[:SS[.f]]]`, a `Date`, or a `bigint` count from the epoch in the type's unit, within
 *   the range that DuckDB shows. With time zone, text may end in an offset; without one it is UTC.
 *
 * A `number` is refused for dates and times: it could be days, milliseconds or a count. Nothing is rounded but FLOAT: what the
 * type cannot hold exactly is refused.
 *
 * Errors: `invalid_argument`, naming the type and not the value; `constraint` as `parseColumnType`.
 */
export function toIndexValue(columnType: string, input: unknown): IndexValue {
  const type = parseColumnType(columnType);
  if (input === null) return null;
  const value = convert(type, input);
  if (value === undefined || !fits(type, value) || !isWritable(type, value)) throw notOf(type);
  return value;
}

/**
 * The same from text, for every type: what a command line, a recorded default or a partition folder holds. Integers in
 * decimal, `true` and `false`, floats also `nan` and `inf`, blobs with `\xAB` escapes, the rest as `toIndexValue`.
 *
 * Errors: as `toIndexValue`.
 */
export function parseIndexValue(columnType: string, text: string): IndexValue {
  const type = parseColumnType(columnType);
  const value = convertText(type, text);
  if (value === undefined || !fits(type, value) || !isWritable(type, value)) throw notOf(type);
  return value;
}

/**
 * An index value as callers read it: text for decimals, UUIDs and temporal types, `number` for integers of at most 32 bits,
 * else the value itself. `toIndexValue` gives it back.
 *
 * Errors: `invalid_argument` if the value is not one of this column type; `constraint` as `parseColumnType`.
 */
export function fromIndexValue(columnType: string, value: IndexValue): unknown {
  const type = parseColumnType(columnType);
  if (value === null) return null;
  const integer = typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
  switch (type.logical) {
    case "decimal":
      return formatDecimal(asInteger(type, integer), type.scale ?? 0);
    case "date":
      return formatDate(asInteger(type, integer));
    case "time":
      return formatTime(asInteger(type, integer), type.unit ?? "us");
    case "timestamp":
      return formatTimestamp(asInteger(type, integer), type.unit ?? "us", type.withTimeZone === true);
    case "uuid":
      if (!(value instanceof Uint8Array) || value.length !== uuidBytes) throw notOf(type);
      return formatUuid(value);
    case "integer": {
      const exact = asInteger(type, integer);
      return type.valueType === "int64" || type.valueType === "uint64" ? exact : Number(exact);
    }
    default:
      if (convert(type, value) === undefined) throw notOf(type);
      return value;
  }
}

function asInteger(type: IndexableType, value: IndexValue): bigint {
  if (typeof value !== "bigint" || !fits(type, value)) throw notOf(type);
  return value;
}

function convert(type: IndexableType, input: unknown): IndexValue | undefined {
  switch (type.logical) {
    case "integer":
      return integerOf(input);
    case "float":
      if (typeof input !== "number") return undefined;
      return type.valueType === "float32" ? Math.fround(input) : input;
    case "boolean":
      return typeof input === "boolean" ? input : undefined;
    case "string":
      return typeof input === "string" ? input : undefined;
    case "blob":
      return input instanceof Uint8Array ? input : undefined;
    case "uuid":
      if (input instanceof Uint8Array) return input.length === uuidBytes ? input : undefined;
      return typeof input === "string" ? parseUuid(input) : undefined;
    case "decimal":
      return decimalOf(input, type.scale ?? 0);
    case "date":
      if (typeof input === "bigint") return input;
      if (typeof input === "string") return parseDate(input);
      if (!(input instanceof Date)) return undefined;
      return input.getTime() % millisecondsPerDay === 0 ? BigInt(input.getTime() / millisecondsPerDay) : undefined;
    case "time":
      if (typeof input === "bigint") return input;
      return typeof input === "string" ? parseTime(input, type.unit ?? "us") : undefined;
    case "timestamp":
      return timestampOf(input, type);
  }
}

function convertText(type: IndexableType, text: string): IndexValue | undefined {
  switch (type.logical) {
    case "integer":
      return /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
    case "float": {
      const number = parseFloatText(text);
      return number === undefined ? undefined : convert(type, number);
    }
    case "boolean":
      return booleanTexts.get(text.toLowerCase());
    case "blob":
      return parseBlob(text);
    default:
      return convert(type, text);
  }
}

const booleanTexts: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["t", true],
  ["1", true],
  ["false", false],
  ["f", false],
  ["0", false],
]);

function integerOf(input: unknown): bigint | undefined {
  if (typeof input === "bigint") return input;
  return typeof input === "number" && Number.isSafeInteger(input) ? BigInt(input) : undefined;
}

function decimalOf(input: unknown, scale: number): bigint | undefined {
  if (typeof input === "string") return parseDecimal(input, scale);
  if (typeof input === "bigint") return input * 10n ** BigInt(scale);
  return typeof input === "number" ? parseDecimal(String(input), scale) : undefined;
}

function timestampOf(input: unknown, type: IndexableType): bigint | undefined {
  const unit = type.unit ?? "us";
  if (typeof input === "bigint") return input;
  if (typeof input === "string") return parseTimestamp(input, unit, type.withTimeZone === true);
  if (!(input instanceof Date) || Number.isNaN(input.getTime())) return undefined;
  const scaled = BigInt(input.getTime()) * unitsPerSecond[unit];
  return scaled % unitsPerSecond.ms === 0n ? scaled / unitsPerSecond.ms : undefined;
}

/** Whether a value is inside its type: integers by width, decimals by digits, times inside a day, text well-formed. */
function fits(type: IndexableType, value: IndexValue): boolean {
  if (typeof value === "string") return isWellFormedText(value);
  if (typeof value !== "bigint") return true;
  if (type.logical === "decimal") {
    const limit = 10n ** BigInt(type.precision ?? 0);
    return value < limit && value > -limit;
  }
  if (type.logical === "time") return value >= 0n && value <= 86_400n * unitsPerSecond[type.unit ?? "us"];
  const limits = integerLimits[type.valueType];
  return limits !== undefined && value >= limits[0] && value <= limits[1];
}

/** Whether a value can be given, beside being one of the type: stored timestamps outside of DuckDB's calendar are shown. */
function isWritable(type: IndexableType, value: IndexValue): boolean {
  return type.logical !== "timestamp" || typeof value !== "bigint" || isTimestampCount(value, type.unit ?? "us");
}

function notOf(type: IndexableType): InvalidArgumentError {
  return new InvalidArgumentError(`a value is not a ${describe(type)}`, { remedy: `Pass ${formsOf(type)}.` });
}

/** What `toIndexValue` takes for a type, for people who passed something else. */
function formsOf(type: IndexableType): string {
  switch (type.logical) {
    case "integer":
      return "a bigint or a safe-integer number within the type's range";
    case "float":
      return "a number";
    case "boolean":
      return "a boolean";
    case "string":
      return "a string of whole Unicode characters";
    case "blob":
      return "a Uint8Array";
    case "uuid":
      return "the text of a UUID, or its 16 bytes as a Uint8Array";
    case "decimal":
      return "the number as text, or a bigint, with no more digits than the type has";
    case "date":
      return '"YYYY-MM-DD", a Date at midnight UTC, or a bigint count of days from 1970-01-01';
    case "time":
      return `"HH:MM:SS.f", or a bigint count of ${type.unit} from midnight`;
    case "timestamp":
      return `"YYYY-MM-DD HH:MM:SS.f", a Date, or a bigint count of ${type.unit} from 1970-01-01, within DuckDB's range`;
  }
}

function describe(type: IndexableType): string {
  switch (type.logical) {
    case "integer":
    case "float":
      return type.valueType;
    case "decimal":
      return `decimal(${type.precision},${type.scale})`;
    case "timestamp":
      return `timestamp in ${type.unit}${type.withTimeZone === true ? " with time zone" : ""}`;
    case "time":
      return `time in ${type.unit}`;
    default:
      return type.logical;
  }
}
