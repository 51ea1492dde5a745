// A lake that is made without DATA_PATH keeps its files beside the store, as it does beside a file of DuckDB.
import { existsSync, readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";

let db: TestDuckDb;

beforeEach(async () => {
  db = await openTestDuckDb();
});
afterEach(async () => {
  await db.close();
});

const dataPath = async (): Promise<string[]> =>
  await db.column("SELECT value FROM __ducklake_metadata_lake.ducklake_metadata WHERE key = 'data_path'");

it.skipIf(!extensionAvailable).each([
  ["a path", ""],
  ["a path that ends in a slash", "/"],
])("%s", async (_, end) => {
  const attach = `ATTACH 'ducklake:moraine:${db.path("store")}${end}' AS lake`;
  await db.run(attach);
  expect(await dataPath()).toEqual([`${db.path("store")}.files/`]);
  await db.run("CREATE TABLE lake.t AS SELECT i FROM range(1000) r(i)");
  expect(await db.column(`SELECT count(*) FROM glob('${db.path("store")}.files/**/*.parquet')`)).toEqual(["1"]);
  expect(existsSync(db.path(":memory:.files"))).toBe(false);
  await db.run(`DETACH lake; ${attach}`);
  expect(await db.column("SELECT sum(i) FROM lake.t")).toEqual(["499500"]);
});

it.skipIf(!extensionAvailable)("storage that named the store's path is in memory still", async () => {
  await db.run(`ATTACH 'ducklake:moraine:${db.path("store")}' AS lake`);
  // By a directly made table, what is written after it, and what asks for paths and sizes.
  await db.run("CREATE TABLE lake.t(a BIGINT, b VARCHAR[]); INSERT INTO lake.t VALUES (1, ['x'])");
  await db.run("CHECKPOINT __ducklake_metadata_lake; CALL lake.set_option('data_inlining_row_limit', 0)");
  await db.run("INSERT INTO lake.t SELECT i, [] FROM range(10) r(i); CALL ducklake_flush_inlined_data('lake')");
  const sizes = await db.column(
    "SELECT wal_size FROM pragma_database_size() WHERE database_name LIKE '%metadata_lake'",
  );
  expect(sizes).toEqual(["0 bytes"]);
  await db.run("DETACH lake");
  expect(readdirSync(db.folder).sort()).toEqual(["run", "store", "store.files"]);
});

it.skipIf(!extensionAvailable)(
  "a data path that is given counts, and an attach that is rolled back leaves the database usable",
  async () => {
    await db.attach();
    expect(await dataPath()).toEqual([`${db.path("store-data")}/`]);
    await db.run("DETACH lake");
    const attach = `ATTACH 'ducklake:moraine:${db.path("other")}' AS lake`;
    await db.run(`BEGIN; ${attach}`);
    await db.run("ROLLBACK");
    await db.run("DETACH DATABASE IF EXISTS lake");
    await db.run(attach);
    expect(await dataPath()).toEqual([`${db.path("other")}.files/`]);
  },
);
