import { type DuckDbType, UnsupportedError } from "@moraine/codec";
import {
  Binary,
  Bool,
  DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  IntervalMonthDayNano,
  IntervalUnit,
  List,
  Map_,
  Null,
  Struct,
  TimeMicrosecond,
  TimeNanosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";
import { quoted } from "../model/error-text.js";
import { fieldType, mapEntriesField } from "./arrow-access.js";
import { childrenOf } from "./arrow-schema.js";
import { columnTypeOf, type TypedField } from "./arrow-types.js";

const extensionName = "ARROW:extension:name";
const extensionMetadata = "ARROW:extension:metadata";
const opaque = "arrow.opaque";

/** How DuckDB marks what Arrow has no type for, when it exports without loss: a storage type, and its own name beside it. */
interface Extension {
  readonly storage: () => DataType;
  readonly name: string;
  /** Of an opaque type: DuckDB's name for it. */
  readonly opaqueName?: string;
}

const extensions: Readonly<Record<string, Extension>> = {
  HUGEINT: { storage: () => new FixedSizeBinary(16), name: opaque, opaqueName: "hugeint" },
  UHUGEINT: { storage: () => new FixedSizeBinary(16), name: opaque, opaqueName: "uhugeint" },
  "TIME WITH TIME ZONE": { storage: () => new FixedSizeBinary(8), name: opaque, opaqueName: "time_tz" },
  BIT: { storage: () => new Binary(), name: opaque, opaqueName: "bit" },
  BIGNUM: { storage: () => new Binary(), name: opaque, opaqueName: "bignum" },
  GEOMETRY: { storage: () => new Binary(), name: "geoarrow.wkb" },
  UUID: { storage: () => new FixedSizeBinary(16), name: "arrow.uuid" },
  JSON: { storage: () => new Utf8(), name: "arrow.json" },
};

/** DuckDB itself exports no VARIANT: this is the struct by which it stores one, marked in the same manner. */
const variantName = "variant";

const plainTypes: Readonly<Record<string, () => DataType>> = {
  NULL: () => new Null(),
  BOOLEAN: () => new Bool(),
  TINYINT: () => new Int8(),
  SMALLINT: () => new Int16(),
  INTEGER: () => new Int32(),
  BIGINT: () => new Int64(),
  UTINYINT: () => new Uint8(),
  USMALLINT: () => new Uint16(),
  UINTEGER: () => new Uint32(),
  UBIGINT: () => new Uint64(),
  FLOAT: () => new Float32(),
  DOUBLE: () => new Float64(),
  VARCHAR: () => new Utf8(),
  BLOB: () => new Binary(),
  DATE: () => new DateDay(),
  TIME: () => new TimeMicrosecond(),
  TIME_NS: () => new TimeNanosecond(),
  TIMESTAMP: () => new TimestampMicrosecond(null),
  TIMESTAMP_S: () => new TimestampSecond(null),
  TIMESTAMP_MS: () => new TimestampMillisecond(null),
  TIMESTAMP_NS: () => new TimestampNanosecond(null),
  "TIMESTAMP WITH TIME ZONE": () => new TimestampMicrosecond("UTC"),
  INTERVAL: () => new IntervalMonthDayNano(),
};

/**
 * The Arrow field in which a column of a DuckDB type is kept: the one that DuckDB exports when it must not lose anything.
 *
 * Errors: `unsupported` for a type that no lake has, by its name.
 */
export function arrowFieldOf(name: string, type: DuckDbType): Field {
  const extension = Object.hasOwn(extensions, type.name) ? extensions[type.name] : undefined;
  if (extension !== undefined) {
    return new Field(name, extension.storage(), true, marks(extension.name, extension.opaqueName));
  }
  if (type.name === "VARIANT") return new Field(name, structOf(type), true, marks(opaque, variantName));
  return new Field(name, arrowTypeOf(type), true);
}

function marks(name: string, opaqueName: string | undefined): Map<string, string> {
  const details = opaqueName === undefined ? "" : JSON.stringify({ vendor_name: "DuckDB", type_name: opaqueName });
  return new Map([
    [extensionName, name],
    [extensionMetadata, details],
  ]);
}

function structOf(type: DuckDbType): Struct {
  return new Struct(type.children.map((child) => arrowFieldOf(child.name, child.type)));
}

function arrowTypeOf(type: DuckDbType): DataType {
  const [first, second] = type.children;
  switch (type.name) {
    case "DECIMAL":
      return new Decimal(type.scale ?? 0, type.precision ?? 38, 128);
    case "STRUCT":
      return structOf(type);
    case "LIST":
      if (first !== undefined) return new List(arrowFieldOf(first.name, first.type));
      break;
    case "ARRAY":
      if (first !== undefined && type.size !== undefined)
        return new FixedSizeList(type.size, arrowFieldOf(first.name, first.type));
      break;
    case "MAP":
      if (first !== undefined && second !== undefined) {
        const key = arrowFieldOf("key", first.type);
        const pair = new Struct([
          new Field(key.name, fieldType(key), false, key.metadata),
          arrowFieldOf("value", second.type),
        ]);
        return new Map_(mapEntriesField(new Field<Struct>("entries", pair, false)));
      }
      break;
  }
  const make = Object.hasOwn(plainTypes, type.name) ? plainTypes[type.name] : undefined;
  if (make !== undefined) return make();
  throw new UnsupportedError(`a column of type ${type.name} cannot be kept in inlined rows`, {
    remedy: "Set data_inlining_row_limit to 0 for the table, so that its rows are written to files.",
  });
}

/** DuckDB's names for what `columnTypeOf` tells, where they differ. */
const duckDbNames: Readonly<Record<string, string>> = {
  INT8: "TINYINT",
  INT16: "SMALLINT",
  INT32: "INTEGER",
  INT64: "BIGINT",
  UINT8: "UTINYINT",
  UINT16: "USMALLINT",
  UINT32: "UINTEGER",
  UINT64: "UBIGINT",
  TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
};

/**
 * The type in DuckDB's own words of a column that is kept as Arrow: the inverse of `arrowFieldOf`, which also takes what the
 * embedding API stores.
 *
 * Errors: `unsupported` for Arrow types that DuckDB has no type for.
 */
export function duckDbTypeOf(field: TypedField & { readonly name: string }): string {
  const { type, metadata } = field;
  const marked = markedType(metadata, type);
  if (marked !== undefined) return marked;
  if (DataType.isNull(type)) return '"NULL"';
  if (DataType.isInterval(type) && type.unit === IntervalUnit.MONTH_DAY_NANO) return "INTERVAL";
  const children = childrenOf(type);
  if (DataType.isStruct(type)) {
    return `STRUCT(${children.map((child) => `${quotedIdentifier(child.name)} ${typeOfChild(child)}`).join(", ")})`;
  }
  const [first] = children;
  if (first !== undefined) {
    if (DataType.isList(type)) return `${typeOfChild(first)}[]`;
    if (DataType.isFixedSizeList(type)) return `${typeOfChild(first)}[${type.listSize}]`;
    if (DataType.isMap(type)) return `MAP(${childrenOf(fieldType(first)).map(typeOfChild).join(", ")})`;
  }
  const scalar = columnTypeOf(field);
  if (scalar === undefined) {
    throw new UnsupportedError(`inlined rows hold column ${quoted(field.name)} as an Arrow type that DuckDB lacks`, {
      remedy: "Flush the table's inlined rows with the embedding API.",
    });
  }
  return duckDbNames[scalar] ?? scalar;
}

function typeOfChild(field: Field): string {
  return duckDbTypeOf({ name: field.name, type: fieldType(field), metadata: field.metadata });
}

function markedType(metadata: ReadonlyMap<string, string>, type: DataType): string | undefined {
  const name = metadata.get(extensionName);
  if (name === undefined) return undefined;
  const opaqueName = name === opaque ? opaqueNameOf(metadata.get(extensionMetadata) ?? "") : undefined;
  if (opaqueName === variantName && DataType.isStruct(type)) return "VARIANT";
  const known = Object.entries(extensions).find(
    ([, extension]) => extension.name === name && extension.opaqueName === opaqueName,
  );
  return known?.[0];
}

function opaqueNameOf(details: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(details);
    if (typeof parsed !== "object" || parsed === null || !("type_name" in parsed)) return undefined;
    return typeof parsed.type_name === "string" ? parsed.type_name : undefined;
  } catch {
    // What does not say of which type it is, is taken for what its bytes are.
    return undefined;
  }
}

function quotedIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
