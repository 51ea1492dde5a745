import { InvalidArgumentError } from "./errors.js";
import type { MessageField } from "./message.js";
import { compareUtf8 } from "./utf8.js";
import { wireTypes, type WireWriter } from "./wire-writer.js";

/** Writes the fields of one message, without a length. `value` holds one property a field. */
export function writeFields(writer: WireWriter, fields: readonly MessageField[], value: unknown): void {
  const record = value as Readonly<Record<string, unknown>>;
  for (const field of fields) writeField(writer, field, record[field.name]);
}

function writeField(writer: WireWriter, field: MessageField, value: unknown): void {
  const { number, path } = field;
  switch (field.kind) {
    case "u64":
      if (value === 0n) return;
      writer.tag(number, wireTypes.varint);
      return writer.u64(value, path);
    case "optional u64":
      if (value === undefined) return;
      writer.tag(number, wireTypes.varint);
      return writer.u64(value, path);
    case "string":
      if (value === "") return;
      writer.tag(number, wireTypes.lengthDelimited);
      return writer.string(value, path);
    case "optional string":
      if (value === undefined) return;
      writer.tag(number, wireTypes.lengthDelimited);
      return writer.string(value, path);
    case "bool":
      if (value === false) return;
      writer.tag(number, wireTypes.varint);
      return writer.bool(value, path);
    case "optional bool":
      if (value === undefined) return;
      writer.tag(number, wireTypes.varint);
      return writer.bool(value, path);
    case "i64":
      if (value === 0n) return;
      writer.tag(number, wireTypes.varint);
      return writer.i64(value, path);
    case "bytes":
      if (value instanceof Uint8Array && value.length === 0) return;
      writer.tag(number, wireTypes.lengthDelimited);
      return writer.bytes(value, path);
    case "string map":
      return writeMap(writer, field, value);
    default:
      return writeRepeated(writer, field, value);
  }
}

function writeRepeated(writer: WireWriter, field: MessageField, value: unknown): void {
  if (!Array.isArray(value)) throw wrongType("an array", field);
  const elements = value as readonly unknown[];
  if (elements.length === 0) return;
  const { number, path } = field;
  if (field.kind === "repeated bytes") {
    for (const element of elements) {
      writer.tag(number, wireTypes.lengthDelimited);
      writer.bytes(element, path);
    }
  } else if (field.message !== undefined) {
    for (const element of elements) {
      if (typeof element !== "object" || element === null) throw wrongType("an array of objects", field);
      writer.tag(number, wireTypes.lengthDelimited);
      const lengthAt = writer.openLength();
      writeFields(writer, field.message.fields, element);
      writer.closeLength(lengthAt);
    }
  } else {
    writer.tag(number, wireTypes.lengthDelimited);
    const lengthAt = writer.openLength();
    if (field.kind === "repeated bool") for (const element of elements) writer.bool(element, path);
    else for (const element of elements) writer.u64(element, path);
    writer.closeLength(lengthAt);
  }
}

function writeMap(writer: WireWriter, field: MessageField, value: unknown): void {
  if (!(value instanceof Map)) throw wrongType("a Map", field);
  const entries = [...(value as ReadonlyMap<string, string>)].toSorted(([a], [b]) => compareUtf8(a, b));
  for (const [key, mapped] of entries) {
    writer.tag(field.number, wireTypes.lengthDelimited);
    const lengthAt = writer.openLength();
    writeEntryText(writer, 1, key, field);
    writeEntryText(writer, 2, mapped, field);
    writer.closeLength(lengthAt);
  }
}

/** A map entry is a message of two plain strings, so an empty one is absent. */
function writeEntryText(writer: WireWriter, number: number, text: string, field: MessageField): void {
  if (text === "") return;
  writer.tag(number, wireTypes.lengthDelimited);
  writer.string(text, field.path);
}

function wrongType(what: string, field: MessageField): InvalidArgumentError {
  return new InvalidArgumentError(`${field.path} is not ${what}`, { remedy: `Pass ${what} for this field.` });
}
