import fc from "fast-check";
import { expect, it } from "vitest";
import { columnOf } from "../../test/support/row-batches.js";
import { columnValues } from "../../test/support/table-copy.js";
import { concatColumns } from "./concat-columns.js";
import { sameColumn, sliceColumn } from "./slice-columns.js";

const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 4 });
const int = fc.integer({ min: -1000, max: 1000 });
const text = fc.string({ maxLength: 5 });

/** Types with what their values can be. */
const kinds = [
  ["BIGINT", orNull(fc.bigInt(-5n, 5n))],
  ["BOOLEAN", orNull(fc.boolean())],
  ["VARCHAR", orNull(text)],
  ["INTEGER[]", orNull(fc.array(orNull(int), { maxLength: 4 }))],
  ["BOOLEAN[3]", orNull(fc.array(orNull(fc.boolean()), { minLength: 3, maxLength: 3 }))],
  ["STRUCT(a VARCHAR, b BOOLEAN)", orNull(fc.tuple(orNull(text), orNull(fc.boolean())))],
  [
    "MAP(INTEGER, VARCHAR[])",
    orNull(fc.array(fc.tuple(int, orNull(fc.array(text, { maxLength: 2 }))), { maxLength: 3 })),
  ],
  ['"NULL"', fc.constant(null)],
] as const;

it.each(kinds)("parts of a column of %s make the column again", (type, value) => {
  fc.assert(
    fc.property(
      fc.array(value as fc.Arbitrary<unknown>, { minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(40)),
      (values, cuts) => {
        const whole = columnOf(type, values);
        const edges = [...new Set([0, ...cuts.filter((cut) => cut <= values.length), values.length])].sort(
          (a, b) => a - b,
        );
        const parts = edges.slice(1).map((end, at) => sliceColumn(whole, edges[at]!, end));
        expect(sameColumn(concatColumns(parts), whole)).toBe(true);
      },
    ),
  );
});

it("a part without NULLs beside one with them keeps its rows", () => {
  const parts = [columnOf("BIGINT", [1n, 2n, 3n]), columnOf("BIGINT", [null, 5n])];
  expect(columnValues(concatColumns(parts), 5)).toEqual([1n, 2n, 3n, null, 5n]);
});
