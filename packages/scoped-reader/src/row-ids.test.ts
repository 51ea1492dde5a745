import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { scanRows } from "../test/support/values.js";
import { rowIdFieldId } from "./index.js";
import { denseRowIds } from "./row-ids.js";

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

const value = request("value", "BIGINT", 1n);
const embedded = `FIELD_IDS {value: 1, _ducklake_internal_row_id: ${rowIdFieldId}}`;
const rows = async (query: string, ids = embedded): Promise<Awaited<ReturnType<TestLake["write"]>>> =>
  await lake.write(`${Math.random()}.parquet`, query, ids);

describe("lineage", () => {
  test("row ids follow the position in a file without embedded ids", async () => {
    const source = await rows("SELECT i AS value FROM range(5) t(i)", "FIELD_IDS {value: 1}");
    const scanned = await scanRows({ ...source, rowIdStart: 100n }, { columns: [value], rowIds: "lineage" });
    expect(scanned.map(({ rowId }) => rowId)).toEqual([100n, 101n, 102n, 103n, 104n]);
  });

  test("an embedded column wins over a recorded first row id, gaps and all", async () => {
    const source = await rows(
      "SELECT unnest([10, 20, 30]) AS value, unnest([5, 9, 12]::BIGINT[]) AS _ducklake_internal_row_id",
    );
    for (const rowIdStart of [5n, 0n, undefined]) {
      const scanned = await scanRows({ ...source, rowIdStart }, { columns: [value], rowIds: "lineage" });
      expect(scanned.map(({ rowId, values }) => [rowId, values[0]])).toEqual([
        [5n, 10n],
        [9n, 20n],
        [12n, 30n],
      ]);
    }
  });

  test("the column is found by its field id, whatever its name", async () => {
    const ids = `FIELD_IDS {value: 1, anything: ${rowIdFieldId}, snapshot: 2147483539}`;
    const source = await rows("SELECT 1 AS value, 77::BIGINT AS anything, 3::BIGINT AS snapshot", ids);
    expect((await scanRows(source, { columns: [value], rowIds: "lineage" }))[0]?.rowId).toBe(77n);
  });

  test("positions select embedded ids", async () => {
    const source = await rows(
      "SELECT i AS value, (i * 3 + 1)::BIGINT AS _ducklake_internal_row_id FROM range(5000) t(i)",
    );
    const scanned = await scanRows(source, { columns: [value], rowIds: "lineage", positions: [4321, 7, 7, 0] });
    expect(scanned.map(({ rowId, position }) => [position, rowId])).toEqual([
      [0, 1n],
      [7, 22n],
      [4321, 12964n],
    ]);
  });

  test("neither column nor range is corruption", async () => {
    const source = await rows("SELECT 1 AS value", "FIELD_IDS {value: 1}");
    await expect(
      scanRows({ ...source, rowIdStart: undefined }, { columns: [value], rowIds: "lineage" }),
    ).rejects.toMatchObject({
      code: "corruption",
    });
  });

  test.each(["NULL", "-1", "-9223372036854775808"])("an embedded id of %s is corruption", async (id) => {
    const source = await rows(
      `SELECT i AS value, CASE i WHEN 2500 THEN (${id})::BIGINT ELSE i END AS _ducklake_internal_row_id FROM range(3000) t(i)`,
    );
    await expect(scanRows(source, { columns: [value], rowIds: "lineage" })).rejects.toMatchObject({
      code: "corruption",
    });
    await expect(scanRows(source, { columns: [], rowIds: "lineage" })).rejects.toMatchObject({ code: "corruption" });
  });

  test("a first row id that leaves no room is corruption", async () => {
    const source = await rows("SELECT 1 AS value", "FIELD_IDS {value: 1}");
    await expect(
      scanRows({ ...source, rowIdStart: 2n ** 63n - 1n }, { columns: [], rowIds: "lineage" }),
    ).rejects.toMatchObject({ code: "corruption" });
  });

  test("a nested column in place of the row ids is corruption", async () => {
    const source = await rows(
      "SELECT 1 AS value, {a: 1} AS _ducklake_internal_row_id",
      `FIELD_IDS {value: 1, _ducklake_internal_row_id: {__duckdb_field_id: ${rowIdFieldId}, a: 9}}`,
    );
    await expect(scanRows(source, { columns: [], rowIds: "lineage" })).rejects.toMatchObject({ code: "corruption" });
  });
});

describe("ordinal", () => {
  test("row ids are positions, whatever is recorded", async () => {
    const source = await rows("SELECT i AS value FROM range(3) t(i)", "FIELD_IDS {value: 1}");
    const scanned = await scanRows({ ...source, rowIdStart: 50n }, { columns: [value], rowIds: "ordinal" });
    expect(scanned.map(({ rowId }) => rowId)).toEqual([0n, 1n, 2n]);
  });

  test("a file that embeds row ids is refused", async () => {
    const source = await rows("SELECT 1 AS value, 5::BIGINT AS _ducklake_internal_row_id");
    await expect(scanRows(source, { columns: [value], rowIds: "ordinal" })).rejects.toMatchObject({
      code: "constraint",
    });
  });
});

test("no row ids ask for none", async () => {
  const source = await rows("SELECT 1 AS value, NULL::BIGINT AS _ducklake_internal_row_id");
  const scanned = await scanRows({ ...source, rowIdStart: undefined }, { columns: [value], rowIds: "none" });
  expect(scanned).toEqual([{ position: 0, rowId: null, values: [1n] }]);
});

describe("dense row ids", () => {
  const starts = [0n, 7n, 2n ** 32n - 2n, 2n ** 32n, 2n ** 40n + 5n, 2n ** 53n - 3n, 2n ** 62n];
  test.each(starts)("from %d on", (start) => {
    for (const positions of [[], [0], [3, 4, 5, 6], [0, 1, 5, 2 ** 33], [2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1]]) {
      expect([...denseRowIds(start, Float64Array.from(positions))]).toEqual(
        positions.map((position) => start + BigInt(position)),
      );
    }
  });
});
