// Rows that move keep their ids, so that indexes stay as they are: through flush, merge, rewrite, expiry and cleanup.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestLake, type TestDuckDb } from "./support/duckdb.js";
import { expectIndex, rowIds } from "./support/expect-index.js";

const flush = "CALL ducklake_flush_inlined_data('lake')";
const merge = "CALL ducklake_merge_adjacent_files('lake')";
const rewrite = "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)";
const expire = `CALL ducklake_expire_snapshots('lake', older_than => now());
  CALL ducklake_cleanup_old_files('lake', cleanup_all => true)`;

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
    CREATE UNIQUE INDEX u ON t(a); CREATE INDEX m ON t(b, a) WITH (directions = '[desc, asc]')`);
});

async function expectBoth(): Promise<void> {
  await expectIndex(db, "u", "t", ["a"]);
  await expectIndex(db, "m", "t", ["b", "a"]);
}

/** How the rows of each live data file have their ids: by their place, or in a column. */
async function idsOfFiles(): Promise<string[]> {
  const files = await db.column("SELECT data_file FROM ducklake_list_files('lake', 't')");
  return await db.column(`SELECT CASE WHEN bool_or(name = '_ducklake_internal_row_id') THEN 'column' ELSE 'place' END
    FROM parquet_schema([${files.map((file) => `'${file}'`).join(", ")}]) GROUP BY file_name ORDER BY 1 DESC`);
}
const all = async (): Promise<string[][]> => await db.rows("SELECT rowid, * FROM t ORDER BY rowid");

/** What a statement is to leave as it is: rows and their ids, and what every index holds in its order. */
async function expectUnmoved(statement: string): Promise<void> {
  const state = async (): Promise<string[][][]> => [
    await all(),
    await db.rows("SELECT row_id FROM moraine_index_range('lake', 'main', 't', 'u', NULL, NULL, true, true)"),
    await db.rows("SELECT row_id FROM moraine_index_range('lake', 'main', 't', 'm', NULL, NULL, true, true)"),
  ];
  const before = await state();
  await db.run(statement);
  expect(await state()).toEqual(before);
  await expectBoth();
}

describe.skipIf(!extensionAvailable)("indexes outlast", () => {
  it("a merge of files with adjacent rows, and one of files whose rows have ids of their own", async () => {
    await db.run("INSERT INTO t SELECT i, 'v' || i % 7 FROM range(100) r(i)");
    await db.run("INSERT INTO t SELECT i, 'v' || i % 7 FROM range(100, 200) r(i)");
    expect(await idsOfFiles()).toEqual(["place", "place"]);
    await expectUnmoved(merge);
    expect(await idsOfFiles()).toEqual(["place"]);
    await db.run("UPDATE t SET a = a + 1000 WHERE a % 2 = 0");
    expect(await idsOfFiles()).toEqual(["place", "column"]);
    await expectBoth();
    await expectUnmoved(rewrite);
    expect(await idsOfFiles()).toEqual(["column", "column"]);
    await expectUnmoved(merge);
    expect(await idsOfFiles()).toEqual(["column"]);
    await db.run("DELETE FROM t WHERE b = 'v3'");
    await expectBoth();
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'u', 3)")).toEqual([]);
    await db.run("INSERT INTO t SELECT a, 'again' FROM (VALUES (3), (1010)) v(a)");
    expect(await db.failure("INSERT INTO t VALUES (5, 'taken')")).toContain("claims a value");
    await expectUnmoved(`${rewrite}; ${flush}; ${merge}`);
  });

  it("being made on files that were rewritten", async () => {
    await db.run("DROP INDEX u; DROP INDEX m; INSERT INTO t SELECT i, 'v' || i % 7 FROM range(200) r(i)");
    await db.run(`UPDATE t SET a = -a WHERE a % 3 = 1; DELETE FROM t WHERE b = 'v2'; ${rewrite}; ${merge}`);
    await db.run("DELETE FROM t WHERE a < -150");
    expect(await idsOfFiles()).toEqual(["column"]);
    await db.run("CREATE UNIQUE INDEX u ON t(a); CREATE INDEX m ON t(b, a)");
    await expectBoth();
    await db.run("DELETE FROM t WHERE a > 150; UPDATE t SET b = 'new' WHERE a < 10");
    await expectBoth();
  });

  it("a flush of rows some of which were deleted or updated, and deletes of what was flushed", async () => {
    await db.run("INSERT INTO t VALUES (0, 'a'), (1, 'b'), (2, NULL), (3, 'd'), (4, 'e'), (5, 'f')");
    await db.run("DELETE FROM t WHERE a IN (1, 4); UPDATE t SET b = 'changed' WHERE a = 3; DELETE FROM t WHERE a = 0");
    await db.run("INSERT INTO t VALUES (4, 'again'), (NULL, 'no number')");
    await expectBoth();
    await expectUnmoved(flush);
    await db.run("DELETE FROM t WHERE a = 2; UPDATE t SET a = 1 WHERE a = 5");
    await expectBoth();
    expect(await db.failure("INSERT INTO t VALUES (4, 'taken')")).toContain("claims a value");
    await expectUnmoved(`${flush}; ${rewrite}; ${merge}`);
  });

  it("expiry and cleanup of what they were made from", async () => {
    for (let at = 0; at < 4; at++) {
      await db.run(`INSERT INTO t SELECT i, 'v' || i % 7 FROM range(${at * 50}, ${at * 50 + 50}) r(i)`);
      await db.run(`DELETE FROM t WHERE a % 50 = ${at}; INSERT INTO t VALUES (${1000 + at}, 'inlined')`);
    }
    for (const statement of [expire, flush, expire, rewrite, expire, merge, expire]) await expectUnmoved(statement);
    await db.run("DROP INDEX u; CREATE UNIQUE INDEX u ON t(a)");
    await expectBoth();
    await db.run("DROP TABLE t");
    await db.run(expire);
    expect(await db.column(`SELECT count(*) FROM glob('${db.path("store-data")}/**/*.parquet')`)).toEqual(["0"]);
  });

  it("deletion vectors by refusing them, as long as there are indexes", async () => {
    await db.run(
      "CALL lake.set_option('data_inlining_row_limit', 0); INSERT INTO t SELECT i, 'v' FROM range(300) r(i)",
    );
    await db.run("CALL lake.set_option('write_deletion_vectors', true)");
    for (const statement of ["DELETE FROM t WHERE a < 10", "UPDATE t SET a = a + 1000 WHERE a < 10"]) {
      expect(await db.failure(statement)).toMatch(/holds a deletion vector.*drop the table's indexes/su);
    }
    await expectBoth();
    await db.run("DROP INDEX u; DROP INDEX m; DELETE FROM t WHERE a < 10");
    expect(await db.failure("CREATE UNIQUE INDEX u ON t(a)")).toContain("holds a deletion vector");
    await db.run(`CALL lake.set_option('write_deletion_vectors', false); ${rewrite}`);
    await db.run("CREATE UNIQUE INDEX u ON t(a); CREATE INDEX m ON t(b, a); DELETE FROM t WHERE a < 20");
    await expectBoth();
  });

  it("two merges in one transaction (ducklake#1387)", async () => {
    const upsert = (range: string): string => `MERGE INTO t USING (SELECT i AS a FROM ${range} r(i)) s ON t.a = s.a
      WHEN MATCHED THEN UPDATE SET b = t.b || '+' WHEN NOT MATCHED THEN INSERT VALUES (s.a, 'new')`;
    for (const count of [4, 40]) {
      await db.run("TRUNCATE t");
      await db.run(`BEGIN; ${upsert(`range(${count})`)}; ${upsert(`range(2, ${count + 2})`)}; COMMIT`);
      expect(await db.rows("SELECT b, count(*) FROM t GROUP BY ALL ORDER BY ALL")).toEqual([
        ["new", "4"],
        ["new+", `${count - 2}`],
      ]);
      await expectBoth();
      expect(await db.column("SELECT count(DISTINCT rowid) - count(*) FROM t")).toEqual(["0"]);
    }
  });

  it("deletes of every form, one after the other", async () => {
    await db.run("INSERT INTO t SELECT i, 'v' || i % 7 FROM range(300) r(i)");
    // By a delete file, by rows in the catalog, by a file that takes over the one before, of a whole file.
    for (const [limit, rows] of [
      [0, "a < 20"],
      [30, "a < 25"],
      [0, "a < 60"],
      [30, "a BETWEEN 70 AND 75"],
      [0, "a BETWEEN 80 AND 140"],
      [0, "true"],
    ] as const) {
      await db.run(`CALL lake.set_option('data_inlining_row_limit', ${limit}); DELETE FROM t WHERE ${rows}`);
      await expectBoth();
    }
    await db.run("INSERT INTO t SELECT i, 'second ' || i FROM range(300) r(i)");
    await expectBoth();
  });
});

describe.skipIf(!extensionAvailable)("another attachment", () => {
  it("reads on when a flush has dropped a table of inlined rows that it remembers", async () => {
    await db.attach("other");
    await db.run("INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD COLUMN c INTEGER; INSERT INTO t VALUES (2, 'b', 3)");
    const rows = [
      ["1", "a", "NULL"],
      ["2", "b", "3"],
    ];
    expect(await db.rows("FROM other.t ORDER BY a")).toEqual(rows);
    await db.run(flush);
    const left = `SELECT count(*) FROM __ducklake_metadata_lake.ducklake_inlined_data_tables
      WHERE table_id = (SELECT max(table_id) FROM __ducklake_metadata_lake.ducklake_table)`;
    expect(await db.column(left)).toEqual(["1"]);
    expect(await db.rows("FROM other.t ORDER BY a")).toEqual(rows);
    await db.run("INSERT INTO other.t VALUES (4, 'c', 5)");
    expect(await db.column("SELECT count(*) FROM t")).toEqual(["3"]);
    await db.run("DETACH other");
  });
});
