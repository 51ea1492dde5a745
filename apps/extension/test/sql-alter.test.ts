// Indexes follow their columns, tables and schemas by identity, and what would leave them without a meaning is refused.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestLake, type TestDuckDb } from "./support/duckdb.js";
import { expectIndex, rowIds } from "./support/expect-index.js";

let db: TestDuckDb;

beforeAll(async () => {
  if (extensionAvailable) db = await openTestLake();
});
afterAll(async () => {
  if (extensionAvailable) await db.close();
});

const indexes = async (table: string, schema = "main"): Promise<string[]> =>
  await db.column(`SELECT index_name FROM moraine_indexes('lake', '${schema}', '${table}') ORDER BY 1`);

describe.skipIf(!extensionAvailable)("a column that an index covers", () => {
  beforeAll(async () => {
    await db.run(`CREATE TABLE t(a INTEGER, b VARCHAR, c DOUBLE);
      INSERT INTO t VALUES (1, 'x', 1.5), (2, 'y', NULL);
      INSERT INTO t SELECT i, 'v' || i, i / 2 FROM range(10, 60) r(i);
      CREATE INDEX ia ON t(a); CREATE UNIQUE INDEX ubc ON t(b, c)`);
  });

  it.each([
    ["DROP COLUMN a", 'column "a" is dropped, and index "ia" covers it'],
    ["DROP COLUMN c", 'column "c" is dropped, and index "ubc" covers it'],
    ["ALTER COLUMN a TYPE BIGINT", 'column "a" is given another type, and index "ia" covers it'],
  ])("cannot be changed by ALTER TABLE t %s", async (change, message) => {
    expect(await db.failure(`ALTER TABLE t ${change}`)).toContain(message);
    await db.run(`BEGIN; INSERT INTO t VALUES (99, 'lost', 0); ALTER TABLE t ${change}`);
    expect(await db.failure("COMMIT")).toContain(message);
    await expectIndex(db, "ia", "t", ["a"]);
    await expectIndex(db, "ubc", "t", ["b", "c"]);
  });

  it("can take another name, and leave its own to a new column (hudi#10955)", async () => {
    await db.run("ALTER TABLE t RENAME a TO was_a; ALTER TABLE t ADD COLUMN a INTEGER DEFAULT 7");
    await db.run("INSERT INTO t VALUES (500, 'new', 5, 1), (1, 'both', 6, 500)");
    await expectIndex(db, "ia", "t", ["was_a"]);
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'ia', 500)")).toEqual(
      await db.column("SELECT rowid FROM t WHERE was_a = 500"),
    );
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'ia', 7)")).toEqual([]);
    await db.run("CREATE INDEX second ON t(a)");
    await expectIndex(db, "second", "t", ["a"]);
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'second', 7)")).toHaveLength(52);
    await db.run("DROP INDEX second; ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a INTEGER");
    await db.run("ALTER TABLE t DROP COLUMN a; ALTER TABLE t RENAME was_a TO a");
    await expectIndex(db, "ia", "t", ["a"]);
  });

  it("can be given a default, a comment and NOT NULL", async () => {
    await db.run(`ALTER TABLE t ALTER COLUMN a SET DEFAULT 5; COMMENT ON COLUMN t.a IS 'indexed';
      ALTER TABLE t ALTER COLUMN a SET NOT NULL; INSERT INTO t(b, c) VALUES ('by default', 1);
      ALTER TABLE t ALTER COLUMN a DROP NOT NULL; INSERT INTO t VALUES (NULL, 'null', 1)`);
    await expectIndex(db, "ia", "t", ["a"]);
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'ia', 5)")).toHaveLength(1);
  });

  it("is free again without the index", async () => {
    // Stock DuckLake fails to read inlined rows of a column whose type was changed since.
    await db.run("CALL ducklake_flush_inlined_data('lake')");
    await db.run("DROP INDEX ia; ALTER TABLE t ALTER COLUMN a TYPE BIGINT; CREATE INDEX ia ON t(a)");
    await expectIndex(db, "ia", "t", ["a"]);
    await db.run("DROP INDEX ia; ALTER TABLE t DROP COLUMN a");
    await expectIndex(db, "ubc", "t", ["b", "c"]);
    expect(await indexes("t")).toEqual(["ubc"]);
  });

  it("that is newer than a file has the value there that it was added with", async () => {
    await db.run("CREATE TABLE grown(a INTEGER); INSERT INTO grown SELECT * FROM range(100)");
    await db.run("ALTER TABLE grown ADD COLUMN b VARCHAR DEFAULT 'first'; INSERT INTO grown VALUES (100, 'own')");
    await db.run("ALTER TABLE grown ALTER COLUMN b SET DEFAULT 'second'; INSERT INTO grown(a) VALUES (101)");
    await db.run("CREATE INDEX ib ON grown(b, a)");
    await expectIndex(db, "ib", "grown", ["b", "a"]);
    expect(await rowIds(db, "range('lake', 'main', 'grown', 'ib', 'first', 'first', true, true)")).toHaveLength(100);
    await db.run("DELETE FROM grown WHERE a < 50; UPDATE grown SET b = 'third' WHERE a < 60");
    await expectIndex(db, "ib", "grown", ["b", "a"]);
  });
});

describe.skipIf(!extensionAvailable)("a table with indexes", () => {
  it("may change its other columns, nested ones too", async () => {
    await db.run(`CREATE TABLE nested(s STRUCT(x INTEGER, y VARCHAR), l INTEGER[], a BIGINT, m MAP(VARCHAR, INTEGER), b VARCHAR);
      CREATE INDEX na ON nested(a); CREATE INDEX nba ON nested(b, a)`);
    const file = (s: string, range: string): string =>
      `INSERT INTO nested SELECT ${s}, [i, i], i, MAP {'k': i}, 'b' || i % 9 FROM range(${range}) r(i)`;
    for (const statement of [
      file("{'x': i, 'y': 'y'}", "0, 50"),
      "INSERT INTO nested VALUES ({'x': 1, 'y': 'y'}, [1], 500, MAP {'k': 1}, 'inlined')",
      "ALTER TABLE nested ADD COLUMN s.z DOUBLE",
      file("{'x': i, 'y': 'y', 'z': 1.5}", "50, 100"),
      "ALTER TABLE nested DROP COLUMN s.x",
      "INSERT INTO nested VALUES ({'y': 'y', 'z': 2}, [1], 501, MAP {'k': 1}, 'inlined')",
      "ALTER TABLE nested DROP COLUMN l",
      "ALTER TABLE nested ADD COLUMN w STRUCT(k INTEGER)",
      "UPDATE nested SET a = a + 1000 WHERE a % 3 = 0",
      "DELETE FROM nested WHERE a % 4 = 1",
      "CALL ducklake_flush_inlined_data('lake'); CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    ]) {
      await db.run(statement);
      await expectIndex(db, "na", "nested", ["a"]);
      await expectIndex(db, "nba", "nested", ["b", "a"]);
    }
  });

  it("keeps them under another name", async () => {
    await db.run("CREATE TABLE named(a INTEGER); INSERT INTO named VALUES (1); CREATE UNIQUE INDEX iname ON named(a)");
    await db.run("ALTER TABLE named RENAME TO renamed; CREATE TABLE named(a INTEGER)");
    expect([await indexes("renamed"), await indexes("named")]).toEqual([["iname"], []]);
    expect(await db.failure("INSERT INTO renamed VALUES (1)")).toContain("claims a value");
    await db.run("INSERT INTO named VALUES (1), (1)");
  });

  it("takes them with it when it is dropped, replaced or made again", async () => {
    await db.run("CREATE TABLE gone(a INTEGER); INSERT INTO gone VALUES (1); CREATE UNIQUE INDEX igone ON gone(a)");
    await db.run("BEGIN; DROP TABLE gone; CREATE TABLE gone(a INTEGER); INSERT INTO gone VALUES (1), (1); COMMIT");
    expect(await indexes("gone")).toEqual([]);
    await db.run("CREATE INDEX igone ON gone(a)");
    await expectIndex(db, "igone", "gone", ["a"]);
    await db.run("CREATE OR REPLACE TABLE gone AS SELECT 5 AS a, 6 AS b");
    expect(await indexes("gone")).toEqual([]);
    await db.run("CREATE INDEX igone ON gone(b); DROP TABLE gone");
    expect(await db.failure("DROP INDEX igone")).toContain("not found");
  });

  it("is left as it was by a transaction that is rolled back", async () => {
    await db.run("CREATE TABLE kept(a INTEGER); INSERT INTO kept VALUES (1); CREATE UNIQUE INDEX ikept ON kept(a)");
    await db.run("BEGIN; DELETE FROM kept; DROP TABLE kept; ROLLBACK");
    await db.run("BEGIN; INSERT INTO kept SELECT * FROM range(1000); ROLLBACK");
    await expectIndex(db, "ikept", "kept", ["a"]);
    expect(await rowIds(db, "lookup('lake', 'main', 'kept', 'ikept', 1)")).toEqual(["0"]);
  });
});

describe.skipIf(!extensionAvailable)("names of indexes", () => {
  it("are those of a schema", async () => {
    await db.run("CREATE SCHEMA one; CREATE SCHEMA two");
    await db.run(
      "CREATE TABLE one.t(a INTEGER); CREATE TABLE one.u(a INTEGER); CREATE TABLE two.t(a INTEGER, b INTEGER)",
    );
    await db.run("CREATE INDEX i ON one.t(a); CREATE INDEX i ON two.t(b)");
    expect(await db.failure("CREATE INDEX i ON one.u(a)")).toContain("already exists");
    await db.run("CREATE UNIQUE INDEX IF NOT EXISTS i ON one.u(a)");
    expect([await indexes("t", "one"), await indexes("u", "one"), await indexes("t", "two")]).toEqual([
      ["i"],
      [],
      ["i"],
    ]);
    await db.run("DROP INDEX one.i; CREATE UNIQUE INDEX i ON one.u(a)");
    expect([await indexes("t", "one"), await indexes("u", "one"), await indexes("t", "two")]).toEqual([
      [],
      ["i"],
      ["i"],
    ]);
  });

  it("go with their schema", async () => {
    await db.run("CREATE SCHEMA s; CREATE TABLE s.t(a INTEGER); CREATE TABLE s.u(a INTEGER)");
    await db.run("INSERT INTO s.t VALUES (1); INSERT INTO s.u SELECT * FROM range(100)");
    await db.run("CREATE UNIQUE INDEX i ON s.t(a); CREATE INDEX j ON s.u(a)");
    expect(await db.failure("DROP SCHEMA s")).toContain("depend");
    expect(await indexes("u", "s")).toEqual(["j"]);
    await db.run("DROP SCHEMA s CASCADE");
    expect(await db.failure("FROM moraine_indexes('lake', 's', 't')")).toContain('schema "s"');
    await db.run("CREATE SCHEMA s; CREATE TABLE s.t(a INTEGER); INSERT INTO s.t VALUES (1), (1)");
    expect(await indexes("t", "s")).toEqual([]);
    await db.run("CREATE INDEX i ON s.t(a)");
    await expectIndex(db, "i", "t", ["a"], "s");
  });
});
