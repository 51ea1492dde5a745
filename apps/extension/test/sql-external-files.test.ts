// Files that others wrote, added to indexed tables: read as DuckLake reads them, by their recorded mapping of names.
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

async function write(name: string, query: string, options = ""): Promise<string> {
  const path = db.path(name);
  await db.run(`COPY (${query}) TO '${path}' (FORMAT parquet${options})`);
  return path;
}
const add = (table: string, path: string, options = ""): string =>
  `CALL ducklake_add_data_files('lake', '${table}', '${path}'${options})`;
const maintenance = [
  "CALL ducklake_flush_inlined_data('lake')",
  "CALL ducklake_merge_adjacent_files('lake')",
  "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
];

describe.skipIf(!extensionAvailable)("files of other columns", () => {
  beforeAll(async () => {
    await db.run(
      "CREATE TABLE t(id BIGINT, name VARCHAR DEFAULT 'none', nested STRUCT(x INTEGER, y VARCHAR), day DATE)",
    );
    await db.run("CREATE UNIQUE INDEX by_id ON t(id); CREATE INDEX by_name ON t(name, day)");
  });
  const nested = "{'x': 1, 'y': 'y'} AS nested";
  const all = async (): Promise<void> => {
    await expectIndex(db, "by_id", "t", ["id"]);
    await expectIndex(db, "by_name", "t", ["name", "day"]);
  };

  it.each([
    ["the same", `SELECT i AS id, 'n' || i AS name, ${nested}, DATE '2020-01-01' AS day FROM range(0, 5) r(i)`, ""],
    [
      "in another order",
      `SELECT DATE '2020-01-02' AS day, ${nested}, 'n' || i AS name, i AS id FROM range(5, 10) r(i)`,
      "",
    ],
    [
      "in other cases",
      `SELECT i AS "ID", 'n' || i AS "Name", ${nested}, DATE '2020-01-03' AS "Day" FROM range(10, 15) r(i)`,
      "",
    ],
    [
      "more",
      `SELECT 5 AS more, i AS id, 'n' AS name, ${nested}, NULL::DATE AS day FROM range(15, 20) r(i)`,
      ", ignore_extra_columns => true",
    ],
    ["less", "SELECT i AS id FROM range(20, 25) r(i)", ", allow_missing => true"],
    [
      "of narrower types",
      `SELECT i::SMALLINT AS id, 'n' || i AS name, ${nested}, DATE '2020-01-04' AS day FROM range(25, 30) r(i)`,
      "",
    ],
  ])("%s", async (name, query, options) => {
    const before = (await db.column("SELECT count(*) FROM t"))[0];
    await db.run(add("t", await write(`${name}.parquet`, query), options));
    expect(await db.column(`SELECT count(*) - ${before} FROM t`)).toEqual(["5"]);
    await all();
  });

  it("are refused where a value is there, whatever the file calls its column", async () => {
    const path = await write("double.parquet", `SELECT 3 AS "ID"`);
    expect(await db.failure(add("t", path, ", allow_missing => true"))).toContain("claims a value");
    await all();
  });

  it("are found under the table's newer names", async () => {
    await db.run("ALTER TABLE t RENAME id TO number; ALTER TABLE t ADD COLUMN id BIGINT");
    await db.run("CREATE INDEX again ON t(number, name)");
    await expectIndex(db, "again", "t", ["number", "name"]);
    await db.run("DROP INDEX again; ALTER TABLE t DROP COLUMN id; ALTER TABLE t RENAME number TO id");
    await all();
  });

  it("have their rows deleted, updated and moved", async () => {
    await db.run("DELETE FROM t WHERE id % 5 = 1");
    await all();
    await db.run("UPDATE t SET id = id + 1000, name = 'moved' WHERE id % 5 = 2");
    await all();
    for (const statement of maintenance) {
      await db.run(statement);
      await all();
    }
    await db.run("DELETE FROM t WHERE id % 5 = 3; INSERT INTO t(id) SELECT * FROM range(40, 60)");
    await all();
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'by_id', 3)")).toEqual([]);
  });

  it("are indexed when they have been moved", async () => {
    await db.run("CREATE UNIQUE INDEX late ON t(id, name)");
    await expectIndex(db, "late", "t", ["id", "name"]);
  });
});

describe.skipIf(!extensionAvailable)("columns that stand in a file's folders", () => {
  const values = `SELECT i AS id, (2020 + i % 3)::VARCHAR AS year,
    CASE WHEN i % 5 = 0 THEN NULL ELSE 'r /=%' || (i % 2) END AS region FROM range(40) r(i)`;

  it("are indexed by the values that DuckLake reads there", async () => {
    await write("hive", values, ", PARTITION_BY (year, region)");
    await db.run("CREATE TABLE hive(id BIGINT, year INTEGER, region VARCHAR)");
    await db.run("CREATE UNIQUE INDEX year_id ON hive(year, id); CREATE INDEX region ON hive(region)");
    await db.run(add("hive", `${db.path("hive")}/*/*/*.parquet`, ", hive_partitioning => true"));
    await db.run("CREATE INDEX later ON hive(region, year)");
    const all = async (): Promise<void> => {
      await expectIndex(db, "year_id", "hive", ["year", "id"]);
      await expectIndex(db, "region", "hive", ["region"]);
      await expectIndex(db, "later", "hive", ["region", "year"]);
    };
    await all();
    const odd = await rowIds(db, "lookup('lake', 'main', 'hive', 'region', 'r /=%1')");
    expect(odd).toHaveLength(16);
    expect(odd).toEqual(await db.column("SELECT rowid FROM hive WHERE region = 'r /=%1' ORDER BY 1"));
    expect(await rowIds(db, "nulls('lake', 'main', 'hive', 'region', NULL)")).toHaveLength(8);
    await db.run("DELETE FROM hive WHERE region = 'r /=%0' AND id < 20; UPDATE hive SET year = 1999 WHERE id = 33");
    await all();
    for (const statement of maintenance) await db.run(statement);
    await all();
  });
});

describe.skipIf(!extensionAvailable)("a partitioned table", () => {
  it("is indexed through changes of its partitions (ducklake#1414)", async () => {
    await db.run("CREATE TABLE p(a BIGINT, b INTEGER); ALTER TABLE p SET PARTITIONED BY (b)");
    await db.run("CREATE UNIQUE INDEX pa ON p(a); CREATE INDEX pb ON p(b)");
    await db.run("INSERT INTO p SELECT i, i % 4 FROM range(100) r(i)");
    await db.run(`BEGIN; ALTER TABLE p SET PARTITIONED BY (bucket(3, a));
      INSERT INTO p SELECT i, i % 4 FROM range(100, 200) r(i); COMMIT`);
    const found = `SELECT p.* FROM p JOIN moraine_index_lookup('lake', 'main', 'p', 'pa', 150) ON rowid = row_id`;
    expect(await db.rows(found)).toEqual([["150", "2"]]);
    await db.run("DELETE FROM p WHERE b = 3; ALTER TABLE p RESET PARTITIONED BY; INSERT INTO p VALUES (1000, 3)");
    for (const statement of maintenance) await db.run(statement);
    await expectIndex(db, "pa", "p", ["a"]);
    await expectIndex(db, "pb", "p", ["b"]);
  });
});
