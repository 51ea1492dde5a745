import { expect, test } from "vitest";
import {
  ConstraintError,
  InvalidArgumentError,
  decodeIndexKey,
  encodeIndexEntry,
  equalityPrefix,
  IndexKeyBuilder,
  type IndexColumn,
  type IndexLayout,
  type IndexValue,
  type IndexValueType,
  nullPrefixBounds,
  parseColumnType,
  parseIndexValue,
  prefixEnd,
  rangeBounds,
  toIndexValue,
} from "../src/index.js";
import {
  fromHex,
  type GoldenColumn,
  type GoldenLayout,
  indexValue,
  layoutOf,
  readGolden,
  revive,
  toHex,
} from "./support/golden.js";

interface Range {
  readonly start: string;
  readonly end: string;
}

interface GoldenBound {
  readonly values: readonly unknown[];
  readonly inclusive: boolean;
}

interface IndexVectors {
  readonly scalars: readonly {
    name: string;
    valueType: IndexValueType;
    value: unknown;
    raw: string;
    ascending: string;
    descending: string;
  }[];
  readonly entries: readonly {
    name: string;
    columns: readonly GoldenColumn[];
    indexId: number | string;
    rowId: number | string;
    unique: { shape: string; key: string; value: string };
    nonUnique: { shape: string; key: string; value: string };
  }[];
  readonly columnTypes: readonly {
    columnType: string;
    input: unknown;
    text?: string;
    valueType: IndexValueType;
    value: unknown;
    raw: string;
  }[];
  readonly refusedTypes: readonly string[];
  readonly ranges: readonly {
    name: string;
    layout: GoldenLayout;
    lower: GoldenBound | null;
    upper: GoldenBound | null;
    unique?: Range;
    multi: Range;
    unmatched: readonly Range[];
  }[];
  readonly refusedRanges: readonly {
    name: string;
    layout: GoldenLayout;
    lower: GoldenBound | null;
    upper: GoldenBound | null;
  }[];
  readonly nulls: readonly {
    name: string;
    layout: GoldenLayout;
    prefix: readonly unknown[];
    start: string;
    end: string;
  }[];
  readonly edges: readonly {
    name: string;
    column: IndexColumn;
    value: unknown;
    suffix: string;
    body: string;
    above: string;
  }[];
}

const vectors = readGolden<IndexVectors>("index.json");
const prefixHexLength = 20;

/** The single key that the builder makes, and the value stored under it. */
function built(
  layout: IndexLayout,
  values: readonly IndexValue[],
  rowId: bigint,
): { key: string; value: string; multi: number } {
  const builder = new IndexKeyBuilder(layout);
  builder.append(values, rowId);
  const keys = builder.finish();
  const [storedRowId] = keys.rowIds;
  return {
    key: toHex(keys.data),
    value: keys.multi[0] === 1 ? "" : (storedRowId as bigint).toString(16).padStart(16, "0"),
    multi: keys.multi[0] as number,
  };
}

function framedTwice(componentHex: string, flag: string): string {
  const canonical = fromHex(flag + componentHex);
  return [...canonical].map((byte) => (byte <= 1 ? "01" : "") + byte.toString(16).padStart(2, "0")).join("") + "00";
}

test.each(vectors.scalars)("scalar $name", ({ valueType, value, ascending, descending }) => {
  for (const [isDescending, component] of [
    [false, ascending],
    [true, descending],
  ] as const) {
    const layout: IndexLayout = {
      indexId: 1n,
      unique: true,
      columns: [{ valueType, descending: isDescending, nullsFirst: false }],
    };
    const values = [indexValue(valueType, value)];
    expect(built(layout, values, 3n).key.slice(prefixHexLength)).toBe(framedTwice(component, "00"));
    expect(toHex(encodeIndexEntry(layout, values, 3n).key).slice(prefixHexLength)).toBe(framedTwice(component, "00"));
  }
});

test.each(vectors.entries)("entry $name", (entry) => {
  const values = entry.columns.map((column) => indexValue(column.valueType, column.value));
  const rowId = BigInt(entry.rowId);
  for (const [unique, expected] of [
    [true, entry.unique],
    [false, entry.nonUnique],
  ] as const) {
    const layout: IndexLayout = { indexId: BigInt(entry.indexId), unique, columns: entry.columns };
    const multi = expected.shape === "multi";
    expect(built(layout, values, rowId)).toEqual({ key: expected.key, value: expected.value, multi: multi ? 1 : 0 });
    const slow = encodeIndexEntry(layout, values, rowId);
    expect([toHex(slow.key), toHex(slow.value)]).toEqual([expected.key, expected.value]);
    const decoded = decodeIndexKey(layout, fromHex(expected.key));
    expect([decoded.multi, decoded.rowId]).toEqual([multi, multi ? rowId : undefined]);
    expect(built(layout, decoded.values, rowId).key).toBe(expected.key);
    if (!values.includes(null)) {
      const prefix = toHex(equalityPrefix(layout, values));
      expect(prefix).toBe(unique ? expected.key : expected.key.slice(0, -16));
    }
  }
});

test("every value type has vectors in both directions, both NULL placements, and NULL", () => {
  const types = new Set(vectors.scalars.map((vector) => vector.valueType));
  expect(types.size).toBe(14);
  const seen = new Set(
    vectors.entries.flatMap(({ columns }) =>
      columns.map((column) => [column.valueType, column.descending, column.nullsFirst, column.value === null].join()),
    ),
  );
  for (const type of types) {
    for (const descending of [false, true]) {
      for (const nullsFirst of [false, true]) {
        for (const isNull of [false, true]) expect(seen).toContain([type, descending, nullsFirst, isNull].join());
      }
    }
  }
});

test.each(vectors.columnTypes)(
  "column type $columnType, $input",
  ({ columnType, input, text, valueType, value, raw }) => {
    expect(parseColumnType(columnType).valueType).toBe(valueType);
    const plain = typeof input === "number" ? input : revive(input);
    const layout: IndexLayout = {
      indexId: 1n,
      unique: true,
      columns: [{ valueType, descending: false, nullsFirst: false }],
    };
    const expected = built(layout, [indexValue(valueType, value)], 1n).key;
    expect(built(layout, [toIndexValue(columnType, plain)], 1n).key).toBe(expected);
    expect(toHex(fromHex(expected)).slice(prefixHexLength)).toBe(framedTwice(framed(raw), "00"));
    if (text !== undefined) expect(built(layout, [parseIndexValue(columnType, text)], 1n).key).toBe(expected);
  },
);

function framed(rawHex: string): string {
  return (
    [...fromHex(rawHex)].map((byte) => (byte <= 1 ? "01" : "") + byte.toString(16).padStart(2, "0")).join("") + "00"
  );
}

test.each(vectors.refusedTypes)("column type %s is refused", (columnType) => {
  expect(() => parseColumnType(columnType)).toThrow(ConstraintError);
});

const boundOf = (layout: GoldenLayout, bound: GoldenBound | null) =>
  bound === null
    ? undefined
    : {
        values: bound.values.map((value, i) => indexValue(layout.columns[i]?.valueType ?? "int64", value)),
        inclusive: bound.inclusive,
      };

const hexRange = ({ start, end }: { start: Uint8Array; end: Uint8Array }): Range => ({
  start: toHex(start),
  end: toHex(end),
});

test.each(vectors.ranges)(
  "range $name (unique: $layout.unique)",
  ({ layout, lower, upper, unique, multi, unmatched }) => {
    const bounds = rangeBounds(layoutOf(layout), boundOf(layout, lower), boundOf(layout, upper));
    expect(hexRange(bounds.multi)).toEqual(multi);
    expect(bounds.unique === undefined ? undefined : hexRange(bounds.unique)).toEqual(unique);
    expect(bounds.unmatched.map(hexRange)).toEqual(unmatched);
  },
);

test.each(vectors.refusedRanges)("range refused: $name", ({ layout, lower, upper }) => {
  expect(() => rangeBounds(layoutOf(layout), boundOf(layout, lower), boundOf(layout, upper))).toThrow(
    InvalidArgumentError,
  );
});

test.each(vectors.nulls)("NULL lookup $name", ({ layout, prefix, start, end }) => {
  const values = prefix.map((value, i) => indexValue(layout.columns[i]?.valueType ?? "int64", value));
  expect(hexRange(nullPrefixBounds(layoutOf(layout), values))).toEqual({ start, end });
});

test.each(vectors.edges)("edges of $name", ({ column, value, suffix, body, above }) => {
  const layout: IndexLayout = { indexId: 1n, unique: false, columns: [column] };
  const prefix = equalityPrefix(layout, [indexValue(column.valueType, value)]);
  expect(toHex(prefix).slice(prefixHexLength)).toBe(suffix);
  expect(suffix).toBe(`${body}00`);
  expect(toHex(prefixEnd(fromHex(body)) as Uint8Array)).toBe(above);
});
