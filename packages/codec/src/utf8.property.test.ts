import fc from "fast-check";
import { expect, test } from "vitest";
import { mutated } from "../test/support/arbitraries.js";
import { compareUtf8, isUtf8, isWellFormedText, readUtf8, writeUtf8 } from "./utf8.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ unit: "binary-ascii", maxLength: 40 }),
);
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

test("text is written and read as the platform does", () => {
  fc.assert(
    fc.property(text, (value) => {
      const out = new Uint8Array(value.length * 3 + 2);
      const end = writeUtf8(out, 2, value);
      expect(Buffer.from(out.subarray(2, end)).equals(Buffer.from(value))).toBe(true);
      expect(readUtf8(out, 2, end)).toBe(value);
      expect(isWellFormedText(value)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("a surrogate without its other half is noticed", () => {
  const halves = fc.constantFrom("\ud800", "\udbff", "\udc00", "\udfff", "a", "\u{10000}");
  fc.assert(
    fc.property(fc.array(halves, { maxLength: 6 }), (parts) => {
      const value = parts.join("");
      const wellFormed = Buffer.from(value).toString() === value;
      expect(writeUtf8(new Uint8Array(64), 0, value) >= 0).toBe(wellFormed);
      expect(isWellFormedText(value)).toBe(wellFormed);
    }),
    { numRuns: 1_000 },
  );
});

test("malformed bytes are noticed where the platform notices them", () => {
  const tricky = fc
    .array(
      fc.constantFrom(
        0x41,
        0x7f,
        0x80,
        0x8f,
        0x90,
        0x9f,
        0xa0,
        0xbf,
        0xc0,
        0xc1,
        0xc2,
        0xdf,
        0xe0,
        0xed,
        0xef,
        0xf0,
        0xf4,
        0xf5,
        0xff,
      ),
      { maxLength: 6 },
    )
    .map((bytes) => Uint8Array.from(bytes));
  const valid = text.map((value) => Uint8Array.from(Buffer.from(value)));
  fc.assert(
    fc.property(fc.oneof(tricky, mutated(valid), fc.uint8Array({ maxLength: 40 })), (bytes) => {
      let expected: string | undefined;
      try {
        expected = strict.decode(bytes);
      } catch {
        expected = undefined;
      }
      expect(isUtf8(bytes, 0, bytes.length)).toBe(expected !== undefined);
      expect(readUtf8(bytes, 0, bytes.length)).toBe(expected);
    }),
    { numRuns: 5_000 },
  );
});

test("texts sort as their bytes do", () => {
  const units = fc
    .array(fc.constantFrom("a", "b", "\u007f", "\u0080", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"), {
      maxLength: 4,
    })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(units, text), fc.oneof(units, text), (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
});
