import { compareBytes } from "./bytes.js";
import type { MessageField, MessageType } from "./message.js";

/** Whether two values of a message are the same. This, not their bytes, says whether a record changed. */
export function equalValue<T>(type: MessageType<T>, a: T, b: T): boolean {
  return a === b || equalFields(type.fields, a, b);
}

function equalFields(fields: readonly MessageField[], a: unknown, b: unknown): boolean {
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  return fields.every((field) => equalField(field, left[field.name], right[field.name]));
}

function equalField(field: MessageField, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  switch (field.kind) {
    case "bytes":
      return equalBytes(a as Uint8Array, b as Uint8Array);
    case "string map":
      return equalMaps(a as ReadonlyMap<string, string>, b as ReadonlyMap<string, string>);
    case "repeated u64":
    case "repeated bool":
      return equalLists(a as readonly unknown[], b as readonly unknown[], (x, y) => x === y);
    case "repeated bytes":
      return equalLists(a as readonly Uint8Array[], b as readonly Uint8Array[], equalBytes);
    case "repeated message": {
      const fields = field.message?.fields ?? [];
      return equalLists(a as readonly unknown[], b as readonly unknown[], (x, y) => equalFields(fields, x, y));
    }
    default:
      return false;
  }
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

function equalLists<E>(a: readonly E[], b: readonly E[], equal: (x: E, y: E) => boolean): boolean {
  return a.length === b.length && a.every((element, i) => equal(element, b[i] as E));
}

function equalMaps(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
