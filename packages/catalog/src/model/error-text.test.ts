import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { harmless, quoted } from "./error-text.js";

const retryWords = /conflict|concurrent|unique|primary key/i;

describe("quoted", () => {
  it("leaves plain names alone", () => {
    expect(quoted("orders")).toBe('"orders"');
  });

  it("breaks the words that make DuckLake repeat a commit", () => {
    expect(quoted("UNIQUE_ids")).toBe('"U\u00b7NIQUE_ids"');
    const words = fc.constantFrom(
      "conflict",
      "Concurrent",
      "uNIQUE",
      "primary key",
      "PRIMARY KEY",
      "con",
      "flict",
      " ",
      "i",
      "que",
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(words, fc.string({ maxLength: 4 }))).map((parts) => parts.join("")),
        (text) => {
          expect(quoted(text)).not.toMatch(retryWords);
          expect(harmless(text)).not.toMatch(retryWords);
        },
      ),
    );
  });

  it("cuts long names between characters", () => {
    const text = quoted("\u{1f600}".repeat(1000));
    expect(Array.from(text).length).toBeLessThan(90);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  });
});
