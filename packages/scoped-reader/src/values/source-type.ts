import type { TimeUnit, TopLevelField } from "../parquet/schema.js";

/**
 * What stored values mean, whichever way they were stored: Parquet physical type with annotation, or Arrow type.
 * `other` stands for what no indexable column can be read from.
 */
export type SourceType =
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer"; readonly bytes: 1 | 2 | 4 | 8; readonly signed: boolean }
  | { readonly kind: "float"; readonly bytes: 2 | 4 | 8 }
  | { readonly kind: "string" }
  | { readonly kind: "bytes" }
  | { readonly kind: "fixed"; readonly width: number }
  | { readonly kind: "date"; readonly unit: "day" | "ms" }
  | { readonly kind: "time"; readonly unit: TimeUnit; readonly bytes: 4 | 8 }
  /** `adjustedToUtc` is undefined where the storage does not say, or where it does not matter. */
  | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly adjustedToUtc: boolean | undefined }
  | { readonly kind: "int96" }
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number; readonly storage: DecimalStorage }
  | { readonly kind: "other"; readonly name: string };

/** How a decimal's unscaled integer is stored. `width` is in bytes; 0 means that each value has its own length. */
export type DecimalStorage = { readonly endian: "little" | "big"; readonly width: number };

/** The meaning of a top-level Parquet leaf. */
export function sourceTypeOfField(field: TopLevelField): SourceType {
  const { annotation, physicalType } = field;
  switch (physicalType) {
    case "BOOLEAN":
      return { kind: "boolean" };
    case "INT32":
    case "INT64":
      return sourceTypeOfInteger(field, physicalType === "INT32" ? 4 : 8);
    case "INT96":
      return { kind: "int96" };
    case "FLOAT":
      return { kind: "float", bytes: 4 };
    case "DOUBLE":
      return { kind: "float", bytes: 8 };
    case "BYTE_ARRAY":
      if (annotation.kind === "string") return { kind: "string" };
      if (annotation.kind === "none") return { kind: "bytes" };
      if (annotation.kind === "decimal") return { ...annotation, storage: { endian: "big", width: 0 } };
      return other(field);
    case "FIXED_LEN_BYTE_ARRAY":
      if (annotation.kind === "uuid" || annotation.kind === "none") return { kind: "fixed", width: field.typeLength };
      if (annotation.kind === "decimal") return { ...annotation, storage: { endian: "big", width: field.typeLength } };
      if (annotation.kind === "float16" && field.typeLength === 2) return { kind: "float", bytes: 2 };
      return other(field);
    case undefined:
      return other(field);
  }
}

function sourceTypeOfInteger(field: TopLevelField, bytes: 4 | 8): SourceType {
  const { annotation } = field;
  switch (annotation.kind) {
    case "none":
      return { kind: "integer", bytes, signed: true };
    case "integer":
      // Narrow unsigned integers sit in a signed word; only a full word needs to be read without its sign.
      return { kind: "integer", bytes, signed: annotation.signed || annotation.bits < bytes * 8 };
    case "date":
      return bytes === 4 ? { kind: "date", unit: "day" } : other(field);
    case "time":
      return { kind: "time", unit: annotation.unit, bytes };
    case "timestamp":
      return bytes === 8 ? annotation : other(field);
    case "decimal":
      return { ...annotation, storage: { endian: "little", width: bytes } };
    default:
      return other(field);
  }
}

function other(field: TopLevelField): SourceType {
  const { annotation } = field;
  const name = annotation.kind === "other" ? annotation.name : annotation.kind;
  return { kind: "other", name: `${field.physicalType ?? "nested"} with ${name}` };
}

/** A name for messages. */
export function describeSource(source: SourceType): string {
  switch (source.kind) {
    case "integer":
      return `${source.signed ? "" : "unsigned "}${source.bytes * 8}-bit integer`;
    case "float":
      return `${source.bytes * 8}-bit float`;
    case "fixed":
      return `binary of ${source.width} bytes`;
    case "bytes":
      return "binary";
    case "time":
      return `time in ${source.unit}`;
    case "timestamp":
      return `timestamp in ${source.unit}${source.adjustedToUtc === true ? " with time zone" : ""}`;
    case "decimal":
      return `decimal(${source.precision},${source.scale})`;
    case "other":
      return source.name;
    default:
      return source.kind;
  }
}
