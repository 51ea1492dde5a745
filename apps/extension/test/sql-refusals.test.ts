// What an index refuses in SQL, it refuses for good: at once, without DuckLake's repeating it, and with nothing left behind.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";
import { expectIndex } from "./support/expect-index.js";

/** What makes DuckLake repeat a commit: ten times, for 4 s at least. */
const retryWords = /conflict|concurrent|unique|primary key/iu;
const promptMs = 3000;
/** Every name that a message could quote holds one of the words. */
const store = "unique conflict";
const table = '"primary key"."concurrent"';

let db: TestDuckDb;

beforeAll(async () => {
  if (!extensionAvailable) return;
  db = await openTestDuckDb();
  await db.attach("lake", store);
  await db.run(`USE lake; CREATE SCHEMA "primary key"; CREATE TABLE ${table}("unique" INTEGER, "conflict" VARCHAR);
    CREATE UNIQUE INDEX "primary key" ON ${table}("unique");
    CREATE INDEX "CONCURRENT" ON ${table}("conflict", "unique");
    INSERT INTO ${table} VALUES (1, 'conflict'), (2, 'primary key');
    INSERT INTO ${table} SELECT i, 'unique ' || i FROM range(100, 200) r(i)`);
});
afterAll(async () => {
  if (extensionAvailable) await db.close();
});

const dataFiles = (): string[] =>
  (readdirSync(db.path(`${store}-data`), { recursive: true }) as string[]).filter((name) => name.endsWith(".parquet"));
const state = async (): Promise<string[][]> => [await db.column(`SELECT count(*) FROM ${table}`), dataFiles()];

async function expectRefused(sql: string, message: string): Promise<void> {
  const before = await state();
  const beganMs = performance.now();
  const said = await db.failure(sql);
  expect(performance.now() - beganMs).toBeLessThan(promptMs);
  expect(said).toContain(message);
  expect(said).not.toMatch(retryWords);
  expect(await state()).toEqual(before);
}

describe.skipIf(!extensionAvailable)("refused at once, with nothing left behind", () => {
  it.each([
    ["a value twice, inlined", `INSERT INTO ${table} VALUES (1, 'again')`, "claims a value"],
    ["a value twice, in a file", `INSERT INTO ${table} SELECT i, 'x' FROM range(1000) r(i)`, "claims a value"],
    ["one file with a value twice", `INSERT INTO ${table} SELECT 500 + i % 99, 'x' FROM range(100) r(i)`, "claims a"],
    ["an update of a row", `UPDATE ${table} SET "unique" = 2 WHERE "unique" = 1`, "claims a value"],
    ["an update of many", `UPDATE ${table} SET "unique" = 7 WHERE "unique" >= 100`, "claims a value"],
    [
      "a merge",
      `MERGE INTO ${table} t USING (SELECT 1 AS i) s ON false WHEN NOT MATCHED THEN INSERT VALUES (i, 'x')`,
      "claims a value",
    ],
    ["a key that is too long", `INSERT INTO ${table} VALUES (3, repeat('unique conflict', 1000))`, "1024-byte limit"],
    ["one in a file", `INSERT INTO ${table} SELECT 900 + i, repeat('conflict', 1000) FROM range(20) r(i)`, "1024-byte"],
    ["a column that goes", `ALTER TABLE ${table} DROP COLUMN "unique"`, "is dropped, and index"],
    ["a column's type", `ALTER TABLE ${table} ALTER COLUMN "unique" TYPE BIGINT`, "is given another type, and index"],
    ["an index that is there", `CREATE INDEX "CONCURRENT" ON ${table}("conflict")`, "already exists"],
    ["an index that is not there", `DROP INDEX "primary key"."unique"`, "not found: index"],
  ])("%s", async (_, sql, message) => {
    await expectRefused(sql, message);
  });

  it("files beside inlined rows, in one transaction", async () => {
    const before = await state();
    await db.run(`BEGIN; INSERT INTO ${table} SELECT i, 'x' FROM range(3000, 4000) r(i);
      INSERT INTO ${table} VALUES (3500, 'x')`);
    const said = await db.failure("COMMIT");
    expect(said).toContain("claims a value");
    expect(said).not.toMatch(retryWords);
    expect(await state()).toEqual(before);
  });

  it("a transaction whose other tables are not indexed, as a whole", async () => {
    await db.run("CREATE TABLE other(a INTEGER)");
    await db.run(`BEGIN; INSERT INTO other VALUES (1); INSERT INTO ${table} VALUES (1, 'x')`);
    expect(await db.failure("COMMIT")).toContain("claims a value");
    expect(await db.column("SELECT count(*) FROM other")).toEqual(["0"]);
  });
});

describe.skipIf(!extensionAvailable)("a file that cannot be read fails the commit that brings it", () => {
  it.each([
    ["is gone", (file: string) => rmSync(file), "not found:"],
    ["is none of Parquet", (file: string) => writeFileSync(file, "nothing of the kind"), "data file:"],
  ])("because it %s", async (_, damage, message) => {
    const before = new Set(dataFiles());
    const [count] = await state();
    await db.run(`BEGIN; INSERT INTO ${table} SELECT i, 'x' FROM range(5000, 6000) r(i)`);
    const made = dataFiles().filter((name) => !before.has(name));
    expect(made).toHaveLength(1);
    for (const name of made) damage(join(db.path(`${store}-data`), name));
    const beganMs = performance.now();
    const said = await db.failure("COMMIT");
    expect(performance.now() - beganMs).toBeLessThan(promptMs);
    expect(said).toContain(message);
    expect(said).not.toMatch(retryWords);
    expect((await state())[0]).toEqual(count);
    await db.run(`INSERT INTO ${table} VALUES (5000, 'afterwards'); DELETE FROM ${table} WHERE "unique" = 5000`);
  });
});

describe.skipIf(!extensionAvailable)("an option of CREATE INDEX", () => {
  it.each([
    ["STAGED", "the option staged of CREATE INDEX in this version"],
    ["staged = 'true'", "the option staged of CREATE INDEX in this version"],
    ["step_entries = 100000", "the option step_entries of CREATE INDEX in this version"],
    ["step_entries = 0", "step_entries of CREATE INDEX must be a positive whole number"],
    ["step_bytes = 1000", "the option step_bytes of CREATE INDEX in this version"],
    ["maintenance = 'deferred'", "the option maintenance = 'deferred' of CREATE INDEX in this version"],
    ["maintenance = 'sometimes'", "maintenance of CREATE INDEX must be synchronous or deferred"],
    ["directions = '[desc]'", "directions of CREATE INDEX must be a list of 2"],
    ["directions = '[desc, up]'", "directions of CREATE INDEX must be asc or desc"],
    ["nulls = '[first, null]'", "nulls of CREATE INDEX must be first or last"],
    ["colour = 'red'", 'an index has no option "colour"'],
  ])("%s is refused by its name", async (option, message) => {
    await db.run('CREATE TABLE IF NOT EXISTS lake."primary key".plain(a INTEGER, b INTEGER)');
    expect(await db.failure(`CREATE INDEX i ON "primary key".plain(a, b) WITH (${option})`)).toContain(message);
    expect(await db.rows("FROM moraine_indexes('lake', 'primary key', 'plain')")).toEqual([]);
  });
});

it.skipIf(!extensionAvailable)("a refused index leaves no definition", async () => {
  await db.run("CREATE TABLE twice(a INTEGER); INSERT INTO twice SELECT i % 50 FROM range(100) r(i)");
  await db.run("INSERT INTO twice VALUES (1000), (1000)");
  const said = await db.failure("CREATE UNIQUE INDEX u ON twice(a)");
  expect(said).toContain("claims a value");
  expect(said).not.toMatch(retryWords);
  expect(await db.rows("FROM moraine_indexes('lake', 'main', 'twice')")).toEqual([]);
  await db.run("INSERT INTO twice VALUES (1); CREATE INDEX u ON twice(a)");
  await expectIndex(db, "u", "twice", ["a"]);
});

it.skipIf(!extensionAvailable)("a folder whose path holds such words is named without them", async () => {
  const before = process.env["MORAINE_RUNTIME_DIR"];
  process.env["MORAINE_RUNTIME_DIR"] = db.path(`${"unique conflict ".repeat(8)}Primary Key`);
  try {
    const said = await db.failure(
      `ATTACH 'ducklake:moraine:${db.path("other")}' AS other (DATA_PATH '${db.path("d")}/')`,
    );
    expect(said).toContain("the socket's path");
    expect(said).toContain("P\u00b7rimary Key");
    expect(said).not.toMatch(retryWords);
  } finally {
    process.env["MORAINE_RUNTIME_DIR"] = before;
  }
});

it.skipIf(!extensionAvailable)("the indexes hold what the refusals left", async () => {
  await expectIndex(db, "primary key", "concurrent", ['"unique"'], "primary key");
  await expectIndex(db, "CONCURRENT", "concurrent", ['"conflict"', '"unique"'], "primary key");
});
