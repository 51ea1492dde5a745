import { ConstraintError, type IndexableType, parseColumnType } from "@moraine/codec";

const floats = ["float32", "float64"] as const;
const integers = [
  "int8",
  "int16",
  "int32",
  "int64",
  "int128",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "uint128",
] as const;

/** To which types a type widens, beside decimals. */
const widenings: Readonly<Record<string, readonly string[]>> = {
  boolean: integers,
  int8: ["int16", "int32", "int64", "int128", ...floats],
  int16: ["int32", "int64", "int128", ...floats],
  int32: ["int64", "int128", ...floats],
  int64: ["int128", ...floats],
  int128: floats,
  uint8: ["int16", "int32", "int64", "int128", "uint16", "uint32", "uint64", "uint128", ...floats],
  uint16: ["int32", "int64", "int128", "uint32", "uint64", "uint128", ...floats],
  uint32: ["int64", "int128", "uint64", "uint128", ...floats],
  uint64: ["int128", "uint128", ...floats],
  uint128: floats,
  float32: ["float64"],
  decimal: floats,
  varchar: ["json", "collated"],
  collated: ["collated"],
  date: ["timestamp_s", "timestamp_ms", "timestamp_us", "timestamp_ns", "timestamptz"],
  timestamp_s: ["timestamp_ms", "timestamp_us", "timestamp_ns"],
  timestamp_ms: ["timestamp_us", "timestamp_ns"],
  timestamp_us: ["timestamp_ns", "timestamptz"],
};

/** Digits of the largest value of each integer type. */
const digits: Readonly<Record<string, number>> = {
  int8: 3,
  int16: 5,
  int32: 10,
  int64: 19,
  int128: 38,
  uint8: 3,
  uint16: 5,
  uint32: 10,
  uint64: 20,
  uint128: 39,
};
const maxPrecision = 38;

const otherNames: Readonly<Record<string, string>> = {
  HUGEINT: "int128",
  INT128: "int128",
  UHUGEINT: "uint128",
  UINT128: "uint128",
  "TIME WITH TIME ZONE": "timetz",
};

/** A scalar type by one name, however it was written. */
interface ScalarType {
  readonly name: string;
  readonly precision?: number;
  readonly scale?: number;
}

/**
 * Whether DuckLake lets a scalar column change from one type to another: to the same one, or to one that DuckDB combines both
 * to. Values that were stored before are cast whenever they are read. Types of the same name but other letters are the same.
 *
 * DuckLake also takes JSON for every column, as DuckDB prefers types with a name of their own. Here that is for text only:
 * the text that DuckDB makes of other values is not theirs to look up.
 *
 * Source: DuckLake, `TypePromotionIsAllowed`; the table is what DuckDB 1.5.5 answers.
 */
export function isPromotion(before: string, after: string): boolean {
  const [from, to] = [scalarType(before), scalarType(after)];
  if (to.name === "decimal") return widensToDecimal(from, to);
  return from.name === to.name || (widenings[from.name]?.includes(to.name) ?? false);
}

function widensToDecimal(from: ScalarType, to: ScalarType): boolean {
  const [precision, scale] = [to.precision ?? 0, to.scale ?? 0];
  const whole = digits[from.name];
  if (whole !== undefined) return precision === maxPrecision || whole <= precision - scale;
  if (from.name !== "decimal") return false;
  const wholeDigits = Math.max((from.precision ?? 0) - (from.scale ?? 0), precision - scale);
  const fraction = Math.max(from.scale ?? 0, scale);
  // Where both do not fit, DuckDB keeps the whole part.
  if (wholeDigits + fraction > maxPrecision) return precision === maxPrecision && scale === maxPrecision - wholeDigits;
  return precision === wholeDigits + fraction && scale === fraction;
}

function scalarType(columnType: string): ScalarType {
  const name = columnType.trim().toUpperCase();
  if (name === "JSON") return { name: "json" };
  if (/ COLLATE /.test(name)) return { name: "collated" };
  try {
    return nameOf(parseColumnType(columnType));
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    return { name: otherNames[name] ?? name.toLowerCase() };
  }
}

function nameOf(type: IndexableType): ScalarType {
  switch (type.logical) {
    case "integer":
    case "float":
      return { name: type.valueType };
    case "decimal":
      return { name: "decimal", precision: type.precision ?? 0, scale: type.scale ?? 0 };
    case "string":
      return { name: "varchar" };
    case "timestamp":
      return { name: type.withTimeZone === true ? "timestamptz" : `timestamp_${type.unit}` };
    case "time":
      return { name: `time_${type.unit}` };
    default:
      return { name: type.logical };
  }
}
