import fc from "fast-check";
import { expect, test } from "vitest";
import { expectError } from "../test/support/errors.js";
import { fromIndexValue, type IndexValue, parseColumnType, parseIndexValue, toIndexValue } from "./index.js";

const refused: readonly [string, unknown][] = [
  ["BIGINT", "5"],
  ["BIGINT", 1.5],
  ["BIGINT", 2 ** 53],
  ["BIGINT", undefined],
  ["BIGINT", Number.NaN],
  ["BIGINT", 1n << 63n],
  ["TINYINT", 128],
  ["UBIGINT", -1],
  ["BOOLEAN", 1],
  ["BOOLEAN", "true"],
  ["DOUBLE", 5n],
  ["DOUBLE", "1.5"],
  ["VARCHAR", 5],
  ["VARCHAR", "a\ud800"],
  ["BLOB", "ab"],
  ["BLOB", [1, 2]],
  ["UUID", "g0112233-4455-6677-8899-aabbccddeeff"],
  ["UUID", "00112233-44556677-8899-aabbccddeeff"],
  ["UUID", new Uint8Array(15)],
  ["DECIMAL(4,2)", "100.00"],
  ["DECIMAL(4,2)", "1.005"],
  ["DECIMAL(4,2)", 1.005],
  ["DECIMAL(4,2)", 100n],
  ["DECIMAL(4,2)", "1e1"],
  ["DECIMAL(4,2)", "."],
  ["DECIMAL(4,2)", ""],
  ["DECIMAL(4,2)", Number.POSITIVE_INFINITY],
  ["DATE", "2023-02-29"],
  ["DATE", "2023-13-01"],
  ["DATE", "2023-00-01"],
  ["DATE", "2023-1-1"],
  ["DATE", "0000-01-01 (BC)"],
  ["DATE", "2023-01-01 00:00:00"],
  ["DATE", new Date("2023-01-01T12:00:00Z")],
  ["DATE", new Date(Number.NaN)],
  ["DATE", 20_644],
  ["DATE", 1n << 31n],
  ["DATE", "9999999-01-01"],
  ["TIME", "24:00:01"],
  ["TIME", "12:60"],
  ["TIME", "12:00:60"],
  ["TIME", "1:00"],
  ["TIME", "12:00:00.0000001"],
  ["TIME", 5],
  ["TIME", -1n],
  ["TIME", 86_400_000_001n],
  ["TIME", new Date(0)],
  ["TIMESTAMP", 1_700_000_000_000],
  ["TIMESTAMP", "2023-01-01 24:00:00"],
  ["TIMESTAMP", "2023-01-01 12:00:00+01"],
  ["TIMESTAMP", "2023-02-30 00:00:00"],
  ["TIMESTAMP", "infinity 00:00:00"],
  ["TIMESTAMP", "2023-01-01T"],
  ["TIMESTAMP", new Date(Number.NaN)],
  ["TIMESTAMP", 1n << 63n],
  ["TIMESTAMP_NS", "2500-01-01"],
  ["TIMESTAMP_S", "2023-01-01 00:00:00.5"],
  ["TIMESTAMP_S", new Date(1)],
  ["TIMESTAMPTZ", "2023-01-01 00:00:00+16"],
  ["TIMESTAMPTZ", "2023-01-01 00:00:00+01:60"],
];

test.each(refused)("%s refuses %o", (columnType, input) => {
  expectError(() => toIndexValue(columnType, input), "invalid_argument");
});

test("a refusal names the type and never the value", () => {
  for (const [columnType, input] of refused) {
    try {
      toIndexValue(columnType, input);
    } catch (error) {
      const text = String((error as Error).message);
      expect(text).toMatch(/^invalid argument: a value is not a [a-z0-9(), ]+$/);
      if (typeof input === "string" && input.length > 3) expect(text).not.toContain(input);
    }
  }
});

test.each([
  ["DATE", new Date("2026-07-10T00:00:00Z"), 20644n],
  ["DATE", 20644n, 20644n],
  ["TIMESTAMP", new Date(1_700_000_000_123), 1_700_000_000_123_000n],
  ["TIMESTAMP_NS", new Date(1), 1_000_000n],
  ["TIMESTAMP_MS", new Date(-1), -1n],
  ["TIMESTAMP_S", new Date(-2_000), -2n],
  ["TIMESTAMPTZ", "2023-11-14T22:13:20+0530", 1_699_980_200_000_000n],
  ["FLOAT", 0.1, Math.fround(0.1)],
  ["DECIMAL(10,2)", -0.5, -50n],
  ["DECIMAL(10,2)", ".5", 50n],
  ["DECIMAL(10,2)", "5.", 500n],
  ["DECIMAL(10,0)", "-7", -7n],
  ["INTEGER", null, null],
])("%s takes %o", (columnType, input, expected) => {
  expect(toIndexValue(columnType, input)).toEqual(expected);
});

test.each([
  ["BIGINT", "1.0"],
  ["BIGINT", "0x10"],
  ["BIGINT", " 5"],
  ["BIGINT", ""],
  ["UTINYINT", "256"],
  ["BOOLEAN", "yes"],
  ["DOUBLE", "1,5"],
  ["DOUBLE", ""],
  ["BLOB", "\\x0"],
  ["BLOB", "\\n"],
  ["BLOB", "\u00e9"],
  ["UUID", "{00112233445566778899aabbccddeeff"],
])("text of %s refuses %o", (columnType, text) => {
  expectError(() => parseIndexValue(columnType, text), "invalid_argument");
});

test.each([
  ["BIGINT", "+5", 5n],
  ["DOUBLE", "-inf", Number.NEGATIVE_INFINITY],
  ["DOUBLE", "NaN", Number.NaN],
  ["FLOAT", "0.1", Math.fround(0.1)],
  ["BOOLEAN", "F", false],
  ["BLOB", "a\\x00\\xfF", Uint8Array.of(0x61, 0, 0xff)],
  ["VARCHAR", "", ""],
])("text of %s takes %o", (columnType, text, expected) => {
  expect(parseIndexValue(columnType, text)).toEqual(expected);
});

const infinite = (1n << 63n) - 1n;

/** The first and the last moment that DuckDB has, by the type. */
const moments: Readonly<Record<string, readonly [bigint, bigint]>> = {
  TIMESTAMP_S: [-9_223_372_022_400n, 9_223_372_036_854n],
  TIMESTAMP_MS: [-9_223_372_022_400_000n, 9_223_372_036_854_775n],
  TIMESTAMP: [-9_223_372_022_400_000_000n, infinite - 1n],
  TIMESTAMP_NS: [-9_223_286_400_000_000_000n, infinite - 1n],
  TIMESTAMPTZ: [-9_223_372_022_400_000_000n, infinite - 1n],
};

/** Counts near the epoch, of every size, at the ends, and the infinities. */
function counts(columnType: string, near: bigint): fc.Arbitrary<bigint> {
  const [first, last] = moments[columnType]!;
  return fc.oneof(
    fc.bigInt({ min: -near, max: near }),
    fc.bigInt({ min: first, max: last }),
    fc.constantFrom(first, last, infinite, -infinite, 0n, -1n),
  );
}

test.each(Object.entries(moments))(
  "%s has no moments outside of DuckDB's, but shows stored ones",
  (columnType, ends) => {
    const [first, last] = ends;
    for (const count of [first - 1n, -infinite + 1n, -(1n << 63n), ...(last + 1n === infinite ? [] : [last + 1n])]) {
      expectError(() => toIndexValue(columnType, count), "invalid_argument");
      const shown = fromIndexValue(columnType, count);
      expectError(() => parseIndexValue(columnType, shown as string), "invalid_argument");
    }
  },
);

const displayed: readonly [string, fc.Arbitrary<IndexValue>][] = [
  ["BIGINT", fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })],
  ["UBIGINT", fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })],
  ["INTEGER", fc.bigInt({ min: -(1n << 31n), max: (1n << 31n) - 1n })],
  ["UTINYINT", fc.bigInt({ min: 0n, max: 255n })],
  [
    "DATE",
    fc.oneof(
      fc.bigInt({ min: -2_147_483_648n, max: 2_147_483_647n }),
      fc.bigInt({ min: -1_000_000n, max: 1_000_000n }),
      fc.constantFrom(-2_147_483_648n, -2_147_483_647n, 2_147_483_647n),
    ),
  ],
  ["TIME", fc.bigInt({ min: 0n, max: 86_400_000_000n })],
  ["TIME_NS", fc.bigInt({ min: 0n, max: 86_400_000_000_000n })],
  ["TIMESTAMP_S", counts("TIMESTAMP_S", 1n << 36n)],
  ["TIMESTAMP_MS", counts("TIMESTAMP_MS", 1n << 46n)],
  ["TIMESTAMP", counts("TIMESTAMP", 1n << 50n)],
  ["TIMESTAMP_NS", counts("TIMESTAMP_NS", 1n << 60n)],
  ["TIMESTAMPTZ", counts("TIMESTAMPTZ", 1n << 55n)],
  ["DECIMAL(4,4)", fc.bigInt({ min: -9_999n, max: 9_999n })],
  ["DECIMAL(18,3)", fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n })],
  ["DECIMAL(38,0)", fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })],
  ["UUID", fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Uint8Array.from(bytes))],
  ["DOUBLE", fc.double()],
  ["VARCHAR", fc.string({ unit: "grapheme" })],
  ["BOOLEAN", fc.boolean()],
];

test.each(displayed)("what is shown of a %s is read back, by both functions where it is text", (columnType, values) => {
  fc.assert(
    fc.property(values, (value) => {
      const shown = fromIndexValue(columnType, value);
      expect(toIndexValue(columnType, shown)).toEqual(value);
      if (typeof shown === "string") expect(parseIndexValue(columnType, shown)).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

test("what is no value of the type is not shown", () => {
  for (const [columnType, value] of [
    ["DATE", 1n << 40n],
    ["DATE", "2020-01-01"],
    ["TIME", 86_400_000_001n],
    ["DECIMAL(4,2)", 10_000n],
    ["UUID", new Uint8Array(4)],
    ["BOOLEAN", 1n],
    ["BIGINT", 1.5],
    ["TINYINT", 128n],
  ] as [string, IndexValue][]) {
    expectError(() => fromIndexValue(columnType, value), "invalid_argument");
  }
  expect(fromIndexValue("DATE", null)).toBeNull();
  expect(fromIndexValue("DATE", 0)).toBe("1970-01-01");
});

test("dates agree with the platform's calendar", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true }),
      (date) => {
        const iso = date.toISOString();
        const days = Math.floor(date.getTime() / 86_400_000);
        expect(toIndexValue("DATE", iso.slice(0, 10))).toBe(BigInt(days));
        expect(fromIndexValue("DATE", BigInt(days))).toBe(iso.slice(0, 10));
        expect(toIndexValue("TIMESTAMP_MS", iso)).toBe(BigInt(date.getTime()));
        expect(toIndexValue("TIMESTAMPTZ", date)).toBe(BigInt(date.getTime()) * 1_000n);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("every named type is one that the builder knows", () => {
  for (const [columnType] of displayed) expect(parseColumnType(columnType).valueType).toBeDefined();
});
