import { expect, test } from "vitest";
import { batchOf, column, type TestValue } from "../test/support/columns.js";
import { keyRows } from "./key-values.js";

test.each<[string, TestValue, unknown]>([
  ["BOOLEAN", true, true],
  ["TINYINT", -3, -3],
  ["INT8", -3n, -3n],
  ["UBIGINT", (1n << 64n) - 1n, (1n << 64n) - 1n],
  ["DOUBLE", -0.5, -0.5],
  ["FLOAT", 1.5, 1.5],
  ["DECIMAL(38,2)", -(10n ** 30n), "-10000000000000000000000000000.00"],
  ["VARCHAR", "Łódź", "Łódź"],
  ["BLOB", Uint8Array.of(0, 255), Uint8Array.of(0, 255)],
  ["UUID", Uint8Array.from(Buffer.from("00112233445566778899aabbccddeeff", "hex")), undefined],
  ["DATE", 0, "1970-01-01"],
  ["TIMESTAMP WITH TIME ZONE", 1n, "1970-01-01 00:00:00.000001+00"],
])("a %s", (type, given, expected) => {
  expect(keyRows(batchOf(column(type, [null, given])))).toEqual([[null], [expected ?? given]]);
});

test("types that no index holds, and text that is none, are refused", () => {
  expect(() => keyRows(batchOf(column("HUGEINT", [1n])))).toThrow("cannot be indexed");
  expect(() => keyRows(batchOf(column("VARCHAR", [Uint8Array.of(0xff)])))).toThrow("not UTF-8");
});
