import type { ColumnVector, IndexableType } from "@moraine/codec";
import { ConversionFailed } from "../malformed.js";
import { checkWidth, copyFixed, copyVariable, type VariableValues } from "./convert-bytes.js";
import { decimalsToDecimals, type DecimalType, integersToDecimals } from "./convert-decimal.js";
import {
  booleansToIntegers,
  decimalsToFloats,
  decimalsToIntegers,
  floatsToFloats,
  integersToFloats,
  integersToIntegers,
  isIntegerType,
} from "./convert-number.js";
import { datesToDates, datesToTimestamps, int96ToTimestamps, rescaleCounts, textsToTimes } from "./convert-temporal.js";
import { clearNulls } from "./numbers.js";
import { expandValidity, type RawColumn, unpackBits } from "./raw-column.js";
import { describeSource, type SourceType } from "./source-type.js";
import { nullVector } from "./vector.js";

const uuidBytes = 16;

type Validity = Uint8Array | null;

/**
 * The one conversion of stored values to a column's current type. The result owns its memory, has zeros (or no bytes)
 * where a row is NULL, and has no validity when no row is: equal columns have equal bytes, wherever they were stored.
 *
 * Widening is exact. Narrowing checks each value. What DuckDB would have to round, parse or print is refused, except
 * integers and decimals to floats and doubles to floats, where its result is well defined. `ConversionFailed` otherwise.
 */
export function convertColumn(raw: RawColumn, source: SourceType, target: IndexableType): ColumnVector {
  if (source.kind === "null") return nullVector(target.valueType, raw.length);
  const validity = expandValidity(raw);
  const variable = convertVariable(raw, source, target, validity);
  if (variable !== null) return { type: target.valueType, length: raw.length, validity, ...variable };
  const values = convertFixed(raw, source, target, validity);
  if (values === null) {
    throw new ConversionFailed(
      `a stored ${describeSource(source)} cannot be read as a column of type ${target.logical}`,
    );
  }
  return { type: target.valueType, length: raw.length, validity, values, offsets: null };
}

function convertVariable(
  raw: RawColumn,
  source: SourceType,
  target: IndexableType,
  validity: Validity,
): VariableValues | null {
  switch (target.logical) {
    case "string":
      return source.kind === "string" ? copyVariable(raw, validity) : null;
    case "blob":
      if (source.kind === "bytes") return copyVariable(raw, validity);
      return source.kind === "fixed" ? copyFixed(raw, source.width, validity) : null;
    case "uuid": {
      if (source.kind === "fixed" && source.width === uuidBytes) return copyFixed(raw, uuidBytes, validity);
      if (source.kind !== "bytes") return null;
      const copy = copyVariable(raw, validity);
      checkWidth(copy, uuidBytes, validity);
      return copy;
    }
    default:
      return null;
  }
}

function convertFixed(
  raw: RawColumn,
  source: SourceType,
  target: IndexableType,
  validity: Validity,
): ColumnVector["values"] | null {
  const { valueType } = target;
  switch (target.logical) {
    case "integer":
      if (!isIntegerType(valueType)) return null;
      if (source.kind === "integer") return integersToIntegers(raw, source, valueType, validity);
      if (source.kind === "boolean") return booleansToIntegers(raw, valueType, validity);
      return source.kind === "decimal" ? decimalsToIntegers(raw, source, valueType, validity) : null;
    case "float":
      if (valueType !== "float32" && valueType !== "float64") return null;
      if (source.kind === "float") return floatsToFloats(raw, source, valueType, validity);
      if (source.kind === "integer") return integersToFloats(raw, source, valueType, validity);
      return source.kind === "decimal" ? decimalsToFloats(raw, source, valueType, validity) : null;
    case "boolean":
      return source.kind === "boolean" ? expandBooleans(raw, validity) : null;
    case "decimal":
      return convertDecimal(raw, source, target, validity);
    case "date":
      return source.kind === "date" ? datesToDates(raw, source, validity) : null;
    case "time":
      // DuckDB writes times in nanoseconds as text, which it casts when it reads them.
      if (source.kind === "string" && target.unit === "ns") return textsToTimes(raw, validity);
      if (source.kind !== "time" || target.unit === undefined) return null;
      return rescaleCounts(raw, source.bytes, source.unit, target.unit, validity);
    case "timestamp":
      return convertTimestamp(raw, source, target, validity);
    default:
      return null;
  }
}

function convertDecimal(
  raw: RawColumn,
  source: SourceType,
  target: IndexableType,
  validity: Validity,
): ColumnVector["values"] | null {
  const { precision, scale } = target;
  const type = target.valueType as DecimalType;
  if (precision === undefined || scale === undefined) return null;
  if (source.kind === "decimal") return decimalsToDecimals(raw, source, type, precision, scale, validity);
  return source.kind === "integer" ? integersToDecimals(raw, source, type, precision, scale, validity) : null;
}

function convertTimestamp(
  raw: RawColumn,
  source: SourceType,
  target: IndexableType,
  validity: Validity,
): BigInt64Array | null {
  const { unit } = target;
  if (unit === undefined) return null;
  const withTimeZone = target.withTimeZone ?? false;
  switch (source.kind) {
    case "timestamp":
      // DuckDB's cast between the two depends on the time zone of the session; a stored value must not.
      if (source.adjustedToUtc !== undefined && source.adjustedToUtc !== withTimeZone) {
        throw new ConversionFailed(
          `a stored timestamp ${withTimeZone ? "without" : "with"} time zone cannot be read as one ${withTimeZone ? "with" : "without"}`,
        );
      }
      return rescaleCounts(raw, 8, source.unit, unit, validity);
    case "int96":
      return int96ToTimestamps(raw, unit, validity);
    case "date":
      return withTimeZone ? null : datesToTimestamps(raw, source, unit, validity);
    default:
      return null;
  }
}

function expandBooleans(raw: RawColumn, validity: Validity): Uint8Array {
  const to = unpackBits(raw.values, raw.valuesOffset, raw.length);
  clearNulls(to, validity);
  return to;
}
