import { expect, test } from "vitest";
import { CorruptionError, decodeValue, encodeValue, equalValue, type MessageType } from "../src/index.js";
import { fromHex, readGolden, revive, toHex } from "./support/golden.js";
import { messages } from "./support/messages.js";

interface ValueVectors {
  readonly values: readonly {
    name: string;
    message: string;
    value: Record<string, unknown>;
    hex: string;
    decodeOnly?: boolean;
  }[];
  readonly invalid: readonly { name: string; message: string; hex: string }[];
}

const vectors = readGolden<ValueVectors>("values.json");

function messageOf(name: string): MessageType<object> {
  const message = messages.get(name);
  if (message === undefined) throw new Error(`no message ${name}`);
  return message;
}

/** The vector's fields over the defaults, with the types that the message's table says. */
function complete(message: MessageType<object>, given: Readonly<Record<string, unknown>>): object {
  const unknownFields = Object.keys(given).filter((name) => !message.fields.some((field) => field.name === name));
  expect(unknownFields).toEqual([]);
  const value: Record<string, unknown> = { ...message.defaults };
  for (const field of message.fields) {
    const raw = given[field.name];
    if (raw === undefined) continue;
    if (field.kind === "string map") value[field.name] = new Map(Object.entries(raw as Record<string, string>));
    else if (field.message !== undefined) {
      const element = field.message;
      value[field.name] = (raw as Record<string, unknown>[]).map((part) => complete(element, part));
    } else if (field.kind.endsWith("64")) {
      value[field.name] = Array.isArray(raw)
        ? raw.map((part: string | number) => BigInt(part))
        : BigInt(raw as string | number);
    } else value[field.name] = revive(raw);
  }
  return value;
}

test.each(vectors.values)("value $name", ({ message, value, hex, decodeOnly }) => {
  const type = messageOf(message);
  const expected = complete(type, value);
  const decoded = decodeValue(type, fromHex(hex));
  expect(decoded).toEqual(expected);
  expect(Object.keys(decoded)).toEqual(type.fields.map((field) => field.name));
  expect(equalValue(type, decoded, expected)).toBe(true);
  if (decodeOnly === true) expect(decodeValue(type, encodeValue(type, decoded))).toEqual(expected);
  else expect(toHex(encodeValue(type, expected))).toBe(hex);
});

test.each(vectors.invalid)("not a $message: $name", ({ message, hex }) => {
  expect(() => decodeValue(messageOf(message), fromHex(hex))).toThrow(CorruptionError);
  expect(() => decodeValue(messageOf(message), fromHex(hex))).toThrow(`value ${message}: `);
});

test("every message has a vector in which every field is there", () => {
  const seen = new Set<string>();
  const visit = (type: MessageType<object>, value: Readonly<Record<string, unknown>>): void => {
    seen.add(type.name);
    for (const field of type.fields) {
      const part = value[field.name];
      if (part === undefined) continue;
      seen.add(field.path);
      const { message } = field;
      if (message !== undefined) for (const element of part as Record<string, unknown>[]) visit(message, element);
    }
  };
  for (const vector of vectors.values) visit(messageOf(vector.message), vector.value);
  const all = [...messages.values()].flatMap((type) => [type.name, ...type.fields.map((field) => field.path)]);
  expect(all.filter((name) => !seen.has(name))).toEqual([]);
});
