import { IndexKeyBuilder, type IndexKeys, type IndexLayout } from "@moraine/codec";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shiftRowIds } from "./shift-row-ids.js";

const largest = 2n ** 64n - 1n;

function build(layout: IndexLayout, values: readonly (bigint | null)[], rowIds: readonly bigint[]): IndexKeys {
  const builder = new IndexKeyBuilder(layout);
  values.forEach((value, i) => builder.append([value], rowIds[i]!));
  return builder.finish();
}

test("shifted entries are those that would have been built for the other row ids", () => {
  const rows = fc.array(fc.tuple(fc.option(fc.bigInt({ min: -9n, max: 9n })), fc.bigInt({ min: 0n, max: largest })));
  fc.assert(
    fc.property(rows, fc.boolean(), fc.bigInt({ min: -largest, max: largest }), (picked, unique, wanted) => {
      const layout: IndexLayout = {
        indexId: 3n,
        unique,
        columns: [{ valueType: "int64", descending: false, nullsFirst: false }],
      };
      const values = picked.map(([value]) => value);
      const rowIds = picked.map(([, rowId]) => rowId);
      const shift = rowIds.every((rowId) => rowId + wanted >= 0n && rowId + wanted <= largest) ? wanted : 0n;
      const keys = build(layout, values, rowIds);
      const shifted = shiftRowIds(keys, shift);
      expect(shifted).toEqual(
        build(
          layout,
          values,
          rowIds.map((rowId) => rowId + shift),
        ),
      );
      expect(keys).toEqual(build(layout, values, rowIds));
      expect(shifted.ends).toBe(keys.ends);
    }),
    { numRuns: 500 },
  );
});

test("carries from the low word to the high one, and borrows", () => {
  const layout: IndexLayout = {
    indexId: 3n,
    unique: false,
    columns: [{ valueType: "int64", descending: false, nullsFirst: false }],
  };
  const keys = build(layout, [1n, 2n], [0xffff_ffffn, 7n]);
  const shifted = shiftRowIds(keys, 1n);
  expect([...shifted.rowIds]).toEqual([0x1_0000_0000n, 8n]);
  expect(shiftRowIds(shifted, -1n)).toEqual(keys);
});
