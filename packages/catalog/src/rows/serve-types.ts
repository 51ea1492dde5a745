/**
 * Names of types in three vocabularies: what callers of the embedding API record (any of DuckLake's names or DuckDB's, in any
 * case), DuckLake's own, and DuckDB's. DuckLake reads no other than its own from its tables.
 *
 * Source: DuckLake, `DuckLakeTypes`.
 */
const duckdbNames: ReadonlyMap<string, string> = new Map([
  ["boolean", "BOOLEAN"],
  ["int8", "TINYINT"],
  ["int16", "SMALLINT"],
  ["int32", "INTEGER"],
  ["int64", "BIGINT"],
  ["int128", "HUGEINT"],
  ["uint8", "UTINYINT"],
  ["uint16", "USMALLINT"],
  ["uint32", "UINTEGER"],
  ["uint64", "UBIGINT"],
  ["uint128", "UHUGEINT"],
  ["float32", "FLOAT"],
  ["float64", "DOUBLE"],
  ["time", "TIME"],
  ["time_ns", "TIME_NS"],
  ["timetz", "TIME WITH TIME ZONE"],
  ["date", "DATE"],
  ["timestamp", "TIMESTAMP"],
  ["timestamp_us", "TIMESTAMP"],
  ["timestamp_ms", "TIMESTAMP_MS"],
  ["timestamp_ns", "TIMESTAMP_NS"],
  ["timestamp_s", "TIMESTAMP_S"],
  ["timestamptz", "TIMESTAMP WITH TIME ZONE"],
  ["interval", "INTERVAL"],
  ["varchar", "VARCHAR"],
  ["blob", "BLOB"],
  ["uuid", "UUID"],
  ["json", "JSON"],
  ["variant", "VARIANT"],
  ["geometry", "GEOMETRY"],
]);

/** DuckDB's names of types, as they are recorded in lower case, where they are not DuckLake's too. */
const ducklakeNames: ReadonlyMap<string, string> = new Map([
  ["bool", "boolean"],
  ["tinyint", "int8"],
  ["smallint", "int16"],
  ["integer", "int32"],
  ["int", "int32"],
  ["bigint", "int64"],
  ["hugeint", "int128"],
  ["utinyint", "uint8"],
  ["usmallint", "uint16"],
  ["uinteger", "uint32"],
  ["ubigint", "uint64"],
  ["uhugeint", "uint128"],
  ["float", "float32"],
  ["real", "float32"],
  ["double", "float64"],
  ["double precision", "float64"],
  ["text", "varchar"],
  ["string", "varchar"],
  ["bytea", "blob"],
  ["binary", "blob"],
  ["varbinary", "blob"],
  ["datetime", "timestamp"],
  ["time with time zone", "timetz"],
  ["timestamp with time zone", "timestamptz"],
  ["row", "struct"],
]);

const decimal = /^(?:decimal|numeric|dec) ?(?:\( ?(\d+) ?(?:, ?(\d+) ?)?\))?$/;
/** Lengths mean nothing to DuckDB, and DuckLake has no collations. */
const sizedOrCollatedText = /^(?:varchar|text|string)(?: ?\( ?\d+ ?\)| collate [a-z0-9_.]+)$/;

/** The name under which DuckLake knows the type of a column. Texts that are no name of a type are given back as they are. */
export function ducklakeTypeName(columnType: string): string {
  const name = columnType.trim().replace(/\s+/g, " ").toLowerCase();
  const digits = decimal.exec(name);
  if (digits !== null) {
    const [, precision, scale] = digits;
    return precision === undefined ? "decimal(18,3)" : `decimal(${precision},${scale ?? "0"})`;
  }
  if (sizedOrCollatedText.test(name)) return "varchar";
  const renamed = ducklakeNames.get(name);
  if (renamed !== undefined) return renamed;
  return duckdbNames.has(name) || isNested(name) ? name : columnType;
}

function isNested(name: string): boolean {
  return name === "struct" || name === "list" || name === "map";
}

/** A column with its nested fields, as far as its type goes. */
export interface TypedColumn {
  readonly name: string;
  readonly columnType: string;
  readonly children: readonly TypedColumn[];
}

/**
 * The type of a column in DuckDB's words, as DuckLake declares it for inlined rows. `undefined` for a type that DuckDB does not
 * have, and for a nested one whose fields are not its own.
 *
 * Source: DuckLake, `DuckLakeMetadataManager::GetColumnType`.
 */
export function duckdbTypeName(column: TypedColumn): string | undefined {
  const name = ducklakeTypeName(column.columnType);
  const children = column.children.map(duckdbTypeName);
  if (children.includes(undefined)) return undefined;
  switch (name) {
    case "struct":
      return children.length === 0
        ? undefined
        : `STRUCT(${column.children.map((child, at) => `${quotedName(child.name)} ${children[at]}`).join(", ")})`;
    case "list":
      return children.length === 1 ? `${children[0]}[]` : undefined;
    case "map":
      return children.length === 2 ? `MAP(${children.join(", ")})` : undefined;
    default:
      return name.startsWith("decimal(") ? name.toUpperCase() : duckdbNames.get(name);
  }
}

function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
