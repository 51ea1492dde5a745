// What other systems got wrong, told by their bug reports, on the SQL path. The names are those of the reports.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";

let db: TestDuckDb;

beforeEach(async () => {
  db = await openTestDuckDb();
  await db.attach();
  await db.run("USE lake");
});
afterEach(async () => {
  await db.close();
});

const lookup = async (table: string, index: string, ...values: string[]): Promise<string[]> =>
  await db.column(
    `SELECT row_id FROM moraine_index_lookup('lake', 'main', '${table}', '${index}', ${values.join(", ")}) ORDER BY ALL`,
  );

describe.skipIf(!extensionAvailable)("a unique index within one transaction", () => {
  it("lets a value that was inserted and deleted be inserted again (duckdb#2241)", async () => {
    await db.run("CREATE TABLE t(id VARCHAR)");
    await db.run("CREATE UNIQUE INDEX u ON t(id)");
    await db.run(
      "BEGIN; INSERT INTO t VALUES ('Bob'); DELETE FROM t WHERE id = 'Bob'; INSERT INTO t VALUES ('Bob'); COMMIT",
    );
    expect(await db.column("SELECT id FROM t")).toEqual(["Bob"]);
    expect(await lookup("t", "u", "'Bob'")).toEqual(await db.column("SELECT rowid FROM t"));
  });

  it("lets a value be taken that an update gave up (duckdb#4886)", async () => {
    await db.run("CREATE TABLE t(id BIGINT)");
    await db.run("CREATE UNIQUE INDEX u ON t(id)");
    await db.run("INSERT INTO t VALUES (1)");
    await db.run("BEGIN; UPDATE t SET id = 4; INSERT INTO t VALUES (1); COMMIT");
    expect(await db.column("SELECT id FROM t ORDER BY id")).toEqual(["1", "4"]);
    expect(await lookup("t", "u", "4")).toEqual(["0"]);
    expect(await lookup("t", "u", "1")).toEqual(await db.column("SELECT rowid FROM t WHERE id = 1"));
  });

  it("remembers a delete at an ALTER (duckdb#25399)", async () => {
    await db.run("CREATE TABLE t(a BIGINT, b BIGINT)");
    await db.run("CREATE UNIQUE INDEX u ON t(a)");
    await db.run("INSERT INTO t VALUES (1, 10), (2, 20)");
    await db.run(
      "BEGIN; DELETE FROM t WHERE a = 1; ALTER TABLE t ADD COLUMN c BIGINT; INSERT INTO t VALUES (1, 30, 0); COMMIT",
    );
    expect(await db.rows("FROM t ORDER BY a")).toEqual([
      ["1", "30", "0"],
      ["2", "20", "NULL"],
    ]);
    expect(await lookup("t", "u", "1")).toEqual(await db.column("SELECT rowid FROM t WHERE a = 1"));
  });

  it("follows rows through insert, update and delete (ducklake#597)", async () => {
    await db.run("CREATE TABLE t(a BIGINT)");
    await db.run("CREATE UNIQUE INDEX u ON t(a)");
    await db.run(
      "BEGIN; INSERT INTO t VALUES (1), (2); UPDATE t SET a = 3 WHERE a = 1; DELETE FROM t WHERE a = 2; COMMIT",
    );
    expect(await db.column("SELECT a FROM t")).toEqual(["3"]);
    expect(await lookup("t", "u", "3")).toEqual(await db.column("SELECT rowid FROM t"));
    expect(await lookup("t", "u", "1")).toEqual([]);
    expect(await lookup("t", "u", "2")).toEqual([]);
  });
});

it.skipIf(!extensionAvailable)("a delete that matches a row twice deletes it once (duckdb#25339)", async () => {
  await db.run("CREATE TABLE t(a BIGINT)");
  await db.run("CREATE UNIQUE INDEX u ON t(a)");
  await db.run("INSERT INTO t VALUES (1), (2), (3)");
  await db.run("CREATE TEMP TABLE s AS SELECT unnest([2, 2]) AS a");
  await db.run("DELETE FROM t USING s WHERE t.a = s.a");
  await db.run("INSERT INTO t VALUES (2)");
  expect(await db.column("SELECT a FROM t ORDER BY a")).toEqual(["1", "2", "3"]);
  expect(await lookup("t", "u", "2")).toEqual(await db.column("SELECT rowid FROM t WHERE a = 2"));
});

describe.skipIf(!extensionAvailable)("a refusal is not repeated, whatever it names (ducklake#1311)", () => {
  it.each(["unique_conflict", "primary key", "CONCURRENT", "plain"])("%s", async (word) => {
    const name = `"${word}"`;
    await db.run(`CREATE TABLE ${name}(${name} VARCHAR)`);
    await db.run(`CREATE UNIQUE INDEX ${name} ON ${name}(${name})`);
    await db.run(`INSERT INTO ${name} VALUES ('${word}')`);
    const beganMs = performance.now();
    expect(await db.failure(`INSERT INTO ${name} VALUES ('${word}')`)).toMatch(/claims a value/u);
    expect(performance.now() - beganMs).toBeLessThan(1000);
    const bulk = `INSERT INTO ${name} SELECT CASE WHEN i = 500 THEN '${word}' ELSE 'v' || i END FROM range(1000) r(i)`;
    const bulkMs = performance.now();
    expect(await db.failure(bulk)).toMatch(/claims a value/u);
    expect(performance.now() - bulkMs).toBeLessThan(1000);
    expect(await db.column(`SELECT count(*) FROM ${name}`)).toEqual(["1"]);
    expect(await db.column(`SELECT count(*) FROM glob('${db.path("store-data")}/**/*.parquet')`)).toEqual(["0"]);
  });
});

it.skipIf(!extensionAvailable)(
  "counts of past versions stay right under mixed deletes, and index reads are of the head (ducklake#1073, #1406)",
  async () => {
    await db.run("CALL lake.set_option('data_inlining_row_limit', 0)");
    await db.run("CREATE TABLE t(a BIGINT)");
    await db.run("CREATE UNIQUE INDEX u ON t(a)");
    await db.run("INSERT INTO t SELECT * FROM range(100)");
    const versions: string[] = await db.column("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')");
    for (const [limit, value] of [
      [10, 1],
      [0, 2],
      [10, 3],
    ] as const) {
      await db.run(`CALL lake.set_option('data_inlining_row_limit', ${limit})`);
      await db.run(`DELETE FROM t WHERE a = ${value}`);
      versions.push(...(await db.column("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')")));
    }
    const counts = async (): Promise<string[]> => {
      const all: string[] = [];
      for (const version of versions)
        all.push(...(await db.column(`SELECT count(*) FROM t AT (VERSION => ${version})`)));
      return all;
    };
    expect(await counts()).toEqual(["100", "99", "98", "97"]);
    await db.run("CALL ducklake_flush_inlined_data('lake')");
    expect(await counts()).toEqual(["100", "99", "98", "97"]);
    expect(await lookup("t", "u", "1")).toEqual([]);
    expect(await lookup("t", "u", "4")).toEqual(["4"]);
  },
);

it.skipIf(!extensionAvailable)(
  "an index follows rows to which merging sorted files gives each other's ids",
  async () => {
    await db.run("CREATE TABLE t(a BIGINT)");
    await db.run("CREATE UNIQUE INDEX u ON t(a)");
    await db.run("CALL lake.set_option('data_inlining_row_limit', 0)");
    await db.run("INSERT INTO t VALUES (5), (3); INSERT INTO t VALUES (4), (2)");
    await db.run("ALTER TABLE t SET SORTED BY (a ASC)");
    await db.run("CALL ducklake_merge_adjacent_files('lake')");
    for (const value of ["2", "3", "4", "5"]) {
      expect(await lookup("t", "u", value)).toEqual(await db.column(`SELECT rowid FROM t WHERE a = ${value}`));
    }
  },
);

describe.skipIf(!extensionAvailable)("a prepared read never serves what it found before (duckdb#23704)", () => {
  it.each([
    ["an insert", "INSERT INTO t VALUES (7)", "1"],
    ["an insert and a flush", "INSERT INTO t VALUES (7); CALL ducklake_flush_inlined_data('lake')", "1"],
    ["an index that was made again", "INSERT INTO t VALUES (7); DROP INDEX u; CREATE INDEX u ON t(a)", "1"],
  ])("%s", async (_, change, count) => {
    await db.run("CREATE TABLE t(a BIGINT)");
    await db.run("CREATE INDEX u ON t(a)");
    const prepared = await db.connection.prepare(
      "SELECT count(*) FROM t WHERE rowid IN (SELECT row_id FROM moraine_index_lookup('lake', 'main', 't', 'u', 7))",
    );
    const run = async (): Promise<string> => String((await prepared.runAndReadAll()).getRows()[0]?.[0]);
    expect(await run()).toBe("0");
    await db.run(change);
    expect(await run()).toBe(count);
    await db.run("DELETE FROM t");
    expect(await run()).toBe("0");
    prepared.destroySync();
  });
});
