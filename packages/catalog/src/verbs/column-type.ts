import { ConstraintError, InvalidArgumentError, parseColumnType, UnsupportedError } from "@moraine/codec";
import { quoted } from "../model/error-text.js";
import { checkText } from "./arguments.js";

/** Whether a type has fields of its own, and which. */
export type ColumnKind = "scalar" | "struct" | "list" | "map";

/** DuckLake's scalar types that no index holds, beside DuckDB's names of them. */
const unindexedTypes: ReadonlySet<string> = new Set([
  "INT128",
  "HUGEINT",
  "UINT128",
  "UHUGEINT",
  "INTERVAL",
  "TIMETZ",
  "TIME WITH TIME ZONE",
  "TIMESTAMPTZ_NS",
  "GEOMETRY",
]);

/** Text under a collation of DuckDB's, `nocase.noaccent` for one: a column as any other, but for indexes. */
const collatedText = /^(VARCHAR|TEXT|STRING) COLLATE [A-Z0-9_.]+$/;

const nestedKinds: ReadonlyMap<string, ColumnKind> = new Map([
  ["STRUCT", "struct"],
  ["LIST", "list"],
  ["MAP", "map"],
]);

/** The fields that a nested column has, where DuckLake fixes them. */
export const fixedFields: Readonly<Record<ColumnKind, readonly string[] | undefined>> = {
  scalar: [],
  list: ["element"],
  map: ["key", "value"],
  struct: undefined,
};

/**
 * A type name as it stands in the catalog: one of DuckLake's, or DuckDB's for the same type, in any case. Whoever reads the
 * catalog fails at others, so they are refused here. A nested type is a bare name: its fields are columns of their own.
 *
 * Errors: `invalid_argument` for any other text; `unsupported` for VARIANT, whose shredded values have no place in inline data.
 *
 * Source: DuckLake, data types.
 */
export function checkColumnType(columnType: string, argument: string): string {
  const kind = kindOf(checkText(columnType, argument));
  if (kind !== undefined) return columnType;
  if (/^\s*VARIANT\s*($|[[(])/i.test(columnType)) {
    throw new UnsupportedError("columns of type VARIANT", { remedy: "Store the values as JSON, or as typed columns." });
  }
  throw new InvalidArgumentError(`${argument} is ${quoted(columnType)}, which is no column type`, {
    remedy: /[[(<]/.test(columnType)
      ? "Pass decimal(p,s) with p from 1 to 38 and s at most p; for a nested type struct, list or map, its fields as children."
      : "Pass a type of DuckLake (int64, float64, decimal(p,s), varchar, timestamptz, struct, ...) or DuckDB's name for it.",
  });
}

/** The kind of a type that has been checked. Of others' making it may be any text, which then counts as a scalar. */
export function columnKind(columnType: string): ColumnKind {
  return kindOf(columnType) ?? "scalar";
}

function kindOf(columnType: string): ColumnKind | undefined {
  const name = columnType.toUpperCase();
  const nested = nestedKinds.get(name);
  if (nested !== undefined) return nested;
  if (unindexedTypes.has(name) || collatedText.test(name)) return "scalar";
  // The parser of indexable types is forgiving with space; what is stored should not be.
  return columnType === columnType.trim() && isIndexable(columnType) ? "scalar" : undefined;
}

function isIndexable(columnType: string): boolean {
  try {
    parseColumnType(columnType);
    return true;
  } catch (error) {
    if (error instanceof ConstraintError) return false;
    throw error;
  }
}
