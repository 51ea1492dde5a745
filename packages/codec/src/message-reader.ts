import type { MessageField, MessageType } from "./message.js";
import type { WireReader } from "./wire-reader.js";
import { wireTypes } from "./wire-writer.js";

/** Reads one message up to the reader's end. */
export function readFields<T>(reader: WireReader, type: MessageType<T>): T {
  const { byNumber } = type;
  const record: Record<string, unknown> = Object.assign({}, type.defaults);
  while (!reader.atEnd) {
    const tag = reader.tag();
    const field = byNumber[tag >>> 3];
    if (field === undefined) reader.skip(tag);
    else readField(reader, field, tag & 7, record);
  }
  // The table that gave the defaults decides every assignment, so the record has the message's type.
  return record as T;
}

function readField(reader: WireReader, field: MessageField, wireType: number, record: Record<string, unknown>): void {
  switch (field.kind) {
    case "u64":
    case "optional u64":
      expect(reader, field, wireType, wireTypes.varint);
      record[field.name] = reader.u64();
      return;
    case "string":
    case "optional string":
      expect(reader, field, wireType, wireTypes.lengthDelimited);
      record[field.name] = reader.string();
      return;
    case "bool":
    case "optional bool":
      expect(reader, field, wireType, wireTypes.varint);
      record[field.name] = reader.bool();
      return;
    case "i64":
      expect(reader, field, wireType, wireTypes.varint);
      record[field.name] = reader.i64();
      return;
    case "bytes":
      expect(reader, field, wireType, wireTypes.lengthDelimited);
      record[field.name] = reader.bytes();
      return;
    case "string map":
      expect(reader, field, wireType, wireTypes.lengthDelimited);
      return readMapEntry(reader, field, record);
    default:
      return readRepeated(reader, field, wireType, record);
  }
}

function readRepeated(
  reader: WireReader,
  field: MessageField,
  wireType: number,
  record: Record<string, unknown>,
): void {
  const elements = ownList(field, record);
  if (field.kind === "repeated bytes") {
    expect(reader, field, wireType, wireTypes.lengthDelimited);
    elements.push(reader.bytes());
  } else if (field.message !== undefined) {
    expect(reader, field, wireType, wireTypes.lengthDelimited);
    const outerEnd = reader.enter();
    elements.push(readFields(reader, field.message));
    reader.leave(outerEnd);
  } else if (wireType === wireTypes.lengthDelimited) {
    const outerEnd = reader.enter();
    while (!reader.atEnd) elements.push(field.kind === "repeated bool" ? reader.bool() : reader.u64());
    reader.leave(outerEnd);
  } else {
    // Scalars that an older or foreign writer did not pack.
    expect(reader, field, wireType, wireTypes.varint);
    elements.push(field.kind === "repeated bool" ? reader.bool() : reader.u64());
  }
}

/** The list to add to. The default one is shared and must stay empty. */
function ownList(field: MessageField, record: Record<string, unknown>): unknown[] {
  const present = record[field.name] as unknown[];
  if (present.length > 0) return present;
  const list: unknown[] = [];
  record[field.name] = list;
  return list;
}

function readMapEntry(reader: WireReader, field: MessageField, record: Record<string, unknown>): void {
  let key = "";
  let value = "";
  const outerEnd = reader.enter();
  while (!reader.atEnd) {
    const tag = reader.tag();
    const number = tag >>> 3;
    if (number > 2) {
      reader.skip(tag);
      continue;
    }
    expect(reader, field, tag & 7, wireTypes.lengthDelimited);
    if (number === 1) key = reader.string();
    else value = reader.string();
  }
  reader.leave(outerEnd);
  let map = record[field.name] as Map<string, string>;
  if (map.size === 0) {
    map = new Map();
    record[field.name] = map;
  }
  map.set(key, value);
}

function expect(reader: WireReader, field: MessageField, actual: number, expected: number): void {
  if (actual !== expected) throw reader.fault(`field ${field.number} has wire type ${actual}, not ${expected}`);
}
