import { expect, test } from "vitest";
import { expectError } from "../test/support/errors.js";
import { type DuckDbType, parseDuckDbType } from "./index.js";
import { maxCachedColumnTypes, maxDuckDbTypeDepth } from "./limits.js";

/** Names and nesting in a form that is quick to read: `STRUCT(a:INTEGER,b c:LIST(element:VARCHAR))`. */
function outline(type: DuckDbType): string {
  const fields = type.children.map((child) => `${child.name}:${outline(child.type)}`).join(",");
  return fields === "" ? type.name : `${type.name}(${fields})`;
}

test.each([
  ["BIGINT", "BIGINT"],
  ["int8", "BIGINT"],
  ["INT1", "TINYINT"],
  ["uint8", "UTINYINT"],
  ["double  precision", "DOUBLE"],
  ["TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"],
  ["timestamptz", "TIMESTAMP WITH TIME ZONE"],
  ["TIME WITH TIME ZONE", "TIME WITH TIME ZONE"],
  ["TIMESTAMP_NS", "TIMESTAMP_NS"],
  ["VARCHAR(10)", "VARCHAR"],
  ["JSON", "JSON"],
  ['"NULL"', "NULL"],
  ["ENUM('a', 'it''s, \"b\")')", "ENUM"],
  ["GEOMETRY('EPSG:4326')", "GEOMETRY"],
  ["INTEGER[]", "LIST(element:INTEGER)"],
  ["INTEGER[3][]", "LIST(element:ARRAY(element:INTEGER))"],
  ["MAP(VARCHAR, DECIMAL(18,3)[])", "MAP(key:VARCHAR,value:LIST(element:DECIMAL))"],
  ['STRUCT(a INTEGER, "b c" VARCHAR)[]', "LIST(element:STRUCT(a:INTEGER,b c:VARCHAR))"],
  ['STRUCT("say ""a""" INTEGER)', 'STRUCT(say "a":INTEGER)'],
  ["STRUCT(INTEGER, VARCHAR[])", "STRUCT(:INTEGER,:LIST(element:VARCHAR))"],
  ["STRUCT(TIMESTAMP WITH TIME ZONE, DOUBLE PRECISION)", "STRUCT(:TIMESTAMP WITH TIME ZONE,:DOUBLE)"],
  ["STRUCT(time TIME WITH TIME ZONE)", "STRUCT(time:TIME WITH TIME ZONE)"],
  ["STRUCT(timestamp TIMESTAMP)", "STRUCT(timestamp:TIMESTAMP)"],
  ['STRUCT("NULL" "NULL")', "STRUCT(NULL:NULL)"],
  ['STRUCT("NULL")', "STRUCT(:NULL)"],
  ['STRUCT("list" STRUCT("map" MAP(INTEGER, "NULL")))', "STRUCT(list:STRUCT(map:MAP(key:INTEGER,value:NULL)))"],
  ["UNION(num INTEGER, str VARCHAR)", "UNION(num:INTEGER,str:VARCHAR)"],
  [
    "VARIANT",
    "VARIANT(keys:LIST(element:VARCHAR),children:LIST(element:STRUCT(keys_index:UINTEGER,values_index:UINTEGER))," +
      "values:LIST(element:STRUCT(type_id:UTINYINT,byte_offset:UINTEGER)),data:BLOB)",
  ],
])("%s", (text, expected) => {
  expect(outline(parseDuckDbType(text))).toBe(expected);
});

test("parameters are numbers, and each part has the text of its own", () => {
  const type = parseDuckDbType("STRUCT(a DECIMAL(18,3), b INTEGER[4])");
  expect(type.children.map((child) => child.type)).toMatchObject([
    { text: "DECIMAL(18,3)", precision: 18, scale: 3 },
    { text: "INTEGER[4]", size: 4, children: [{ type: { text: "INTEGER" } }] },
  ]);
  expect(parseDuckDbType("NUMERIC")).toMatchObject({ name: "DECIMAL", precision: 18, scale: 3 });
  expect(parseDuckDbType("DECIMAL(5)")).toMatchObject({ precision: 5, scale: 0 });
});

test.each([
  ["", "not a type"],
  ["made_up", "not a built-in one"],
  ["ANY", "not a built-in one"],
  ["toString", "not a built-in one"],
  ['"my type"', "not a built-in one"],
  ["INTEGER[ANY]", "no number"],
  ["INTEGER[0]", "size"],
  ["INTEGER[", "no number"],
  ["INTEGER]", "more text"],
  ["BIGINT(3)", "more text"],
  ["DECIMAL(39,2)", "precision"],
  ["DECIMAL(3,4)", "precision"],
  ["DECIMAL(a)", "no number"],
  ["STRUCT", 'no "\\("'],
  ["STRUCT()", "no name and no type"],
  ["STRUCT(a INTEGER", 'no "\\)"'],
  ["STRUCT(a INTEGER, VARCHAR)", "without a name"],
  ["STRUCT(a)", "not a built-in one"],
  ['STRUCT("" INTEGER)', "name is empty"],
  ["UNION(INTEGER)", "without a name"],
  ["MAP(INTEGER)", 'no ","'],
  ["ENUM", "no list"],
  ["ENUM(3)", "no text"],
  ["ENUM('unique conflict)", "no text"],
  ["INTEGER; DROP TABLE a", "more text"],
])("%s is refused", (text, reason) => {
  expectError(() => parseDuckDbType(text), "invalid_argument", new RegExp(reason));
});

test("nesting is bounded, by brackets and by parentheses", () => {
  const lists = "INTEGER" + "[]".repeat(maxDuckDbTypeDepth - 1);
  expect(parseDuckDbType(lists).text).toBe(lists);
  expectError(() => parseDuckDbType(`${lists}[]`), "invalid_argument", "nested deeper");
  expectError(() => parseDuckDbType("STRUCT(a ".repeat(100_000)), "invalid_argument", "nested deeper");
  expectError(() => parseDuckDbType("INTEGER" + "[]".repeat(100_000)), "invalid_argument", "nested deeper");
});

test("the memory of parsed texts is bounded and does not change answers", () => {
  const first = parseDuckDbType("VARCHAR(7)");
  for (let size = 1; size <= maxCachedColumnTypes + 1; size++) parseDuckDbType(`INTEGER[${size}]`);
  expect(parseDuckDbType("VARCHAR(7)")).toEqual(first);
});
