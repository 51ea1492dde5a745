import { describe, expect, it } from "vitest";
import { quoted } from "./error-text.js";

describe("quoted", () => {
  it("leaves plain names alone", () => {
    expect(quoted("orders")).toBe('"orders"');
    expect(quoted("UNIQUE_ids")).toBe('"UNIQUE_ids"');
  });

  it("cuts long names between characters", () => {
    const text = quoted("\u{1f600}".repeat(1000));
    expect(Array.from(text).length).toBeLessThan(90);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  });
});
