import { expect, test } from "vitest";
import { expectError } from "../test/support/errors.js";
import { parseColumnType } from "./index.js";
import { maxCachedColumnTypes } from "./limits.js";

test.each([
  [1, "int16"],
  [4, "int16"],
  [5, "int32"],
  [9, "int32"],
  [10, "int64"],
  [18, "int64"],
  [19, "int128"],
  [38, "int128"],
])("a decimal of %i digits is an %s", (precision, valueType) => {
  expect(parseColumnType(`DECIMAL(${precision}, 1)`)).toEqual({ valueType, logical: "decimal", precision, scale: 1 });
});

test.each(["timestamp with time zone", " TIMESTAMP  WITH TIME\tZONE ", "TimestampTZ"])(
  "case and spacing do not matter: %s",
  (name) => {
    expect(parseColumnType(name)).toEqual({ valueType: "int64", logical: "timestamp", unit: "us", withTimeZone: true });
  },
);

test("int8 is DuckLake's, of eight bits, not DuckDB's alias of BIGINT", () => {
  expect(parseColumnType("int8").valueType).toBe("int8");
});

test.each([
  ["HUGEINT", "double"],
  ["uhugeint", "double"],
  ["int128", "double"],
  ["INTEGER[]", "nested"],
  ["STRUCT(a INTEGER, b VARCHAR)", "nested"],
  ["MAP(VARCHAR, INTEGER)", "nested"],
  ["INTERVAL", "not one count"],
  ["TIMETZ", "offset"],
  ["VARIANT", "several types"],
  ["VARCHAR COLLATE NOCASE", "collation"],
  ["varchar collate de", "collation"],
  ["DECIMAL(39, 2)", "precision"],
  ["DECIMAL(3, 4)", "scale"],
  ["DECIMAL(a)", "parameters"],
  ["TIMESTAMP(3)", "no parameters"],
  ["made_up", "not one that this version knows"],
  ["toString", "not one that this version knows"],
  ["constructor", "not one that this version knows"],
  ["", "not one that this version knows"],
])("%s is refused with its reason", (name, reason) => {
  expectError(() => parseColumnType(name), "constraint", reason);
});

test("the name of an unknown type is not repeated, whatever it holds", () => {
  expectError(() => parseColumnType("unique conflict(PRIMARY KEY)"), "constraint");
  expectError(() => parseColumnType("ENUM('conflict', 'unique')"), "constraint", "ENUM");
});

test("the memory of parsed names is bounded and does not change answers", () => {
  const first = parseColumnType("VARCHAR(7)");
  for (let i = 0; i < 3 * maxCachedColumnTypes; i++) parseColumnType(`VARCHAR(${i})`);
  expect(parseColumnType("VARCHAR(7)")).toEqual(first);
});
