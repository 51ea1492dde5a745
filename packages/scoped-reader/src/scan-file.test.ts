import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { sampleQuery, sampleTypes } from "../test/support/types.js";
import { expectColumn, scanRows } from "../test/support/values.js";
import { scanFile } from "./scan-file.js";

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

const codecs = ["uncompressed", "snappy", "gzip", "zstd", "lz4", "lz4_raw", "brotli"];

describe("values of every type equal what DuckDB reads", () => {
  test.each(sampleTypes)("$columnType", async (type) => {
    const file = type.columnType.replaceAll(/\W/g, "_");
    // Dictionary, plain and delta encodings, both page versions, with and without NULLs, one and several row groups.
    const variants = [
      { query: sampleQuery(type, 5000, true), options: "FIELD_IDS {c: 7}, ROW_GROUP_SIZE 2048" },
      { query: sampleQuery(type, 3000, false, 1), options: "FIELD_IDS {c: 7}, PARQUET_VERSION v2" },
      { query: `SELECT c FROM (${sampleQuery(type, 40, true, 2)}), range(50)`, options: "FIELD_IDS {c: 7}" },
      {
        query: `SELECT c FROM (${sampleQuery(type, 40, false, 3)}), range(50)`,
        options: "FIELD_IDS {c: 7}, PARQUET_VERSION v2",
      },
      { query: `SELECT NULL::${type.columnType} AS c FROM range(100)`, options: "FIELD_IDS {c: 7}" },
    ];
    for (const [i, { query, options }] of variants.entries()) {
      const name = `${file}-${i}.parquet`;
      const source = await lake.write(name, query, options);
      const expected = await lake.rows(`SELECT c::${type.columnType} FROM '${lake.path(name)}'`);
      const columns = [request("renamed", type.columnType, 7n)];
      await expectColumn(scanFile(source, { columns, rowIds: "lineage" }), expected);
    }
  });
});

test.each(codecs)("compression %s", async (codec) => {
  const query = "SELECT i::BIGINT AS a, 'name ' || (i % 1000) AS b FROM range(12000) t(i)";
  const source = await lake.write(
    `${codec}.parquet`,
    query,
    `FIELD_IDS {a: 1, b: 2}, COMPRESSION ${codec}, ROW_GROUP_SIZE 4096`,
  );
  const rows = await scanRows(source, {
    columns: [request("b", "VARCHAR", 2n), request("a", "BIGINT", 1n)],
    rowIds: "ordinal",
  });
  expect(rows).toHaveLength(12000);
  expect(rows[11345]).toEqual({ position: 11345, rowId: 11345n, values: ["name 345", 11345n] });
  expect(rows.every((row, i) => row.values[1] === BigInt(i) && row.values[0] === `name ${i % 1000}`)).toBe(true);
});

test("only the chunks of the requested columns are read", async () => {
  const query = "SELECT i::BIGINT AS a, md5(i::VARCHAR) AS wide FROM range(20000) t(i)";
  const source = await lake.write("two.parquet", query, "FIELD_IDS {a: 1, wide: 2}");
  lake.store.reset();
  await scanRows(source, { columns: [request("a", "BIGINT", 1n)], rowIds: "lineage" });
  expect(lake.store.bytesRead).toBeLessThan(source.sizeBytes / 3);
});

test("row ids of a dense file alone need no read beyond the footer", async () => {
  const source = await lake.write("dense.parquet", "SELECT i AS a FROM range(1000) t(i)", "FIELD_IDS {a: 1}");
  lake.store.reset();
  const rows = await scanRows({ ...source, rowIdStart: 500n }, { columns: [], rowIds: "lineage" });
  expect(rows.map(({ rowId }) => rowId)).toEqual(Array.from({ length: 1000 }, (_, i) => BigInt(500 + i)));
  expect(lake.store.calls).toBe(1);
});

test("an empty file has no batches", async () => {
  const source = await lake.write("empty.parquet", "SELECT 1::BIGINT AS a LIMIT 0", "FIELD_IDS {a: 1}");
  expect(source.recordCount).toBe(0n);
  expect(await scanRows(source, { columns: [request("a", "BIGINT")], rowIds: "lineage" })).toEqual([]);
});

test("batches are no larger than asked for and follow one another", async () => {
  const source = await lake.write(
    "batches.parquet",
    "SELECT i::BIGINT AS a FROM range(5000) t(i)",
    "ROW_GROUP_SIZE 2048",
  );
  const lengths: number[] = [];
  let next = 0;
  for await (const batch of scanFile(source, { columns: [request("a", "BIGINT")], rowIds: "none", batchRows: 1000 })) {
    expect(batch.rowIds).toBeNull();
    expect(batch.positions[0]).toBe(next);
    lengths.push(batch.length);
    next += batch.length;
  }
  expect(lengths).toEqual([1000, 1000, 48, 1000, 1000, 48, 904]);
});

test("a scan left early does not read the rest", async () => {
  const query = "SELECT md5(i::VARCHAR) AS a FROM range(1200000) t(i)";
  const source = await lake.write("long.parquet", query, "COMPRESSION uncompressed");
  lake.store.reset();
  for await (const batch of scanFile(source, { columns: [request("a", "VARCHAR")], rowIds: "none" })) {
    expect(batch.length).toBe(122_880);
    break;
  }
  expect(lake.store.bytesRead).toBeLessThan(source.sizeBytes / 2);
});

test("a bad batch size is refused", async () => {
  const source = await lake.write("one.parquet", "SELECT 1 AS a");
  for (const batchRows of [0, -1, 1.5, Number.NaN, 2 ** 40]) {
    await expect(scanRows(source, { columns: [], rowIds: "none", batchRows })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  }
});
