import { describe, expect, it } from "vitest";
import { quotedName } from "./quoted-name.js";

describe("quotedName", () => {
  it("quotes", () => {
    expect(quotedName("by_email")).toBe('"by_email"');
    expect(quotedName("UNIQUE_email")).toBe('"UNIQUE_email"');
  });

  it("escapes control characters and cuts long names", () => {
    expect(quotedName("a\nb")).toBe('"a\\nb"');
    expect(quotedName("x".repeat(500))).toBe(`"${"x".repeat(128)}…"`);
  });
});
