import type { IndexableType } from "@moraine/codec";

const integers = {
  int8: "TINYINT",
  int16: "SMALLINT",
  int32: "INTEGER",
  int64: "BIGINT",
  uint8: "UTINYINT",
  uint16: "USMALLINT",
  uint32: "UINTEGER",
  uint64: "UBIGINT",
} as Readonly<Partial<Record<IndexableType["valueType"], string>>>;

const timestamps = { s: "TIMESTAMP_S", ms: "TIMESTAMP_MS", us: "TIMESTAMP", ns: "TIMESTAMP_NS" } as const;

/** The type of an indexed column in DuckDB's words. `columnType` is what the catalog calls it: JSON is text with a name of its own. */
export function duckdbColumnType(type: IndexableType, columnType: string): string {
  switch (type.logical) {
    case "integer":
      return integers[type.valueType] ?? "BIGINT";
    case "float":
      return type.valueType === "float32" ? "FLOAT" : "DOUBLE";
    case "boolean":
      return "BOOLEAN";
    case "string":
      return columnType.trim().toUpperCase() === "JSON" ? "JSON" : "VARCHAR";
    case "blob":
      return "BLOB";
    case "uuid":
      return "UUID";
    case "date":
      return "DATE";
    case "time":
      return type.unit === "ns" ? "TIME_NS" : "TIME";
    case "timestamp":
      return type.withTimeZone === true ? "TIMESTAMP WITH TIME ZONE" : timestamps[type.unit ?? "us"];
    case "decimal":
      return `DECIMAL(${type.precision},${type.scale})`;
  }
}
