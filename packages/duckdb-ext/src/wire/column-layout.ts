import type { DuckDbType } from "@moraine/codec";

/** How values of a type lie in a batch: PROTOCOL.md, "Column data". */
export type ColumnLayout =
  /** So many bytes a row. */
  | { readonly kind: "fixed"; readonly bytes: number }
  /** A bit a row. */
  | { readonly kind: "bits" }
  /** Offsets into bytes. */
  | { readonly kind: "bytes" }
  /** Offsets into one child. */
  | { readonly kind: "list" }
  /** One child with so many rows a row. */
  | { readonly kind: "array"; readonly size: number }
  /** One child for each field. */
  | { readonly kind: "fields" }
  /** Nothing at all. */
  | { readonly kind: "nothing" };

const fixedBytes: Readonly<Record<string, number>> = {
  TINYINT: 1,
  UTINYINT: 1,
  SMALLINT: 2,
  USMALLINT: 2,
  INTEGER: 4,
  UINTEGER: 4,
  FLOAT: 4,
  DATE: 4,
  BIGINT: 8,
  UBIGINT: 8,
  DOUBLE: 8,
  TIME: 8,
  TIME_NS: 8,
  "TIME WITH TIME ZONE": 8,
  TIMESTAMP: 8,
  TIMESTAMP_S: 8,
  TIMESTAMP_MS: 8,
  TIMESTAMP_NS: 8,
  "TIMESTAMP WITH TIME ZONE": 8,
  HUGEINT: 16,
  UHUGEINT: 16,
  UUID: 16,
  DECIMAL: 16,
  INTERVAL: 16,
};

const others: Readonly<Record<string, ColumnLayout>> = {
  BOOLEAN: { kind: "bits" },
  VARCHAR: { kind: "bytes" },
  JSON: { kind: "bytes" },
  BLOB: { kind: "bytes" },
  BIT: { kind: "bytes" },
  BIGNUM: { kind: "bytes" },
  GEOMETRY: { kind: "bytes" },
  LIST: { kind: "list" },
  MAP: { kind: "list" },
  STRUCT: { kind: "fields" },
  VARIANT: { kind: "fields" },
  NULL: { kind: "nothing" },
};

/** The layout of a type, or `undefined` for one that does not travel: `UNION`, `ENUM`. */
export function layoutOf(type: DuckDbType): ColumnLayout | undefined {
  if (type.name === "ARRAY") return { kind: "array", size: type.size ?? 0 };
  const bytes = fixedBytes[type.name];
  return bytes === undefined ? others[type.name] : { kind: "fixed", bytes };
}

/** The texts of the types that a column's children have. That of a map is one struct of its keys and values. */
export function childTypes(type: DuckDbType): readonly string[] {
  if (type.name !== "MAP") return type.children.map((child) => child.type.text);
  const [key, value] = type.children;
  return [`STRUCT(key ${key?.type.text ?? ""}, value ${value?.type.text ?? ""})`];
}
