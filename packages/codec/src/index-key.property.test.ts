import fc from "fast-check";
import { expect, test } from "vitest";
import {
  arbitraryColumn,
  arbitraryId,
  arbitraryLayout,
  arbitraryRow,
  arbitraryValue,
  compareRows,
  mutated,
  valueTypes,
  vectorOf,
} from "../test/support/arbitraries.js";
import { toHex } from "../test/support/golden.js";
import {
  compareBytes,
  CorruptionError,
  decodeIndexKey,
  encodeIndexEntry,
  encodeRowId,
  IndexKeyBuilder,
  type IndexKeys,
  type IndexLayout,
  type IndexValue,
} from "./index.js";

interface Rows {
  readonly layout: IndexLayout;
  readonly rows: readonly IndexValue[][];
  readonly rowIds: BigUint64Array;
}

const arbitraryRows: fc.Arbitrary<Rows> = arbitraryLayout().chain((layout) =>
  fc.array(fc.tuple(arbitraryRow(layout), arbitraryId), { maxLength: 8 }).map((rows) => ({
    layout,
    rows: rows.map(([row]) => row),
    rowIds: BigUint64Array.from(rows, ([, rowId]) => rowId),
  })),
);

/** Entries as text, which compares quickly. */
function entriesOf(keys: IndexKeys): string[] {
  return Array.from({ length: keys.count }, (_, i) =>
    entryText(
      keys.data.slice(i === 0 ? 0 : keys.ends[i - 1], keys.ends[i]),
      keys.multi[i] === 1 ? new Uint8Array(0) : encodeRowId(keys.rowIds[i] as bigint),
    ),
  );
}

function entryText(key: Uint8Array, value: Uint8Array): string {
  return `${toHex(key)}=${toHex(value)}`;
}

test("one by one and by columns, the builder makes what the plain encoder makes", () => {
  fc.assert(
    fc.property(arbitraryRows, fc.array(fc.nat(), { maxLength: 6 }), ({ layout, rows, rowIds }, picks) => {
      const expected = rows.map((row, i) => {
        const { key, value } = encodeIndexEntry(layout, row, rowIds[i] as bigint);
        return entryText(key, value);
      });
      const columns = layout.columns.map((column, c) =>
        vectorOf(
          column.valueType,
          rows.map((row) => row[c] as IndexValue),
        ),
      );

      const single = new IndexKeyBuilder(layout, 0);
      rows.forEach((row, i) => single.append(row, rowIds[i] as bigint));
      expect(single.count).toBe(rows.length);
      expect(entriesOf(single.finish())).toEqual(expected);

      const byColumns = new IndexKeyBuilder(layout, 0);
      byColumns.appendColumns(columns, rowIds);
      expect(entriesOf(byColumns.finish())).toEqual(expected);

      const taken = rows.length === 0 ? [] : picks.map((pick) => pick % rows.length);
      const both = new IndexKeyBuilder(layout);
      both.appendColumns(columns, rowIds, Uint32Array.from(taken));
      both.appendColumns(columns, rowIds);
      const keys = both.finish();
      expect(entriesOf(keys)).toEqual([...taken.map((row) => expected[row]), ...expected]);
      expect(keys.rowIds.join()).toBe([...taken.map((row) => rowIds[row]), ...rowIds].join());
    }),
    { numRuns: 600 },
  );
});

test.each(valueTypes)("keys of %s sort as SQL sorts, in both directions and with NULL at either end", (valueType) => {
  const pair = fc.tuple(
    arbitraryColumn,
    fc.option(arbitraryValue(valueType)),
    fc.option(arbitraryValue(valueType)),
    fc.boolean(),
  );
  fc.assert(
    fc.property(pair, ([column, a, b, unique]) => {
      const layout: IndexLayout = { indexId: 1n, unique, columns: [{ ...column, valueType }] };
      expectOrder(layout, [a], [b]);
    }),
    { numRuns: 500 },
  );
});

test("composite keys sort as their declaration says", () => {
  const pair = arbitraryLayout().chain((layout) =>
    fc
      .tuple(fc.constant(layout), arbitraryRow(layout), arbitraryRow(layout), fc.nat(layout.columns.length))
      .map(([l, a, b, shared]) => ({
        layout: l,
        a,
        // A shared beginning makes the later columns decide.
        b: b.map((value, i) => (i < shared ? (a[i] as IndexValue) : value)),
      })),
  );
  fc.assert(
    fc.property(pair, ({ layout, a, b }) => expectOrder(layout, a, b)),
    { numRuns: 2_000 },
  );
});

function expectOrder(layout: IndexLayout, a: readonly IndexValue[], b: readonly IndexValue[]): void {
  // A non-unique index keeps both shapes apart from the order of values.
  const multi = { ...layout, unique: false };
  const [x, y] = [encodeIndexEntry(multi, a, 9n), encodeIndexEntry(multi, b, 9n)];
  const expected = Math.sign(compareRows(layout.columns, a, b));
  expect(Math.sign(compareBytes(x.key, y.key))).toBe(expected);
  if (layout.unique && !a.includes(null) && !b.includes(null)) {
    expect(Math.sign(compareBytes(encodeIndexEntry(layout, a, 1n).key, encodeIndexEntry(layout, b, 2n).key))).toBe(
      expected,
    );
  }
}

test("a key decodes to values that make the same key", () => {
  fc.assert(
    fc.property(arbitraryRows, ({ layout, rows, rowIds }) => {
      rows.forEach((row, i) => {
        const { key } = encodeIndexEntry(layout, row, rowIds[i] as bigint);
        const decoded = decodeIndexKey(layout, key);
        expect(compareRows(layout.columns, decoded.values, row)).toBe(0);
        expect(decoded.multi).toBe(!layout.unique || row.includes(null));
        expect(decoded.rowId).toBe(decoded.multi ? rowIds[i] : undefined);
        expect(toHex(encodeIndexEntry(layout, decoded.values, rowIds[i] as bigint).key)).toBe(toHex(key));
      });
    }),
    { numRuns: 500 },
  );
});

test("any bytes are a key of the layout that encodes to them again, or corruption", () => {
  const garbage = arbitraryLayout().chain((layout) => {
    const valid = fc
      .tuple(arbitraryRow(layout), arbitraryId)
      .map(([row, rowId]) => encodeIndexEntry(layout, row, rowId).key);
    const noise = fc
      .uint8Array({ maxLength: 30 })
      .map((rest) => Uint8Array.from([7, layout.unique ? 2 : 3, ...encodeRowId(layout.indexId), ...rest]));
    return fc.tuple(fc.constant(layout), fc.oneof(mutated(valid), noise, fc.uint8Array({ maxLength: 30 })));
  });
  fc.assert(
    fc.property(garbage, ([layout, key]) => {
      let decoded: ReturnType<typeof decodeIndexKey>;
      try {
        decoded = decodeIndexKey(layout, key);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptionError);
        return;
      }
      expect(toHex(encodeIndexEntry(layout, decoded.values, decoded.rowId ?? 0n).key)).toBe(toHex(key));
    }),
    { numRuns: 2_500 },
  );
});
