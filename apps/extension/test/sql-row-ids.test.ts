// DuckLake gives two rows of a table one row id where transactions change, in data files, rows that they have inserted themselves.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestLake, type TestDuckDb } from "./support/duckdb.js";
import { rowIds } from "./support/expect-index.js";

let db: TestDuckDb;

beforeAll(async () => {
  if (extensionAvailable) db = await openTestLake();
});
afterAll(async () => {
  if (extensionAvailable) await db.close();
});
beforeEach(async () => {
  if (!extensionAvailable) return;
  await db.run("CALL lake.set_option('data_inlining_row_limit', 0); CREATE OR REPLACE TABLE t(k BIGINT, v BIGINT)");
});

/** A row that is inserted and changed in one transaction. */
async function insertAndUpdate(k: number, v: number | null): Promise<void> {
  await db.run(`BEGIN; INSERT INTO t VALUES (${k}, 0); UPDATE t SET v = ${v} WHERE k = ${k}; COMMIT`);
}

/** Row ids of the rows that have a value, from the index and from a scan. */
async function expectFound(where: string, call: string, rows: number): Promise<void> {
  const scanned = await db.column(`SELECT rowid FROM t WHERE ${where}`);
  expect(scanned).toHaveLength(rows);
  expect(await rowIds(db, call)).toEqual([...new Set(scanned)].sort());
}

const ofOne = "lookup('lake', 'main', 't', 'i', 1)";

describe.skipIf(!extensionAvailable)("rows that share a row id", () => {
  it("are all found until the last of them is gone", async () => {
    await db.run("CREATE INDEX i ON t(v)");
    for (const k of [1, 2, 3]) await insertAndUpdate(k, 1);
    expect(await db.column("SELECT DISTINCT rowid FROM t")).toHaveLength(1);
    for (const [k, left] of [
      [2, 2],
      [1, 1],
      [3, 0],
    ]) {
      await db.run(`DELETE FROM t WHERE k = ${k}`);
      await expectFound("v = 1", ofOne, left ?? 0);
    }
  });

  it("are counted by an index that is made over them, and as they change and move", async () => {
    for (const k of [1, 2, 3]) await insertAndUpdate(k, 1);
    await db.run("CREATE INDEX i ON t(v)");
    await db.run("UPDATE t SET v = 5 WHERE k = 1");
    await expectFound("v = 1", ofOne, 2);
    await expectFound("v = 5", "lookup('lake', 'main', 't', 'i', 5)", 1);
    await db.run("CALL ducklake_merge_adjacent_files('lake')");
    await db.run("CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)");
    await db.run("DELETE FROM t WHERE k = 2");
    await expectFound("v = 1", ofOne, 1);
    await db.run("UPDATE t SET v = 1");
    await db.run("DELETE FROM t WHERE k = 3");
    await expectFound("v = 1", ofOne, 1);
  });

  it("are counted within one transaction, whatever it adds and ends", async () => {
    await db.run("CREATE INDEX i ON t(v)");
    await insertAndUpdate(1, 1);
    await db.run(`BEGIN; DELETE FROM t WHERE k = 1; INSERT INTO t VALUES (2, 0), (3, 0);
      UPDATE t SET v = 1 WHERE k >= 2; COMMIT`);
    await expectFound("v = 1", ofOne, 2);
    await db.run("DELETE FROM t WHERE k = 2");
    await expectFound("v = 1", ofOne, 1);
  });

  it("are counted where NULLs keep them out of a unique index's values", async () => {
    await db.run("CREATE UNIQUE INDEX i ON t(v)");
    await insertAndUpdate(1, null);
    await insertAndUpdate(2, null);
    await insertAndUpdate(3, 1);
    await db.run("DELETE FROM t WHERE k = 1");
    await expectFound("v IS NULL", "nulls('lake', 'main', 't', 'i', NULL)", 1);
    await expectFound("v = 1", ofOne, 1);
  });

  it("do not share a value of a unique index", async () => {
    const refused = /row 1000000000000000000 claims a value that row 1000000000000000000 holds/;
    await db.run("CREATE UNIQUE INDEX i ON t(v)");
    await insertAndUpdate(1, 1);
    await expect(insertAndUpdate(2, 1)).rejects.toThrow(refused);
    await db.run("UPDATE t SET v = 1");
    await expectFound("v = 1", ofOne, 1);
    await db.run("DELETE FROM t");
    await insertAndUpdate(2, 1);
    await expectFound("v = 1", ofOne, 1);
    await db.run("DROP INDEX i");
    await insertAndUpdate(3, 1);
    await expect(db.run("CREATE UNIQUE INDEX i ON t(v)")).rejects.toThrow(refused);
  });
});

/** 34 rows in the files of two partitions, and 8 that are inlined: DuckLake's flush spreads them over both. */
async function fillPartitions(): Promise<void> {
  await db.run(`CALL lake.set_option('data_inlining_row_limit', 10); ALTER TABLE t SET PARTITIONED BY (bucket(2, k));
    BEGIN; INSERT INTO t SELECT i, 7 FROM range(34) r(i); INSERT INTO t SELECT i, 7 FROM range(34, 42) r(i); COMMIT`);
}
const shared = "SELECT count(*) - count(DISTINCT rowid) FROM t";

describe.skipIf(!extensionAvailable)("a merge by which DuckLake gives rows the ids of others", () => {
  it("is refused where the table has an index, and leaves that as it is", async () => {
    await db.run("CREATE INDEX by_v ON t(v)");
    await fillPartitions();
    await db.run("CALL ducklake_flush_inlined_data('lake')");
    expect(await db.failure("CALL ducklake_merge_adjacent_files('lake', 't')")).toMatch(
      /gives a row the id|which are not the same ones/u,
    );
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'by_v', 7)")).toHaveLength(42);
    expect(await db.column(shared)).toEqual(["0"]);
  });

  it("keeps an index from being made, as the end of one row would take the entry of the other", async () => {
    await fillPartitions();
    await db.run("CALL ducklake_flush_inlined_data('lake'); CALL ducklake_merge_adjacent_files('lake', 't')");
    expect(Number(await db.column(shared))).toBeGreaterThan(0);
    for (const kind of ["INDEX", "UNIQUE INDEX"])
      expect(await db.failure(`CREATE ${kind} by_v ON t(${kind === "INDEX" ? "v" : "k"})`)).toContain(
        "share the row id",
      );
    await db.run("CREATE OR REPLACE TABLE copied AS FROM t; CREATE UNIQUE INDEX by_k ON copied(k)");
    expect(await rowIds(db, "range('lake', 'main', 'copied', 'by_k', NULL, NULL, true, true)")).toHaveLength(42);
  });
});
