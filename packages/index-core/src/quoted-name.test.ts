import { describe, expect, it } from "vitest";
import { quotedName } from "./quoted-name.js";

describe("quotedName", () => {
  it("quotes, and sets a dot into each word on which DuckLake would retry", () => {
    expect(quotedName("by_email")).toBe('"by_email"');
    expect(quotedName("UNIQUE_email no conflict Concurrent primary key")).toBe(
      '"U\u00b7NIQUE_email no c\u00b7onflict C\u00b7oncurrent p\u00b7rimary key"',
    );
  });

  it("escapes control characters and cuts long names", () => {
    expect(quotedName("a\nb")).toBe('"a\\nb"');
    expect(quotedName("x".repeat(500))).toBe(`"${"x".repeat(128)}…"`);
  });
});
