import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { batchRows, fromDuckDB, fromVector, sameKind, scanRows } from "../test/support/values.js";
import { type FileSource, readRows, scanFile } from "./index.js";
import { lowerBound, sortedPositions } from "./positions.js";

let lake: TestLake;
let source: FileSource;
let expected: unknown[][];
const count = 9000;
const columns = [
  request("s", "VARCHAR", 2n),
  request("n", "BIGINT", 1n),
  request("d", "DECIMAL(30,2)", 3n),
  request("b", "BOOLEAN", 4n),
];

beforeAll(async () => {
  lake = await TestLake.create();
  const query = `SELECT CASE WHEN i % 5 = 0 THEN NULL ELSE i * 7 END::BIGINT AS n, CASE WHEN i % 3 = 0 THEN NULL ELSE repeat('x', i % 4) || i END AS s,
    (i / 3)::DECIMAL(30,2) AS d, i % 2 = 0 AS b FROM range(${count}) t(i)`;
  source = await lake.write("rows.parquet", query, "FIELD_IDS {n: 1, s: 2, d: 3, b: 4}, ROW_GROUP_SIZE 2048");
  expected = await lake.rows(`SELECT s, n, d, b FROM '${lake.path("rows.parquet")}'`);
});
afterAll(async () => {
  await lake.close();
});

test("any positions give exactly their rows, in file order, in batches of any size", async () => {
  const anyPositions = fc.oneof(
    fc.array(fc.integer({ min: 0, max: count - 1 }), { maxLength: 60 }),
    fc
      .tuple(fc.integer({ min: 0, max: count - 1 }), fc.integer({ min: 0, max: 3000 }))
      .map(([start, length]) => Array.from({ length: Math.min(length, count - start) }, (_, i) => start + i)),
  );
  await fc.assert(
    fc.asyncProperty(anyPositions, fc.integer({ min: 1, max: 3000 }), async (positions, batchSize) => {
      const wanted = [...new Set(positions)].sort((a, b) => a - b);
      const found: number[] = [];
      for await (const batch of scanFile(source, { columns, rowIds: "lineage", positions, batchRows: batchSize })) {
        expect(batch.length).toBeLessThanOrEqual(batchSize);
        const rows = batchRows(batch);
        found.push(...rows.map(({ position }) => position));
        expect(rows).toEqual(
          rows.map(({ position }) => ({
            position,
            rowId: BigInt(position),
            values: batch.columns.map((column, c) => sameKind(column, fromDuckDB(expected[position]?.[c]))),
          })),
        );
      }
      expect(found).toEqual(wanted);
    }),
    { numRuns: 25 },
  );
});

describe("readRows", () => {
  test("rows come in the order asked for, repeats included", async () => {
    const positions = [8000, 1, 8000, 4500, 0, 1];
    const batch = await readRows(source, { columns, rowIds: "lineage", positions });
    expect([...batch.positions]).toEqual(positions);
    expect([...(batch.rowIds ?? [])]).toEqual(positions.map(BigInt));
    const [, numbers] = batch.columns;
    if (numbers === undefined) throw new Error("a column is missing");
    expect(positions.map((_, i) => fromVector(numbers, i))).toEqual(
      positions.map((position) => (position % 5 === 0 ? null : BigInt(position * 7))),
    );
  });

  test("no positions give no rows", async () => {
    const batch = await readRows(source, { columns, rowIds: "none", positions: [] });
    expect(batch).toMatchObject({ length: 0, rowIds: null });
    expect(batch.columns.map(({ type, length }) => [type, length])).toEqual([
      ["string", 0],
      ["int64", 0],
      ["int128", 0],
      ["boolean", 0],
    ]);
  });
});

test("an empty selection reads nothing", async () => {
  lake.store.reset();
  expect(await scanRows(source, { columns, rowIds: "lineage", positions: [] })).toEqual([]);
  expect(lake.store.calls).toBe(0);
});

test("row groups without a wanted row are not read", async () => {
  lake.store.reset();
  await scanRows(source, { columns, rowIds: "lineage", positions: [0, 3] });
  const one = lake.store.bytesRead;
  lake.store.reset();
  await scanRows(source, { columns, rowIds: "lineage" });
  expect(one).toBeLessThan(lake.store.bytesRead / 2);
});

test("bigint positions serve like numbers", async () => {
  const rows = await scanRows(source, { columns: [], rowIds: "none", positions: BigUint64Array.of(5n, 2n) });
  expect(rows.map(({ position }) => position)).toEqual([2, 5]);
});

test("a position beyond the file is a constraint, no position at all an argument error", async () => {
  const scan = async (positions: number[]): Promise<unknown> =>
    await scanRows(source, { columns, rowIds: "none", positions });
  await expect(scan([0, count])).rejects.toMatchObject({ code: "constraint" });
  for (const bad of [-1, 0.5, Number.NaN, 2 ** 60])
    await expect(scan([bad])).rejects.toMatchObject({ code: "invalid_argument" });
});

test("positions sort and lose repeats once", () => {
  expect([...sortedPositions([9, 2, 9, 4, 2], 10n, "f", "positions")]).toEqual([2, 4, 9]);
});

test("the lower bound is the first element that is not below", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(100)), fc.nat(110), (values, wanted) => {
      const sorted = Float64Array.from(values).sort();
      expect(lowerBound(sorted, wanted)).toBe(values.filter((value) => value < wanted).length);
    }),
  );
});
