import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryId, mutated } from "../test/support/arbitraries.js";
import { toHex } from "../test/support/golden.js";
import { messages } from "../test/support/messages.js";
import { CorruptionError, decodeValue, encodeValue, equalValue, type MessageField, type MessageType } from "./index.js";

const arbitraryText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constant(""),
);
const arbitraryBytes = fc
  .oneof(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ minLength: 120, maxLength: 140 }))
  .map((bytes) => Uint8Array.from(bytes));

function arbitraryField(field: MessageField): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case "u64":
      return arbitraryId;
    case "i64":
      return fc.oneof(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), fc.constantFrom(0n, -1n));
    case "bool":
      return fc.boolean();
    case "string":
      return arbitraryText;
    case "bytes":
      return arbitraryBytes;
    case "optional u64":
      return fc.option(arbitraryId, { nil: undefined });
    case "optional bool":
      return fc.option(fc.boolean(), { nil: undefined });
    case "optional string":
      return fc.option(arbitraryText, { nil: undefined });
    case "repeated u64":
      return fc.array(arbitraryId, { maxLength: 20 });
    case "repeated bool":
      return fc.array(fc.boolean(), { maxLength: 4 });
    case "repeated bytes":
      return fc.array(arbitraryBytes, { maxLength: 4 });
    case "string map":
      return fc.array(fc.tuple(arbitraryText, arbitraryText), { maxLength: 5 }).map((entries) => new Map(entries));
    case "repeated message":
      return fc.array(arbitraryMessage(field.message as MessageType<object>), { maxLength: 3 });
  }
}

function arbitraryMessage(type: MessageType<object>): fc.Arbitrary<object> {
  return fc.record(Object.fromEntries(type.fields.map((field) => [field.name, arbitraryField(field)])));
}

/** The same payload by another implementation of the wire format. */
function writeWith(writer: BinaryWriter, type: MessageType<object>, value: object): BinaryWriter {
  for (const field of type.fields) {
    const part = (value as Record<string, unknown>)[field.name];
    const { number } = field;
    switch (field.kind) {
      case "u64":
        if (part !== 0n) writer.tag(number, 0).uint64(part as bigint);
        break;
      case "i64":
        if (part !== 0n) writer.tag(number, 0).int64(part as bigint);
        break;
      case "bool":
        if (part === true) writer.tag(number, 0).bool(true);
        break;
      case "string":
        if (part !== "") writer.tag(number, 2).string(part as string);
        break;
      case "bytes":
        if ((part as Uint8Array).length > 0) writer.tag(number, 2).bytes(part as Uint8Array);
        break;
      case "optional u64":
        if (part !== undefined) writer.tag(number, 0).uint64(part as bigint);
        break;
      case "optional bool":
        if (part !== undefined) writer.tag(number, 0).bool(part as boolean);
        break;
      case "optional string":
        if (part !== undefined) writer.tag(number, 2).string(part as string);
        break;
      case "repeated u64":
        if ((part as bigint[]).length === 0) break;
        writer.tag(number, 2).fork();
        for (const element of part as bigint[]) writer.uint64(element);
        writer.join();
        break;
      case "repeated bool":
        if ((part as boolean[]).length === 0) break;
        writer.tag(number, 2).fork();
        for (const element of part as boolean[]) writer.bool(element);
        writer.join();
        break;
      case "repeated bytes":
        for (const element of part as Uint8Array[]) writer.tag(number, 2).bytes(element);
        break;
      case "string map":
        for (const [key, mapped] of [...(part as Map<string, string>)].toSorted(([a], [b]) =>
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        )) {
          writer.tag(number, 2).fork();
          if (key !== "") writer.tag(1, 2).string(key);
          if (mapped !== "") writer.tag(2, 2).string(mapped);
          writer.join();
        }
        break;
      case "repeated message":
        for (const element of part as object[])
          writeWith(writer.tag(number, 2).fork(), field.message as MessageType<object>, element).join();
        break;
    }
  }
  return writer;
}

const frame = "4d524e4500";

test.each([...messages])(
  "%s comes back as it was written, and is written as another writer writes it",
  (_name, type) => {
    fc.assert(
      fc.property(arbitraryMessage(type), (value) => {
        const bytes = encodeValue(type, value);
        const decoded = decodeValue(type, bytes);
        expect(decoded).toEqual(value);
        expect(equalValue(type, decoded, value)).toBe(true);
        expect(toHex(bytes)).toBe(frame + toHex(writeWith(new BinaryWriter(), type, value).finish()));
      }),
      { numRuns: 40 },
    );
  },
);

test.each([...messages])("two values of %s are equal exactly if their bytes are", (_name, type) => {
  fc.assert(
    fc.property(arbitraryMessage(type), arbitraryMessage(type), fc.nat(), (a, b, pick) => {
      // One field of `b` in `a`, so that values which differ in one place come up.
      const field = type.fields[pick % Math.max(1, type.fields.length)];
      const near = field === undefined ? b : { ...a, [field.name]: (b as Record<string, unknown>)[field.name] };
      for (const other of [b, near, structuredClone(a)]) {
        expect(equalValue(type, a, other)).toBe(toHex(encodeValue(type, a)) === toHex(encodeValue(type, other)));
      }
    }),
    { numRuns: 20 },
  );
});

test.each([...messages])("any bytes are a %s that can be written again, or corruption", (_name, type) => {
  const framed = (payload: Uint8Array): Uint8Array => Uint8Array.from([...Buffer.from(frame, "hex"), ...payload]);
  const valid = arbitraryMessage(type).map((value) => encodeValue(type, value));
  // A few tags of the message make noise that goes further than its first byte.
  const tags = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 26 }), fc.integer({ min: 0, max: 7 }), fc.uint8Array({ maxLength: 4 })),
    { maxLength: 5 },
  );
  const noise = tags.map((parts) =>
    framed(Uint8Array.from(parts.flatMap(([number, wire, rest]) => [((number << 3) | wire) & 0x7f, ...rest]))),
  );
  fc.assert(
    fc.property(
      fc.oneof(mutated(valid), noise, fc.uint8Array({ maxLength: 40 }).map(framed), fc.uint8Array({ maxLength: 20 })),
      (bytes) => {
        let value: object;
        try {
          value = decodeValue(type, bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError);
          return;
        }
        expect(equalValue(type, decodeValue(type, encodeValue(type, value)), value)).toBe(true);
      },
    ),
    { numRuns: 100 },
  );
});

test("what another writer does not pack is read, and unknown fields are passed over", () => {
  const type = messages.get("IndexValue") as MessageType<object>;
  fc.assert(
    fc.property(
      fc.array(arbitraryId),
      fc.array(fc.boolean()),
      fc.integer({ min: 100, max: 1 << 28 }),
      arbitraryBytes,
      (ids, flags, unknown, bytes) => {
        const writer = new BinaryWriter();
        for (const id of ids) writer.tag(6, 0).uint64(id);
        writer
          .tag(unknown, 2)
          .bytes(bytes)
          .tag(unknown, 0)
          .uint64(7)
          .tag(unknown, 1)
          .fixed64(7n)
          .tag(unknown, 5)
          .fixed32(7);
        for (const flag of flags) writer.tag(14, 0).bool(flag);
        const payload = writer.finish();
        expect(new BinaryReader(payload).len).toBe(payload.length);
        const decoded = decodeValue(type, Uint8Array.from([...Buffer.from(frame, "hex"), ...payload]));
        expect(decoded).toEqual({ ...type.defaults, columnIds: ids, columnDescending: flags });
      },
    ),
  );
});
