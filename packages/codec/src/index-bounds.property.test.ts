import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryLayout, arbitraryRow, compareValues } from "../test/support/arbitraries.js";
import {
  type Bound,
  compareBytes,
  InvalidArgumentError,
  encodeIndexEntry,
  equalityPrefix,
  equalityPrefixes,
  type IndexLayout,
  type IndexValue,
  type KeyRangeBytes,
  nullPrefixBounds,
  prefixEnd,
  rangeBounds,
} from "./index.js";

type Value = Exclude<IndexValue, null>;

function inside(key: Uint8Array, range: KeyRangeBytes): boolean {
  return compareBytes(key, range.start) >= 0 && compareBytes(key, range.end) < 0;
}

/** SQL's row comparison with three values: -1, 0 or 1, or `undefined` where NULL makes it unknown. */
function compareToBound(row: readonly IndexValue[], bound: readonly IndexValue[]): number | undefined {
  for (const [i, value] of bound.entries()) {
    const own = row[i] as IndexValue;
    if (own === null) return undefined;
    const order = compareValues(own, value as Value);
    if (order !== 0) return Math.sign(order);
  }
  return 0;
}

function matches(row: readonly IndexValue[], lower: Bound | undefined, upper: Bound | undefined): boolean {
  if (row[0] === null) return false;
  if (lower !== undefined) {
    const order = compareToBound(row, lower.values);
    if (order === undefined || order < (lower.inclusive ? 0 : 1)) return false;
  }
  if (upper !== undefined) {
    const order = compareToBound(row, upper.values);
    if (order === undefined || order > (upper.inclusive ? 0 : -1)) return false;
  }
  return true;
}

/** What a scan of both ranges, less the parts that do not match, returns. */
function found(layout: IndexLayout, row: readonly IndexValue[], bounds: ReturnType<typeof rangeBounds>): boolean {
  const { key, value } = encodeIndexEntry(layout, row, 5n);
  if (value.length > 0) return bounds.unique !== undefined && inside(key, bounds.unique);
  return inside(key, bounds.multi) && !bounds.unmatched.some((part) => inside(key, part));
}

const arbitraryCase = arbitraryLayout().chain((layout) => {
  const row = arbitraryRow(layout);
  const bound = fc.option(
    fc.record({
      take: fc.integer({ min: 1, max: layout.columns.length }),
      row,
      inclusive: fc.boolean(),
      share: fc.nat(3),
    }),
    { nil: undefined, freq: 4 },
  );
  return fc.record({
    layout: fc.constant(layout),
    rows: fc.array(row, { minLength: 1, maxLength: 12 }),
    lower: bound,
    upper: bound,
  });
});

test("a range holds exactly the rows that SQL's comparison holds", () => {
  let answered = 0;
  fc.assert(
    fc.property(arbitraryCase, ({ layout, rows, lower, upper }) => {
      // Bounds mostly take values from the rows, so that equal values and shared prefixes are common.
      const pick = (bound: typeof lower, n: number): Bound | undefined => {
        if (bound === undefined) return undefined;
        const source = rows[n % rows.length] as IndexValue[];
        const values = bound.row
          .map((value, i) => (i < bound.share ? (source[i] as IndexValue) : value))
          .slice(0, bound.take);
        return values.includes(null) ? undefined : { values, inclusive: bound.inclusive };
      };
      const low = pick(lower, 0);
      const high = pick(upper, rows.length > 2 ? 0 : 1);
      let bounds: ReturnType<typeof rangeBounds>;
      try {
        bounds = rangeBounds(layout, low, high);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidArgumentError);
        const named = Math.max(low?.values.length ?? 1, high?.values.length ?? 1);
        expect(new Set(layout.columns.slice(0, named).map((column) => column.descending)).size).toBe(2);
        return;
      }
      answered++;
      expect(compareBytes(bounds.multi.start, bounds.multi.end)).toBeLessThanOrEqual(0);
      expect(bounds.unique === undefined).toBe(!layout.unique);
      for (const row of rows) expect(found(layout, row, bounds)).toBe(matches(row, low, high));
    }),
    { numRuns: 1_500 },
  );
  expect(answered).toBeGreaterThan(500);
});

test("an equality prefix holds exactly the equal rows", () => {
  fc.assert(
    fc.property(arbitraryCase, ({ layout, rows }) => {
      const wanted = rows[0] as IndexValue[];
      if (wanted.includes(null)) {
        expect(() => equalityPrefix(layout, wanted)).toThrow(InvalidArgumentError);
        return;
      }
      const prefix = equalityPrefix(layout, wanted);
      const range = { start: prefix, end: prefixEnd(prefix) as Uint8Array };
      for (const row of rows) {
        const { key } = encodeIndexEntry(layout, row, 5n);
        const equal = compareToBound(row, wanted) === 0;
        expect(layout.unique ? compareBytes(key, prefix) === 0 : inside(key, range)).toBe(equal);
      }
    }),
    { numRuns: 500 },
  );
});

test("the equality prefixes of many rows are those of each, without the rows that hold NULL", () => {
  fc.assert(
    fc.property(arbitraryCase, ({ layout, rows }) => {
      const { data, ends } = equalityPrefixes(layout, rows);
      const keys = Array.from(ends, (end, i) => data.subarray(ends[i - 1] ?? 0, end));
      const expected = rows.filter((row) => !row.includes(null)).map((row) => equalityPrefix(layout, row));
      expect(keys.map((key) => [...key])).toEqual(expected.map((key) => [...key]));
      expect(data.length).toBe(ends.at(-1) ?? 0);
    }),
    { numRuns: 200 },
  );
});

test("a NULL prefix holds exactly the rows that begin so", () => {
  fc.assert(
    fc.property(arbitraryCase, fc.nat(), ({ layout, rows }, cut) => {
      const prefix = (rows[0] as IndexValue[]).slice(0, 1 + (cut % layout.columns.length));
      if (!prefix.includes(null)) {
        expect(() => nullPrefixBounds(layout, prefix)).toThrow(InvalidArgumentError);
        return;
      }
      const range = nullPrefixBounds(layout, prefix);
      for (const row of rows) {
        const { key } = encodeIndexEntry(layout, row, 5n);
        const expected = prefix.every((value, i) => {
          const own = row[i] as IndexValue;
          return value === null || own === null ? own === value : compareValues(own, value) === 0;
        });
        expect(inside(key, range)).toBe(expected);
      }
    }),
    { numRuns: 500 },
  );
});
