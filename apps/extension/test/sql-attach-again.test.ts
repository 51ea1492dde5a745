// A lake whose metadata is remembered by the service, which has changed since: a new client begins with what is remembered.
import { afterEach, beforeEach, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";
import { expectIndex, rowIds } from "./support/expect-index.js";

let db: TestDuckDb;

beforeEach(async () => {
  db = await openTestDuckDb();
});
afterEach(async () => db.close());

/** Changes of every kind: rows, files, columns, tables that go, come and come again. */
async function change(): Promise<void> {
  await db.run(`INSERT INTO lake.t VALUES (100, 'inlined'); DELETE FROM lake.t WHERE a = 1;
    INSERT INTO lake.t SELECT i, 'file' FROM range(200, 300) r(i); UPDATE lake.t SET b = 'new' WHERE a = 250;
    ALTER TABLE lake.t ADD COLUMN c INTEGER DEFAULT 7; INSERT INTO lake.t VALUES (400, 'wide', 8);
    DROP TABLE lake.gone; CREATE TABLE lake.gone(b VARCHAR); INSERT INTO lake.gone VALUES ('came again')`);
}

async function expectChanged(): Promise<void> {
  const sums = "SELECT count(*), sum(a), sum(c), count(*) FILTER (b = 'new') FROM lake.t";
  expect(await db.rows(sums)).toEqual([["111", "25494", "778", "1"]]);
  expect(await db.column("FROM lake.gone")).toEqual(["came again"]);
  expect(await rowIds(db, "lookup('lake', 'main', 't', 'u', 400)")).toHaveLength(1);
  await expectIndex(db, "u", "t", ["a"]);
}

it.skipIf(!extensionAvailable).each([false, true])(
  "is what it is by now to who attaches again, with another one attached: %s",
  async (isAccompanied) => {
    await db.attach();
    // Small loads are rendered anew.
    await db.run(`CREATE TABLE lake.t(a BIGINT, b VARCHAR); COMMENT ON TABLE lake.t IS '${"x".repeat(300_000)}';
      CREATE UNIQUE INDEX u ON lake.t(a); INSERT INTO lake.t SELECT i, 'r' FROM range(10) r(i);
      CREATE TABLE lake.gone(a BIGINT)`);
    if (isAccompanied) await db.attach("other");
    await db.run("DETACH lake");
    await db.attach();
    await change();
    await expectChanged();
    await db.run("DETACH lake");
    await db.attach();
    await expectChanged();
    await db.run("DETACH lake");
    await db.attach();
    // The first that the new copy is asked for is a change of its own.
    await db.run("INSERT INTO lake.t VALUES (500, 'more', 1)");
    expect(await db.failure("INSERT INTO lake.t VALUES (400, 'again', 1)")).toContain("claims a value");
    expect(await db.column("SELECT count(*) FROM lake.t")).toEqual(["112"]);
  },
);
