// Two connections that write at once: one cut of the lake for each transaction, and no value twice whoever comes first.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";
import { expectIndex, rowIds } from "./support/expect-index.js";

let one: TestDuckDb;
let two: TestDuckDb;

beforeAll(async () => {
  if (!extensionAvailable) return;
  one = await openTestDuckDb();
  await one.attach();
  two = await one.connect();
  for (const db of [one, two]) await db.run("USE lake");
});
afterAll(async () => {
  if (!extensionAvailable) return;
  two.connection.closeSync();
  await one.close();
});
beforeEach(async () => {
  if (!extensionAvailable) return;
  await one.run("CREATE OR REPLACE TABLE t(a BIGINT, b VARCHAR); CREATE UNIQUE INDEX u ON t(a)");
  await one.run("INSERT INTO t VALUES (1, 'first'), (2, 'second')");
});

async function begun(first: string, second: string): Promise<void> {
  await one.run("BEGIN");
  await two.run("BEGIN");
  await one.run(first);
  await two.run(second);
  await one.run("COMMIT");
}

describe.skipIf(!extensionAvailable)("of two transactions", () => {
  it.each([
    ["inlined", "VALUES (7, 'one')", "VALUES (7, 'two')"],
    ["by files", "SELECT i, 'one' FROM range(100, 200) r(i)", "SELECT i, 'two' FROM range(199, 300) r(i)"],
    ["by a file and inlined", "SELECT i, 'one' FROM range(100, 200) r(i)", "VALUES (150, 'two')"],
  ])("that add a value, the second is refused for good, %s (ducklake#1393)", async (_, first, second) => {
    await begun(`INSERT INTO t ${first}`, `INSERT INTO t ${second}`);
    const beganMs = performance.now();
    const said = await two.failure("COMMIT");
    expect(said).toMatch(/claims a value that row \d+ holds, a row already indexed/u);
    expect(said).not.toMatch(/conflict|concurrent|unique|primary key/iu);
    expect(performance.now() - beganMs).toBeLessThan(3000);
    expect(await two.column("SELECT DISTINCT b FROM t WHERE a > 2")).toEqual(["one"]);
    await expectIndex(two, "u", "t", ["a"]);
  });

  it("that add other values, both land, with row ids of their own", async () => {
    await begun("INSERT INTO t VALUES (7, 'one')", "INSERT INTO t VALUES (8, 'two')");
    await two.run("COMMIT");
    await begun(
      "INSERT INTO t SELECT * FROM range(100, 150) r(i), (VALUES ('one'))",
      "INSERT INTO t VALUES (9, 'two')",
    );
    await two.run("COMMIT");
    expect(await one.column("SELECT count(DISTINCT rowid) FROM t")).toEqual(["55"]);
    await expectIndex(one, "u", "t", ["a"]);
  });

  it("that delete a row and add its value again, one lands", async () => {
    const again = (by: string): string => `DELETE FROM t WHERE a = 1; INSERT INTO t VALUES (1, '${by}')`;
    await begun(again("one"), again("two"));
    expect(await two.failure("COMMIT")).toContain("conflict");
    expect(await two.column("SELECT b FROM t WHERE a = 1")).toEqual(["one"]);
    await two.run(again("two, later"));
    expect(await one.column("SELECT b FROM t WHERE a = 1")).toEqual(["two, later"]);
    await expectIndex(two, "u", "t", ["a"]);
  });

  it("one that deletes nothing and adds a value loses it to the other (ducklake#1393)", async () => {
    const upsert = (by: string): string => `DELETE FROM t WHERE a = 7; INSERT INTO t VALUES (7, '${by}')`;
    await begun(upsert("one"), upsert("two"));
    expect(await two.failure("COMMIT")).toMatch(/claims a value|conflict/u);
    await two.run(upsert("two"));
    expect(await one.rows("FROM t WHERE a = 7")).toEqual([["7", "two"]]);
  });
});

describe.skipIf(!extensionAvailable)("a transaction that reads", () => {
  it("hinders nobody from taking a value that was given up (duckdb#20119)", async () => {
    const read = "SELECT row_id FROM moraine_index_lookup('lake', 'main', 't', 'u', 2)";
    await one.run("BEGIN");
    const before = await one.column(read);
    await two.run("DELETE FROM t WHERE a = 2");
    expect(await two.column(read)).toEqual([]);
    await two.run("INSERT INTO t VALUES (2, 'anew')");
    expect(await two.column(read)).toEqual(["2"]);
    expect(await one.column(read)).toEqual(before);
    expect(await one.column("SELECT b FROM t WHERE a = 2")).toEqual(["second"]);
    await one.run("COMMIT");
    expect(await one.column(read)).toEqual(["2"]);
  });

  it("finds in an index what was committed before it, not what it has done itself", async () => {
    await one.run("BEGIN; INSERT INTO t VALUES (7, 'own'); DELETE FROM t WHERE a = 1");
    expect(await rowIds(one, "in('lake', 'main', 't', 'u', [1, 2, 7])")).toEqual(["0", "1"]);
    // The join sees its own deletes, as DuckLake does.
    const joined = `SELECT a FROM t JOIN moraine_index_in('lake', 'main', 't', 'u', [1, 2, 7]) i ON t.rowid = i.row_id`;
    expect(await one.column(joined)).toEqual(["2"]);
    await one.run("COMMIT");
    expect(await rowIds(one, "in('lake', 'main', 't', 'u', [1, 2, 7])")).toEqual(["1", "2"]);
  });
});

describe.skipIf(!extensionAvailable)("an index that is made while a transaction is under way", () => {
  it("has its rows, or the transaction is told", async () => {
    await one.run("BEGIN; INSERT INTO t VALUES (7, 'before')");
    await two.run("CREATE INDEX late ON t(b)");
    expect(await one.failure("COMMIT")).toContain("conflict");
    await one.run("INSERT INTO t VALUES (7, 'after')");
    await expectIndex(one, "late", "t", ["b"]);
    await one.run("BEGIN; INSERT INTO t SELECT i, 'file' FROM range(100, 200) r(i)");
    await two.run("DROP INDEX late");
    expect(await one.failure("COMMIT")).toContain("conflict");
    await expectIndex(one, "u", "t", ["a"]);
  });

  it("goes with a table that the transaction drops", async () => {
    await one.run("BEGIN; DROP TABLE t");
    await two.run("CREATE INDEX late ON t(b)");
    await one.connection.run("COMMIT").catch(async (error: unknown) => {
      expect(String(error)).toContain("conflict");
      await one.run("DROP TABLE t");
    });
    await two.run("CREATE TABLE t(b VARCHAR); CREATE INDEX late ON t(b)");
    expect(await two.column("SELECT index_name FROM moraine_indexes('lake', 'main', 't')")).toEqual(["late"]);
  });

  it("is made beside another one, and beside rows that come meanwhile", async () => {
    await one.run("INSERT INTO t SELECT i, 'value ' || i FROM range(10, 20000) r(i)");
    await Promise.all([one.run("CREATE INDEX first ON t(b)"), two.run("CREATE INDEX second ON t(b, a)")]);
    const made = one.run("CREATE INDEX third ON t(b) WITH (directions = '[desc]')").then(() => "made");
    let added = 0;
    for (let at = 0; at < 3; at++) {
      // One of the two is always told, by DuckLake or not at all.
      added += await two.run(`INSERT INTO t VALUES (${-at - 1}, 'meanwhile')`).then(
        () => 1,
        (error: unknown) => (expect(String(error)).toContain("conflict"), 0),
      );
    }
    expect(await made).toBe("made");
    expect(await two.column("SELECT count(*) FROM t WHERE a < 0")).toEqual([`${added}`]);
    for (const index of ["first", "third"]) await expectIndex(two, index, "t", ["b"]);
    await expectIndex(two, "second", "t", ["b", "a"]);
  });

  it("is no hindrance to transactions on other tables", async () => {
    await one.run("CREATE OR REPLACE TABLE other(a INTEGER)");
    await one.run("BEGIN; INSERT INTO other VALUES (1)");
    await two.run("CREATE INDEX late ON t(b)");
    await one.run("COMMIT");
    expect(await two.column("FROM other")).toEqual(["1"]);
  });
});

it.skipIf(!extensionAvailable)("rows are there once when a flush runs beside inserts (ducklake#650)", async () => {
  const insert = async (): Promise<void> => {
    for (let a = 10; a < 30; a++) await one.run(`INSERT INTO t VALUES (${a}, 'row ' || ${a})`);
  };
  const flush = async (): Promise<void> => {
    for (let round = 0; round < 6; round++) await two.run("CALL ducklake_flush_inlined_data('lake')");
  };
  await Promise.all([insert(), flush()]);
  expect(await one.column("SELECT a FROM t ORDER BY a")).toEqual(
    [1, 2, ...Array.from({ length: 20 }, (_, at) => at + 10)].map(String),
  );
  await expectIndex(one, "u", "t", ["a"]);
});
