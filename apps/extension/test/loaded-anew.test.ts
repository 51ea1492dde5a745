// A copy of the metadata that is loaded anew, because the service that knew the way from the old one is gone.
import { onTestFinished, expect, it } from "vitest";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";
import { extensionAvailable } from "./support/available.js";
import { servicePids } from "../../../packages/duckdb-ext/test/services.js";

/** One lake under two names, each with a copy of its own. */
async function openTwice(): Promise<TestDuckDb> {
  const db = await openTestDuckDb();
  onTestFinished(() => db.close());
  await db.attach();
  await db.run(`ATTACH 'ducklake:moraine:${db.path("store")}' AS other`);
  return db;
}

const killService = (db: TestDuckDb): void => servicePids(db.folder).forEach((pid) => process.kill(pid, "SIGKILL"));

it.skipIf(!extensionAvailable)(
  "keeps tables of inlined rows that DuckLake remembers and another has flushed",
  async () => {
    const db = await openTwice();
    // The rows before and after the change lie in tables of their own, of which a flush drops the older.
    await db.run(`CREATE TABLE lake.t(a BIGINT); INSERT INTO lake.t VALUES (1);
      ALTER TABLE lake.t ADD COLUMN b VARCHAR DEFAULT 'one'; INSERT INTO lake.t VALUES (2, 'two')`);
    expect(await db.column("SELECT a FROM lake.t ORDER BY a")).toEqual(["1", "2"]);
    await db.run("CALL ducklake_flush_inlined_data('other')");
    killService(db);
    expect(await db.column("SELECT a FROM lake.t ORDER BY a")).toEqual(["1", "2"]);
    await db.run("INSERT INTO lake.t VALUES (3, 'three')");
    expect(await db.column("SELECT b FROM other.t ORDER BY a")).toEqual(["one", "two", "three"]);
    // Once more, with rows in the table that was kept.
    await db.run("INSERT INTO other.t VALUES (4, 'four')");
    killService(db);
    await db.run("DELETE FROM lake.t WHERE a = 1");
    for (const name of ["lake", "other"])
      expect(await db.column(`SELECT a FROM ${name}.t ORDER BY a`)).toEqual(["2", "3", "4"]);
  },
);

it.skipIf(!extensionAvailable)("takes a table of inlined rows as it is by then", async () => {
  const db = await openTwice();
  await db.run("CREATE TABLE lake.t(a BIGINT); INSERT INTO lake.t VALUES (1)");
  expect(await db.column("FROM lake.t")).toEqual(["1"]);
  await db.run(`CALL ducklake_flush_inlined_data('other'); ALTER TABLE other.t ADD COLUMN b VARCHAR DEFAULT 'new';
    INSERT INTO other.t VALUES (2, 'two')`);
  killService(db);
  expect(await db.rows("FROM lake.t ORDER BY a")).toEqual([
    ["1", "new"],
    ["2", "two"],
  ]);
  await db.run("DROP TABLE other.t; CREATE TABLE other.t(c VARCHAR); INSERT INTO other.t VALUES ('made anew')");
  killService(db);
  expect(await db.column("FROM lake.t")).toEqual(["made anew"]);
});
