import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  compareBytes,
  encodeIndexEntry,
  fromIndexValue,
  type IndexLayout,
  type IndexValue,
  parseColumnType,
  parseIndexValue,
} from "../src/index.js";

const connection = await (await DuckDBInstance.create(":memory:")).connect();

/** Texts whose order is easy to get wrong, by column type. */
const texts: Readonly<Record<string, readonly string[]>> = {
  TINYINT: ["-128", "-1", "0", "1", "127"],
  BIGINT: ["-9223372036854775808", "-256", "-255", "-1", "0", "1", "255", "256", "65536", "9223372036854775807"],
  UBIGINT: ["0", "1", "255", "256", "9223372036854775808", "18446744073709551615"],
  FLOAT: ["-inf", "-1.5", "-1e-45", "0", "1e-45", "1.5", "3.4e38", "inf", "nan"],
  DOUBLE: ["-inf", "-1e308", "-1", "-5e-324", "0", "5e-324", "1", "1e308", "inf", "nan"],
  BOOLEAN: ["false", "true"],
  VARCHAR: [
    "",
    " ",
    "A",
    "B",
    "Z",
    "a",
    "a ",
    "aa",
    "ab",
    "b",
    "z",
    "\u007f",
    "\u00e4",
    "\u00df",
    "e\u0301",
    "\u00e9",
    "\u20ac",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\u{1f600}",
    "\u{10ffff}",
  ],
  BLOB: [
    "",
    "\\x00",
    "\\x00\\x00",
    "\\x00\\x01",
    "\\x01",
    "a",
    "a\\x00",
    "b",
    "\\x7F",
    "\\x80",
    "\\xFE",
    "\\xFF",
    "\\xFF\\x00",
  ],
  UUID: [
    "00000000-0000-0000-0000-000000000000",
    "00000000-0000-0000-0000-000000000001",
    "7fffffff-ffff-ffff-ffff-ffffffffffff",
    "80000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "00000000-0000-0000-0100-000000000000",
  ],
  DATE: [
    "-infinity",
    "0044-03-15 (BC)",
    "0001-01-01",
    "1582-10-15",
    "1969-12-31",
    "1970-01-01",
    "2000-02-29",
    "9999-12-31",
    "infinity",
  ],
  TIME: ["00:00:00", "00:00:00.000001", "12:34:56.789", "23:59:59.999999", "24:00:00"],
  TIMESTAMP: [
    "-infinity",
    "0001-01-01 00:00:00",
    "1969-12-31 23:59:59.999999",
    "1970-01-01 00:00:00",
    "2023-11-14 22:13:20.5",
    "infinity",
  ],
  TIMESTAMP_S: ["1969-12-31 23:59:59", "1970-01-01 00:00:00", "2023-11-14 22:13:20"],
  TIMESTAMP_MS: ["1969-12-31 23:59:59.999", "1970-01-01 00:00:00", "2023-11-14 22:13:20.123"],
  TIMESTAMP_NS: ["1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00", "2023-11-14 22:13:20.123456789"],
  TIMESTAMPTZ: ["1970-01-01 00:00:00+00", "1970-01-01 00:00:00+01", "1970-01-01 00:00:00-01:30"],
  "DECIMAL(4,2)": ["-99.99", "-0.01", "0.00", "0.01", "10.00", "99.99"],
  "DECIMAL(9,0)": ["-999999999", "-1", "0", "7", "999999999"],
  "DECIMAL(18,3)": ["-999999999999999.999", "-0.001", "0.000", "1.500", "999999999999999.999"],
  "DECIMAL(38,10)": [
    "-9999999999999999999999999999.9999999999",
    "-0.0000000001",
    "0.0000000000",
    "18446744073709551616.0000000000",
    "9999999999999999999999999999.9999999999",
  ],
};

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

async function column(sql: string): Promise<unknown[]> {
  const result = await connection.runAndReadAll(sql);
  return result.getRowsJson().map((row) => row[0]);
}

test.each(Object.entries(texts))("keys of %s sort as DuckDB sorts the column", async (columnType, values) => {
  await connection.run(`CREATE OR REPLACE TABLE t (i INTEGER, v ${columnType})`);
  const rows = [...values.map((text, i) => `(${i}, ${quote(text)})`), `(${values.length}, NULL)`];
  await connection.run(`INSERT INTO t VALUES ${rows.join(", ")}`);
  const parsed: IndexValue[] = [...values.map((text) => parseIndexValue(columnType, text)), null];
  for (const descending of [false, true]) {
    for (const nullsFirst of [false, true]) {
      const order = `${descending ? "DESC" : "ASC"} NULLS ${nullsFirst ? "FIRST" : "LAST"}`;
      const expected = await column(`SELECT i FROM t ORDER BY v ${order}`);
      const { valueType } = parseColumnType(columnType);
      const layout: IndexLayout = { indexId: 1n, unique: false, columns: [{ valueType, descending, nullsFirst }] };
      const keys = parsed.map((value, i) => ({ i, key: encodeIndexEntry(layout, [value], 0n).key }));
      expect(
        keys.toSorted((a, b) => compareBytes(a.key, b.key)).map(({ i }) => i),
        order,
      ).toEqual(expected);
    }
  }
});

test.each(Object.entries(texts).filter(([columnType]) => /^(?:DATE|TIME|DECIMAL|UUID)/.test(columnType)))(
  "%s is shown as DuckDB shows it",
  async (columnType, values) => {
    await connection.run("SET TimeZone = 'UTC'");
    const shown = await column(
      `SELECT v::${columnType}::VARCHAR FROM (VALUES ${values.map((text) => `(${quote(text)})`).join(", ")}) x(v)`,
    );
    expect(values.map((text) => fromIndexValue(columnType, parseIndexValue(columnType, text)))).toEqual(shown);
  },
);

test("dates and times count as DuckDB counts them", async () => {
  const days = fc.sample(fc.integer({ min: -1_000_000, max: 2_900_000 }), { numRuns: 300, seed: 1 });
  const shownDays = await column(
    `SELECT (DATE '1970-01-01' + v)::DATE::VARCHAR FROM (VALUES ${days.map((day) => `(${day})`).join(", ")}) x(v)`,
  );
  expect(days.map((day) => fromIndexValue("DATE", BigInt(day)))).toEqual(shownDays);
  expect(shownDays.map((text) => parseIndexValue("DATE", String(text)))).toEqual(days.map(BigInt));
  const micros = fc.sample(fc.bigInt({ min: -(1n << 56n), max: 1n << 57n }), { numRuns: 300, seed: 2 });
  const shownTimes = await column(
    `SELECT make_timestamp(v)::VARCHAR FROM (VALUES ${micros.map((count) => `(${count}::BIGINT)`).join(", ")}) x(v)`,
  );
  expect(micros.map((count) => fromIndexValue("TIMESTAMP", count))).toEqual(shownTimes);
  expect(shownTimes.map((text) => parseIndexValue("TIMESTAMP", String(text)))).toEqual(micros);
});
