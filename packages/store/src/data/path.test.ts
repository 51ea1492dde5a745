import { InvalidArgumentError } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkDataPath, checkDataPrefix, comparePaths, isDataPath } from "./path.js";

describe("checkDataPath", () => {
  test.each([
    "a",
    "main/orders/ducklake-0001.parquet",
    "a b/c%20d/é/日本/🦀",
    "day=2024-01-01/x",
    "...",
    "a..b/..c",
    " ",
  ])("takes %j", (path) => {
    expect(() => checkDataPath(path)).not.toThrow();
    expect(isDataPath(path)).toBe(true);
  });

  test.each([
    ["", /is empty/u],
    ["/a", /is absolute/u],
    ["a//b", /empty part/u],
    ["a/", /empty part/u],
    ["..", /the part \.\./u],
    ["a/../../etc", /the part \.\./u],
    ["./a", /the part \./u],
    ["a\0", /NUL/u],
    ["\udc00", /Unicode/u],
    ["é".repeat(513), /1026 bytes/u],
    ["a/.moraine-put-x", /unfinished/u],
  ])("refuses %j", (path, reason) => {
    expect(() => checkDataPath(path)).toThrow(InvalidArgumentError);
    expect(() => checkDataPath(path)).toThrow(reason);
    expect(isDataPath(path)).toBe(false);
  });

  test("names the argument", () => {
    expect(() => checkDataPath("", "file path")).toThrow("file path is empty");
    expect(() => checkDataPath(undefined as unknown as string)).toThrow("path is a undefined, not a string");
  });

  test("a prefix may end anywhere in a path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.nat(40), (path, end) => {
        fc.pre(isDataPath(path));
        const prefix = Array.from(path).slice(0, end).join("");
        expect(() => checkDataPrefix(prefix)).not.toThrow();
      }),
    );
  });
});

test("comparePaths is the order of UTF-8 bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 6 });
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(Math.sign(comparePaths(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
    }),
    { numRuns: 2000 },
  );
});
