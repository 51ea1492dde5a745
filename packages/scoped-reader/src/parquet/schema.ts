import { MalformedFile } from "../malformed.js";
import type { ThriftReader } from "./thrift-reader.js";

/** Physical types of Parquet, by their number in the file. */
export const physicalTypes = [
  "BOOLEAN",
  "INT32",
  "INT64",
  "INT96",
  "FLOAT",
  "DOUBLE",
  "BYTE_ARRAY",
  "FIXED_LEN_BYTE_ARRAY",
] as const;
export type PhysicalType = (typeof physicalTypes)[number];

export type TimeUnit = "s" | "ms" | "us" | "ns";

/** What a leaf's annotation says about its physical values, from the logical type or the older converted type. */
export type Annotation =
  | { readonly kind: "none" }
  | { readonly kind: "string" }
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number }
  | { readonly kind: "date" }
  | { readonly kind: "time"; readonly unit: TimeUnit }
  | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly adjustedToUtc: boolean | undefined }
  | { readonly kind: "integer"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: "uuid" }
  | { readonly kind: "float16" }
  | { readonly kind: "other"; readonly name: string };

/** One element of the schema list, in file order. */
export interface SchemaElement {
  readonly name: string;
  readonly physicalType: PhysicalType | undefined;
  readonly typeLength: number;
  readonly repetition: "required" | "optional" | "repeated";
  readonly childCount: number;
  readonly fieldId: number | undefined;
  readonly annotation: Annotation;
}

/** A top-level field. `leaf` is its place among all leaves, which is its place in each row group; `null` for nested fields. */
export interface TopLevelField extends SchemaElement {
  readonly leaf: number | null;
}

export interface ParquetSchema {
  readonly fields: readonly TopLevelField[];
  readonly leafCount: number;
}

const repetitions = ["required", "optional", "repeated"] as const;
const none: Annotation = { kind: "none" };

export function readSchemaElement(reader: ThriftReader): SchemaElement {
  let physicalType: PhysicalType | undefined;
  let typeLength = 0;
  let repetition: SchemaElement["repetition"] = "required";
  let name = "";
  let childCount = 0;
  let convertedType: number | undefined;
  let scale = 0;
  let precision = 0;
  let fieldId: number | undefined;
  let logical: Annotation | undefined;
  reader.struct((id, type) => {
    switch (id) {
      case 1:
        physicalType = member(physicalTypes, reader.i32(type), "physical type");
        return true;
      case 2:
        typeLength = reader.i32(type);
        return true;
      case 3:
        repetition = member(repetitions, reader.i32(type), "repetition");
        return true;
      case 4:
        name = reader.text(type);
        return true;
      case 5:
        childCount = reader.i32(type);
        return true;
      case 6:
        convertedType = reader.i32(type);
        return true;
      case 7:
        scale = reader.i32(type);
        return true;
      case 8:
        precision = reader.i32(type);
        return true;
      case 9:
        fieldId = reader.i32(type);
        return true;
      case 10:
        logical = readLogicalType(reader);
        return true;
      default:
        return false;
    }
  });
  if (physicalType === "FIXED_LEN_BYTE_ARRAY" && typeLength <= 0) {
    throw new MalformedFile(`column ${name} has no valid length`);
  }
  const annotation = logical ?? annotationOfConvertedType(convertedType, precision, scale);
  return { name, physicalType, typeLength, repetition, childCount, fieldId, annotation };
}

/** Top-level fields of a depth-first list of elements whose first is the root. */
export function topLevelFields(elements: readonly SchemaElement[]): ParquetSchema {
  const root = elements[0];
  if (root === undefined) throw new MalformedFile("the schema is empty");
  const fields: TopLevelField[] = [];
  let at = 1;
  let leafCount = 0;
  for (let i = 0; i < root.childCount; i++) {
    const element = elements[at];
    if (element === undefined) throw new MalformedFile("the schema ends early");
    const isLeaf = element.childCount === 0 && element.physicalType !== undefined && element.repetition !== "repeated";
    fields.push({ ...element, leaf: isLeaf ? leafCount : null });
    // A subtree is walked by counting what is still owed, so that depth in the file costs no depth of calls here.
    let owed = 1;
    while (owed > 0) {
      const node = elements[at];
      if (node === undefined || node.childCount < 0) throw new MalformedFile("the schema ends early");
      at++;
      owed += node.childCount - 1;
      if (node.childCount === 0 && node.physicalType !== undefined) leafCount++;
    }
  }
  if (at !== elements.length) throw new MalformedFile("the schema has elements outside its root");
  return { fields, leafCount };
}

function readLogicalType(reader: ThriftReader): Annotation | undefined {
  let annotation: Annotation | undefined;
  reader.struct((id) => {
    switch (id) {
      case 1:
      case 4:
      case 12:
        annotation = { kind: "string" };
        return false;
      case 5:
        annotation = readDecimal(reader);
        return true;
      case 6:
        annotation = { kind: "date" };
        return false;
      case 7:
      case 8:
        annotation = readTemporal(reader, id === 7 ? "time" : "timestamp");
        return true;
      case 10:
        annotation = readInteger(reader);
        return true;
      case 11:
        annotation = none;
        return false;
      case 14:
        annotation = { kind: "uuid" };
        return false;
      case 15:
        annotation = { kind: "float16" };
        return false;
      default:
        annotation = { kind: "other", name: `logical type ${id}` };
        return false;
    }
  });
  return annotation;
}

function readDecimal(reader: ThriftReader): Annotation {
  let scale = 0;
  let precision = 0;
  reader.struct((id, type) => {
    if (id === 1) scale = reader.i32(type);
    else if (id === 2) precision = reader.i32(type);
    else return false;
    return true;
  });
  return decimal(precision, scale);
}

function readTemporal(reader: ThriftReader, kind: "time" | "timestamp"): Annotation {
  let adjustedToUtc = false;
  let unit: TimeUnit | undefined;
  reader.struct((id, type) => {
    if (id === 1) adjustedToUtc = reader.boolean(type);
    else if (id === 2) {
      reader.struct((unitId) => {
        unit = ({ 1: "ms", 2: "us", 3: "ns" } as const)[unitId];
        return false;
      });
    } else return false;
    return true;
  });
  if (unit === undefined) throw new MalformedFile(`a ${kind} has no unit`);
  return kind === "time" ? { kind, unit } : { kind, unit, adjustedToUtc };
}

function readInteger(reader: ThriftReader): Annotation {
  let bits = 0;
  let signed = true;
  reader.struct((id, type) => {
    if (id === 1) bits = reader.i8(type);
    else if (id === 2) signed = reader.boolean(type);
    else return false;
    return true;
  });
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) throw new MalformedFile(`an integer has ${bits} bits`);
  return { kind: "integer", bits, signed };
}

function decimal(precision: number, scale: number): Annotation {
  if (precision < 1 || scale < 0 || scale > precision) {
    throw new MalformedFile(`a decimal has precision ${precision} and scale ${scale}`);
  }
  return { kind: "decimal", precision, scale };
}

/** Converted types are what writers used before logical types; DuckDB still writes only them for most columns. */
function annotationOfConvertedType(type: number | undefined, precision: number, scale: number): Annotation {
  switch (type) {
    case undefined:
      return none;
    case 0: // UTF8
    case 4: // ENUM
    case 19: // JSON
      return { kind: "string" };
    case 5:
      return decimal(precision, scale);
    case 6:
      return { kind: "date" };
    case 7:
      return { kind: "time", unit: "ms" };
    case 8:
      return { kind: "time", unit: "us" };
    case 9:
      return { kind: "timestamp", unit: "ms", adjustedToUtc: undefined };
    case 10:
      return { kind: "timestamp", unit: "us", adjustedToUtc: undefined };
    case 11:
      return { kind: "integer", bits: 8, signed: false };
    case 12:
      return { kind: "integer", bits: 16, signed: false };
    case 13:
      return { kind: "integer", bits: 32, signed: false };
    case 14:
      return { kind: "integer", bits: 64, signed: false };
    case 15:
      return { kind: "integer", bits: 8, signed: true };
    case 16:
      return { kind: "integer", bits: 16, signed: true };
    case 17:
      return { kind: "integer", bits: 32, signed: true };
    case 18:
      return { kind: "integer", bits: 64, signed: true };
    default:
      return { kind: "other", name: `converted type ${type}` };
  }
}

function member<T>(all: readonly T[], index: number, what: string): T {
  const value = all[index];
  if (value === undefined) throw new MalformedFile(`the schema names the unknown ${what} ${index}`);
  return value;
}
