import { parseDuckDbType } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnOf } from "../../test/support/row-batches.js";
import { decodeChunkColumns, encodeChunkColumns, inlineColumnTypes, inlineSchemaOf } from "./inline-columns.js";
import { sameColumn, sliceColumn } from "./slice-columns.js";

interface Sample {
  readonly type: string;
  readonly value: fc.Arbitrary<unknown>;
}

const bytes = fc.uint8Array({ maxLength: 12 });
const integer = (bits: number): fc.Arbitrary<bigint> =>
  fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n });
const natural = (bits: number): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
const interval = fc.record({
  months: fc.integer(),
  days: fc.integer(),
  micros: fc.bigInt({ min: -(9n * 10n ** 15n), max: 9n * 10n ** 15n }),
});

const scalars: readonly Sample[] = [
  { type: "BOOLEAN", value: fc.boolean() },
  { type: "TINYINT", value: integer(8) },
  { type: "SMALLINT", value: integer(16) },
  { type: "INTEGER", value: integer(32) },
  { type: "BIGINT", value: integer(64) },
  { type: "HUGEINT", value: integer(128) },
  { type: "UTINYINT", value: natural(8) },
  { type: "USMALLINT", value: natural(16) },
  { type: "UINTEGER", value: natural(32) },
  { type: "UBIGINT", value: natural(64) },
  { type: "UHUGEINT", value: natural(128) },
  { type: "FLOAT", value: fc.float() },
  { type: "DOUBLE", value: fc.double() },
  { type: "DATE", value: integer(32) },
  { type: "TIME", value: natural(36) },
  { type: "TIME_NS", value: natural(45) },
  { type: "TIME WITH TIME ZONE", value: natural(64) },
  { type: "TIMESTAMP", value: integer(64) },
  { type: "TIMESTAMP_S", value: integer(64) },
  { type: "TIMESTAMP_MS", value: integer(64) },
  { type: "TIMESTAMP_NS", value: integer(64) },
  { type: "TIMESTAMP WITH TIME ZONE", value: integer(64) },
  { type: "INTERVAL", value: interval },
  { type: "VARCHAR", value: fc.string() },
  { type: "JSON", value: fc.json() },
  { type: "BLOB", value: bytes },
  { type: "BIT", value: bytes },
  { type: "BIGNUM", value: bytes },
  { type: "GEOMETRY", value: bytes },
  { type: "UUID", value: fc.uint8Array({ minLength: 16, maxLength: 16 }) },
  { type: "DECIMAL(9,2)", value: integer(30) },
  { type: "DECIMAL(38,10)", value: integer(126) },
  { type: '"NULL"', value: fc.constant(null) },
];

const nullable = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.option(value, { freq: 4 });
const scalar = fc.constantFrom(...scalars);

const fieldName = fc.constantFrom("a", "b c", 'd"e', "é", "values");

const sample: fc.Arbitrary<Sample> = fc.letrec<{ any: Sample; nested: Sample }>((tie) => ({
  nested: fc.oneof(
    tie("any").map((of) => ({ type: `${of.type}[]`, value: fc.array(nullable(of.value), { maxLength: 3 }) })),
    tie("any").map((of) => ({
      type: `${of.type}[2]`,
      value: fc.array(nullable(of.value), { minLength: 2, maxLength: 2 }),
    })),
    fc
      .tuple(
        fc.uniqueArray(fieldName, { minLength: 1, maxLength: 3 }),
        fc.array(tie("any"), { minLength: 3, maxLength: 3 }),
      )
      .map(([names, of]) => ({
        type: `STRUCT(${names.map((name, at) => `"${name.replaceAll('"', '""')}" ${of[at]!.type}`).join(", ")})`,
        value: fc.tuple(...names.map((_, at) => nullable(of[at]!.value))),
      })),
    fc.tuple(scalar, tie("any")).map(([key, of]) => ({
      type: `MAP(${key.type}, ${of.type})`,
      value: fc.array(fc.tuple(key.value, nullable(of.value)), { maxLength: 3 }),
    })),
    fc.constant({
      type: "VARIANT",
      value: fc.tuple(
        fc.array(fc.string(), { maxLength: 2 }),
        fc.array(fc.tuple(nullable(natural(32)), natural(32)), { maxLength: 2 }),
        fc.array(fc.tuple(natural(8), natural(32)), { maxLength: 2 }),
        bytes,
      ),
    }),
  ),
  any: fc.oneof({ depthSize: "small" }, scalar, tie("nested")),
})).any;

const column = sample.chain(({ type, value }) =>
  fc.array(nullable(value), { maxLength: 20 }).map((values) => ({ type, values })),
);

describe("inlined columns", () => {
  it("come back as they were, in every type", () => {
    fc.assert(
      fc.property(column, ({ type, values }) => {
        const data = columnOf(type, values);
        const { parsed } = inlineSchemaOf([{ name: "c", type }]);
        const { body } = encodeChunkColumns([data], values.length);
        const [back] = decodeChunkColumns(parsed, body, values.length);
        expect(back?.rows).toBe(values.length);
        expect(sameColumn(back!, data)).toBe(true);
        expect(canonical(inlineColumnTypes(parsed)[0]!.type)).toEqual(canonical(type));
      }),
      { numRuns: 500 },
    );
  });

  it("can be cut anywhere", () => {
    fc.assert(
      fc.property(column, fc.nat(), fc.nat(), ({ type, values }, a, b) => {
        const [start, end] = [a % (values.length + 1), b % (values.length + 1)].sort((x, y) => x - y) as [
          number,
          number,
        ];
        const cut = sliceColumn(columnOf(type, values), start, end);
        expect(sameColumn(cut, columnOf(type, values.slice(start, end)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

/** A type without its wording. */
function canonical(type: string): unknown {
  const { name, precision, scale, size, children } = parseDuckDbType(type);
  return [name, precision, scale, size, children.map((child) => [child.name, canonical(child.type.text)])];
}
