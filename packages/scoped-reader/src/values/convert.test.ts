import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromIndexValue, parseColumnType } from "@moraine/codec";
import { request, TestLake } from "../../test/support/lake.js";
import { sampleQuery, sampleTypes } from "../../test/support/types.js";
import { expectColumn, fromVector, scanRows } from "../../test/support/values.js";
import { scanFile } from "../index.js";
import { convertColumn } from "./convert.js";
import type { RawColumn } from "./raw-column.js";
import type { SourceType } from "./source-type.js";

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

/** What a column was written as, and types that it may have become. */
const promotions: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"],
  TINYINT: ["SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(18,6)", "DECIMAL(38,10)"],
  SMALLINT: ["INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9,2)"],
  INTEGER: ["BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38,10)"],
  BIGINT: ["FLOAT", "DOUBLE", "DECIMAL(38,10)"],
  UTINYINT: ["USMALLINT", "UINTEGER", "UBIGINT", "SMALLINT", "INTEGER", "BIGINT", "DOUBLE", "DECIMAL(4,1)"],
  USMALLINT: ["UINTEGER", "UBIGINT", "INTEGER", "BIGINT", "FLOAT"],
  UINTEGER: ["UBIGINT", "BIGINT", "FLOAT", "DOUBLE"],
  UBIGINT: ["FLOAT", "DOUBLE", "DECIMAL(38,10)"],
  FLOAT: ["DOUBLE"],
  JSON: ["VARCHAR"],
  TIMESTAMP_S: ["TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"],
  TIMESTAMP_MS: ["TIMESTAMP"],
  "DECIMAL(4,1)": ["DECIMAL(9,2)", "DECIMAL(18,6)", "DECIMAL(38,10)", "FLOAT", "DOUBLE"],
  "DECIMAL(9,2)": ["DECIMAL(18,6)", "DECIMAL(38,10)", "FLOAT", "DOUBLE"],
  "DECIMAL(18,6)": ["DECIMAL(38,10)", "FLOAT", "DOUBLE"],
};

describe("a column that changed its type has the values that DuckDB casts to", () => {
  test.each(Object.entries(promotions))("%s", async (before, after) => {
    const type = sampleTypes.find(({ columnType }) => columnType === before);
    if (type === undefined) throw new Error(`no sample of ${before}`);
    const name = `${before.replaceAll(/\W/g, "_")}.parquet`;
    const source = await lake.write(name, sampleQuery(type, 1000, true), "FIELD_IDS {c: 1}");
    for (const now of after) {
      const expected = await lake.rows(`SELECT c::${now} FROM '${lake.path(name)}'`);
      await expectColumn(scanFile(source, { columns: [request("c", now)], rowIds: "none" }), expected);
    }
  });

  const single: [sql: string, before: string, after: string][] = [
    ["unnest([2147483647, -5])", "BIGINT", "INTEGER"],
    ["unnest([127, -128])", "BIGINT", "TINYINT"],
    ["unnest([255, 0])", "INTEGER", "UTINYINT"],
    ["unnest([18446744073709551615, 0])", "UBIGINT", "UBIGINT"],
    ["unnest([9007199254740993, 9223372036854775807, 36028797018963969, -4611686293305294849])", "BIGINT", "FLOAT"],
    ["unnest([1e-50, 0.1, 3.4028234e38])", "DOUBLE", "FLOAT"],
    ["unnest(['2024-02-29', '0001-01-01', 'infinity', '-infinity']::DATE[])", "DATE", "TIMESTAMP"],
    ["unnest(['2024-02-29', '1677-09-22']::DATE[])", "DATE", "TIMESTAMP_NS"],
    ["unnest(['2024-02-29 01:02:03.000004', 'infinity']::TIMESTAMP[])", "TIMESTAMP", "TIMESTAMP_NS"],
    ["unnest([12.00, -7.00])", "DECIMAL(9,2)", "INTEGER"],
    ["unnest([12.50, -7.00])", "DECIMAL(9,2)", "DECIMAL(4,1)"],
  ];
  test.each(single)("%s from %s to %s", async (sql, before, after) => {
    const source = await lake.write("one.parquet", `SELECT (${sql})::${before} AS c`, "FIELD_IDS {c: 1}");
    const expected = await lake.rows(`SELECT c::${after} FROM '${lake.path("one.parquet")}'`);
    await expectColumn(scanFile(source, { columns: [request("c", after)], rowIds: "none" }), expected);
  });
});

describe("a value that the new type cannot take exactly is a typed error", () => {
  const refused: [sql: string, after: string][] = [
    ["2147483648::BIGINT", "INTEGER"],
    ["-1::INTEGER", "UINTEGER"],
    ["-1::BIGINT", "UBIGINT"],
    ["18446744073709551615::UBIGINT", "BIGINT"],
    ["128::INTEGER", "TINYINT"],
    ["'1'", "INTEGER"],
    ["1::INTEGER", "VARCHAR"],
    ["'a'::BLOB", "VARCHAR"],
    ["'a'", "BLOB"],
    ["1::INTEGER", "BOOLEAN"],
    ["1.0::DOUBLE", "INTEGER"],
    ["1e300::DOUBLE", "FLOAT"],
    ["1.5::DECIMAL(9,2)", "INTEGER"],
    ["1.55::DECIMAL(9,2)", "DECIMAL(9,1)"],
    ["9999.99::DECIMAL(9,2)", "DECIMAL(4,2)"],
    ["12345::INTEGER", "DECIMAL(4,0)"],
    ["123456789.5::DECIMAL(38,10)", "FLOAT"],
    ["(-24852611341916850177)::DECIMAL(20,0)", "DOUBLE"],
    ["DATE '5000000-01-01'", "TIMESTAMP_S"],
    ["TIMESTAMP '2024-01-01 00:00:00.5'", "TIMESTAMP_S"],
    ["TIMESTAMP '2024-01-01'", "TIMESTAMPTZ"],
    ["TIMESTAMPTZ '2024-01-01 00:00:00+00'", "TIMESTAMP"],
    ["TIMESTAMP '2024-01-01'", "DATE"],
    ["DATE '9999-12-31'", "TIMESTAMP_NS"],
    ["TIMESTAMP '9999-12-31'", "TIMESTAMP_NS"],
    ["uuid()", "VARCHAR"],
    ["170141183460469231731687303715884105727::HUGEINT", "BIGINT"],
    ["INTERVAL 1 DAY", "BIGINT"],
    ["TIME '12:00'", "TIMESTAMP"],
    ["'24:00:01'", "TIME_NS"],
    ["'noon'", "TIME_NS"],
  ];
  test.each(refused)("%s as %s", async (sql, after) => {
    const source = await lake.write("refused.parquet", `SELECT (${sql}) AS c`, "FIELD_IDS {c: 1}");
    await expect(scanRows(source, { columns: [request("c", after)], rowIds: "none" })).rejects.toMatchObject({
      code: "data_file",
    });
  });

  test("NULLs are no values: what they hide does not matter", async () => {
    const query = "SELECT CASE WHEN i = 1 THEN NULL ELSE 5 END::BIGINT AS c FROM range(3) t(i)";
    const source = await lake.write("nulls.parquet", query, "FIELD_IDS {c: 1}");
    const rows = await scanRows(source, { columns: [request("c", "TINYINT")], rowIds: "none" });
    expect(rows.map(({ values }) => values[0])).toEqual([5n, null, 5n]);
  });
});

test("times in nanoseconds are read from the text that DuckDB writes", async () => {
  const times = ["00:00:00", "12:34:56.789012345", "23:59:59.999999999", "24:00:00"];
  const query = `SELECT unnest([NULL, ${times.map((time) => `'${time}'`).join(", ")}]::TIME_NS[]) AS c`;
  const source = await lake.write("times.parquet", query, "FIELD_IDS {c: 1}");
  const rows = await scanRows(source, { columns: [request("c", "TIME_NS")], rowIds: "none" });
  expect(rows.map(({ values }) => fromIndexValue("TIME_NS", values[0] as bigint | null))).toEqual([null, ...times]);
});

describe("storage that other writers use", () => {
  const raw = (values: Uint8Array, length: number, offsets: Int32Array | null = null): RawColumn => ({
    length,
    validity: null,
    validityOffset: 0,
    values,
    valuesOffset: 0,
    offsets,
  });
  const convert = (column: RawColumn, source: SourceType, type: string): unknown[] => {
    const vector = convertColumn(column, source, parseColumnType(type));
    return Array.from({ length: vector.length }, (_, i) => fromVector(vector, i));
  };

  test("96-bit timestamps", () => {
    const bytes = new Uint8Array(24);
    const view = new DataView(bytes.buffer);
    view.setBigUint64(0, 3_723_000_004_567n, true); // 01:02:03.000004567
    view.setUint32(8, 2_440_588 + 1, true);
    view.setBigUint64(12, 0n, true);
    view.setUint32(20, 2_440_588 - 200_000, true);
    const day = 86_400_000_000n;
    expect(convert(raw(bytes, 2), { kind: "int96" }, "TIMESTAMP")).toEqual([day + 3_723_000_004n, -200_000n * day]);
    expect(convert(raw(bytes.subarray(12), 1), { kind: "int96" }, "TIMESTAMP_S")).toEqual([-200_000n * 86_400n]);
    expect(() => convert(raw(bytes, 2), { kind: "int96" }, "TIMESTAMP_S")).toThrow("finer than the unit");
  });

  test("half floats", () => {
    const halves = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0xfc00, 0x8000);
    const bytes = new Uint8Array(halves.buffer);
    const expected = [1, -2, 65_504, 2 ** -24, Infinity, -Infinity, 0];
    expect(convert(raw(bytes, 7), { kind: "float", bytes: 2 }, "FLOAT")).toEqual(expected);
    expect(convert(raw(bytes, 7), { kind: "float", bytes: 2 }, "DOUBLE")).toEqual(expected);
  });

  test("decimals in byte strings of any length, and in few fixed bytes", () => {
    const source = { kind: "decimal", precision: 9, scale: 2, storage: { endian: "big", width: 0 } } as const;
    const column = raw(Uint8Array.of(0x7f, 0xff, 0x01, 0x00), 3, Int32Array.of(0, 1, 2, 4));
    expect(convert(column, source, "DECIMAL(9,2)")).toEqual([127n, -1n, 256n]);
    expect(convert(column, source, "DECIMAL(38,3)")).toEqual([1270n, -10n, 2560n]);
    const fixed = { ...source, storage: { endian: "big", width: 2 } } as const;
    expect(convert(raw(Uint8Array.of(0xff, 0xfe, 0x00, 0x05), 2), fixed, "DECIMAL(18,2)")).toEqual([-2n, 5n]);
  });

  test("times in milliseconds", () => {
    const bytes = new Uint8Array(Int32Array.of(1, 86_399_999).buffer);
    expect(convert(raw(bytes, 2), { kind: "time", unit: "ms", bytes: 4 }, "TIME")).toEqual([1000n, 86_399_999_000n]);
  });

  test("values that are not aligned in memory", () => {
    const bytes = new Uint8Array(17);
    new DataView(bytes.buffer).setBigInt64(1, -5n, true);
    new DataView(bytes.buffer).setBigInt64(9, 7n, true);
    expect(convert(raw(bytes.subarray(1), 2), { kind: "integer", bytes: 8, signed: true }, "BIGINT")).toEqual([
      -5n,
      7n,
    ]);
  });
});
