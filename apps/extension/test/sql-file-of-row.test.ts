// Index reads name the data file of a row where it is certain, and never another one: deleted rows, rows that moved, many files.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestLake, type TestDuckDb } from "./support/duckdb.js";

const meta = "__ducklake_metadata_lake";
let db: TestDuckDb;

beforeAll(async () => {
  if (extensionAvailable) db = await openTestLake();
});
afterAll(async () => {
  if (extensionAvailable) await db.close();
});
beforeEach(async () => {
  if (!extensionAvailable) return;
  await db.run(`CALL lake.set_option('data_inlining_row_limit', 10); CREATE OR REPLACE TABLE t(a BIGINT, b VARCHAR);
    CREATE INDEX i ON t(a)`);
});

/** What the index says of every row: its id, and how its file compares with the one in which a scan finds it. */
async function filesOfRows(from: number, to: number): Promise<Readonly<Record<string, number>>> {
  const rows = await db.rows(`
    WITH scanned AS (SELECT rowid AS row_id, filename FROM t WHERE a BETWEEN ${from} AND ${to}),
      stored AS (FROM moraine_index_range('lake', 'main', 't', 'i', ${from}, ${to}, true, true)),
      files AS (SELECT data_file_id, path FROM ${meta}.ducklake_data_file)
    SELECT CASE WHEN scanned.row_id IS NULL OR stored.row_id IS NULL THEN 'row differs'
      WHEN stored.data_file_id IS NULL THEN 'unknown'
      WHEN ends_with(filename, path) THEN 'right' ELSE 'wrong' END AS verdict, count(*)
    FROM scanned FULL JOIN stored USING (row_id) LEFT JOIN files USING (data_file_id) GROUP BY ALL ORDER BY ALL`);
  const verdicts: Record<string, number> = {};
  for (const [verdict, count] of rows) verdicts[verdict ?? ""] = Number(count);
  return verdicts;
}

const deleteFiles = async (): Promise<number> =>
  Number((await db.column(`SELECT count(*) FROM ${meta}.ducklake_delete_file WHERE end_snapshot IS NULL`))[0]);

const insert = async (first: number, count: number): Promise<void> =>
  await db.run(`INSERT INTO t SELECT i, 'v' || i FROM range(${first}, ${first + count}) r(i)`);

describe.skipIf(!extensionAvailable)("the data file of a row", () => {
  it("is known in many files, for one row and for many, and unknown for inlined ones", async () => {
    for (let file = 0; file < 5; file++) await insert(file * 100, 100);
    await insert(500, 5);
    expect(await filesOfRows(0, 504)).toEqual({ right: 500, unknown: 5 });
    expect(await filesOfRows(95, 104)).toEqual({ right: 10 });
    expect(await filesOfRows(250, 250)).toEqual({ right: 1 });
    expect(await filesOfRows(502, 502)).toEqual({ unknown: 1 });
  });

  it("is that of the live version, with deletes that are inlined and such in files", async () => {
    for (let file = 0; file < 3; file++) await insert(file * 100, 100);
    // Inlined deletes of a few rows, then a delete file, then both.
    await db.run("DELETE FROM t WHERE a IN (3, 103)");
    await db.run("UPDATE t SET b = 'moved' WHERE a IN (5, 6, 205)");
    expect(await deleteFiles()).toBe(0);
    expect(await filesOfRows(0, 299)).toEqual({ right: 295, unknown: 3 });
    for (const a of [4, 5, 6, 205])
      expect(Object.keys(await filesOfRows(a, a))).toEqual([a === 4 ? "right" : "unknown"]);
    await db.run("UPDATE t SET b = 'moved' WHERE a % 5 = 0");
    expect(await deleteFiles()).toBeGreaterThan(0);
    const after = await filesOfRows(0, 299);
    expect(Object.keys(after).sort()).toEqual(["right", "unknown"]);
    expect((after["right"] ?? 0) + (after["unknown"] ?? 0)).toBe(298);
    expect(after["right"]).toBeGreaterThan(200);
    expect(await filesOfRows(10, 10)).toEqual({ unknown: 1 });
    expect(await filesOfRows(11, 11)).toEqual({ right: 1 });
    // Another delete file replaces the first.
    await db.run("DELETE FROM t WHERE a % 3 = 0 AND a % 5 <> 0");
    expect(Object.keys(await filesOfRows(0, 299)).sort()).toEqual(["right", "unknown"]);
    expect(await filesOfRows(11, 11)).toEqual({ right: 1 });
  });

  it("stays right through flush, merge and rewrite", async () => {
    for (let file = 0; file < 3; file++) await insert(file * 100, 100);
    await insert(300, 5);
    await db.run("DELETE FROM t WHERE a % 4 = 0");
    for (const step of [
      "CALL ducklake_flush_inlined_data('lake')",
      "CALL ducklake_merge_adjacent_files('lake')",
      "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    ]) {
      await db.run(step);
      const found = await filesOfRows(0, 304);
      expect(found["wrong"] ?? found["row differs"]).toBeUndefined();
      expect((found["right"] ?? 0) + (found["unknown"] ?? 0)).toBe(228);
    }
  });
});
