// The ways in which a lake is attached: under two names, read-only, at a past snapshot, encrypted; and what ends in the middle.
import { DuckDBInstance } from "@duckdb/node-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extensionFile } from "../src/duckdb/extension-file.js";
import { officialExtensionFile } from "../src/duckdb/official-extension.js";
import { literal } from "../src/duckdb/sql-text.js";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, TestDuckDb } from "./support/duckdb.js";
import { expectIndex, rowIds } from "./support/expect-index.js";

let db: TestDuckDb;

beforeEach(async () => {
  db = await openTestDuckDb();
});
afterEach(async () => db.close());

/** A lake with a file, an inlined row and an index. */
async function attachIndexed(): Promise<void> {
  await db.attach();
  await db.run(`CREATE TABLE lake.t(a BIGINT, b VARCHAR); CREATE UNIQUE INDEX u ON lake.t(a);
    INSERT INTO lake.t SELECT i, 'r' || i % 5 FROM range(100) r(i); INSERT INTO lake.t VALUES (1000, 'inlined')`);
}
const names = async (lake: string): Promise<string[]> =>
  await db.column(`SELECT index_name FROM moraine_indexes('${lake}', 'main', 't') ORDER BY 1`);

describe.skipIf(!extensionAvailable)("one lake under two names", () => {
  it("is one lake, with the same indexes", async () => {
    await attachIndexed();
    await db.attach("same");
    await db.run("INSERT INTO same.t VALUES (1001, 'by the other')");
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'u', 1001)")).toEqual(["101"]);
    expect(await db.failure("INSERT INTO lake.t VALUES (1001, 'again')")).toContain("claims a value");
    await db.run("CREATE INDEX by_b ON same.t(b, a)");
    expect(await names("lake")).toEqual(["by_b", "u"]);
    await expectIndex(db, "by_b", "t", ["b", "a"]);
    await db.run("DROP INDEX lake.by_b");
    expect(await names("same")).toEqual(["u"]);
    // DuckDB has one database that a transaction writes to.
    await db.run("BEGIN; INSERT INTO lake.t VALUES (1, 'lost')");
    expect(await db.failure("INSERT INTO same.t VALUES (2, 'lost')")).toContain("single attached database");
    await db.run("ROLLBACK");
    expect(await db.column("SELECT count(*) FROM lake.t JOIN same.t USING (a)")).toEqual(["102"]);
  });

  it("is left by one of them while the other goes on", async () => {
    await attachIndexed();
    await db.attach("same");
    const other = await db.connect();
    const read = "SELECT row_id FROM moraine_index_lookup('same', 'main', 't', 'u', 7)";
    await db.run("BEGIN");
    expect(await db.column(read)).toEqual(["7"]);
    await other.run("DETACH same");
    // A transaction keeps what it has begun with.
    expect(await db.column(read)).toEqual(["7"]);
    await db.run("COMMIT");
    expect(await db.failure(read)).toContain('no catalog "same" is attached');
    await other.run("INSERT INTO lake.t VALUES (2000, 'still')");
    expect(await rowIds(other, "lookup('lake', 'main', 't', 'u', 2000)")).toHaveLength(1);
    await db.attach("same");
    expect(await db.column(read)).toEqual(["7"]);
    other.connection.closeSync();
  });
});

describe.skipIf(!extensionAvailable)("a lake that may only be read", () => {
  it("is read by its indexes, sees what others commit, and changes nothing", async () => {
    await attachIndexed();
    await db.attach("reading", "store", ["READ_ONLY"]);
    expect(await rowIds(db, "lookup('reading', 'main', 't', 'u', 1000)")).toEqual(["100"]);
    await db.run("INSERT INTO lake.t VALUES (2000, 'later')");
    expect(await rowIds(db, "lookup('reading', 'main', 't', 'u', 2000)")).toEqual(["101"]);
    for (const statement of [
      "CREATE INDEX i ON reading.t(b)",
      "CREATE INDEX IF NOT EXISTS u ON reading.t(a)",
      "DROP INDEX reading.u",
      "DROP INDEX IF EXISTS reading.missing",
      "INSERT INTO reading.t VALUES (5, 'x')",
    ]) {
      expect(await db.failure(statement)).toMatch(/read-only/u);
    }
    expect(await names("lake")).toEqual(["u"]);
  });

  it("at a past snapshot, has no index of it, and is told so", async () => {
    await attachIndexed();
    const [past] = await db.column("SELECT max(snapshot_id) - 1 FROM ducklake_snapshots('lake')");
    await db.attach("past", "store", [`SNAPSHOT_VERSION ${past}`]);
    expect(await db.column("SELECT count(*) FROM past.t")).toEqual(["100"]);
    for (const call of ["lookup('past', 'main', 't', 'u', 7)", "range('past', 'main', 't', 'u', 1, 2, true, true)"]) {
      const said = await db.failure(`FROM moraine_index_${call}`);
      expect(said).toContain(`an index read at snapshot ${past}`);
      expect(said).toContain("for the head only");
    }
    expect(await db.failure("CREATE INDEX i ON past.t(b)")).toContain("read-only");
    // At the head it is the index of the head.
    await db.attach("head", "store", ["SNAPSHOT_TIME '2900-01-01'"]);
    expect(await rowIds(db, "lookup('head', 'main', 't', 'u', 1000)")).toEqual(["100"]);
  });
});

describe.skipIf(!extensionAvailable)("options of ATTACH", () => {
  it("name the metadata catalog, by which index functions find the lake too", async () => {
    await db.attach("lake", "store", ["METADATA_CATALOG 'meta'"]);
    await db.run("CREATE TABLE lake.t(a BIGINT); CREATE INDEX u ON lake.t(a); INSERT INTO lake.t VALUES (5)");
    for (const name of ["lake", "meta"]) {
      expect(await rowIds(db, `lookup('${name}', 'main', 't', 'u', 5)`)).toEqual(["0"]);
      expect(await names(name)).toEqual(["u"]);
    }
    await db.run("DROP INDEX lake.u");
  });

  it("that contradict what the lake has recorded are refused, and need not be repeated", async () => {
    await attachIndexed();
    await db.run("DETACH lake");
    const attach = (...options: string[]): string =>
      `ATTACH ${literal(`ducklake:moraine:${db.path("store")}`)} AS lake (${options.join(", ")})`;
    const elsewhere = literal(db.path("elsewhere"));
    expect(await db.failure(attach(`DATA_PATH ${elsewhere}`))).toContain("does not match existing data path");
    expect(await db.failure(attach(`META_DATA_PATH ${elsewhere}`))).toContain("data path");
    expect(await db.failure(attach("META_COLOUR 'red'"))).toContain('no attach option "colour"');
    await db.run(attach("READ_WRITE"));
    await expectIndex(db, "u", "t", ["a"]);
    await db.run("DETACH lake");
    // Indexes are read and kept where the lake has its data: files that would stand elsewhere are not indexed unread.
    await db.run(attach(`DATA_PATH ${elsewhere}`, "OVERRIDE_DATA_PATH true"));
    expect(await db.failure("INSERT INTO lake.t SELECT * FROM range(200, 300), (VALUES ('x'))")).toContain("not found");
    await db.run("INSERT INTO lake.t VALUES (200, 'inlined')");
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'u', 200)")).toHaveLength(1);
  });
});

describe.skipIf(!extensionAvailable)("an encrypted lake", () => {
  it("is written and read, and indexes its inlined rows; an index over files is refused, not short", async () => {
    await db.run(`LOAD ${literal(await officialExtensionFile("httpfs"))}`);
    await db.attach("lake", "store", ["ENCRYPTED"]);
    await db.run("CREATE TABLE lake.plain(a BIGINT); INSERT INTO lake.plain SELECT * FROM range(100)");
    expect(await db.column("SELECT sum(a) FROM lake.plain")).toEqual(["4950"]);
    expect(await db.failure("CREATE INDEX i ON lake.plain(a)")).toContain("is encrypted");
    await db.run(
      "CREATE TABLE lake.t(a BIGINT); CREATE UNIQUE INDEX u ON lake.t(a); INSERT INTO lake.t VALUES (1), (2)",
    );
    for (const statement of [
      "INSERT INTO lake.t SELECT * FROM range(10, 100)",
      "CALL ducklake_flush_inlined_data('lake')",
    ]) {
      const said = await db.failure(statement);
      expect(said).toMatch(/is encrypted.*drop the table's indexes/su);
    }
    expect(await db.failure("INSERT INTO lake.t VALUES (1)")).toContain("claims a value");
    await expectIndex(db, "u", "t", ["a"]);
    await db.run("DROP INDEX lake.u; CALL ducklake_flush_inlined_data('lake')");
    await db.run("INSERT INTO lake.t SELECT * FROM range(10, 100); DETACH lake");
    await db.attach();
    expect(await db.column("SELECT count(*) FROM lake.t")).toEqual(["92"]);
  });
});

describe.skipIf(!extensionAvailable)("an interrupt", () => {
  it("ends a CREATE INDEX, which leaves nothing, and the connection works", async () => {
    await db.attach();
    await db.run("CREATE TABLE lake.t(a BIGINT, b VARCHAR)");
    await db.run("INSERT INTO lake.t SELECT i, 'value ' || i FROM range(200000) r(i)");
    const running = db.failure("CREATE INDEX i ON lake.t(b, a)");
    const asked = setInterval(() => db.connection.interrupt(), 20);
    expect(await running).toContain("INTERRUPT");
    clearInterval(asked);
    await db.run("CREATE INDEX again ON lake.t(a)");
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'again', 7)")).toEqual(["7"]);
    // The service may have been told too late: then the index is there, and whole.
    for (const name of (await names("lake")).filter((known) => known !== "again")) {
      expect(await rowIds(db, `range('lake', 'main', 't', '${name}', NULL, NULL, true, true)`)).toHaveLength(200_000);
    }
  });

  it("of a statement that commits leaves all of it or nothing", async () => {
    await db.attach();
    await db.run("CREATE TABLE lake.t(a BIGINT); CREATE UNIQUE INDEX u ON lake.t(a)");
    const outcome = db.connection.run("INSERT INTO lake.t SELECT * FROM range(100000)").then(
      () => "100000",
      () => "0",
    );
    const asked = setInterval(() => db.connection.interrupt(), 50);
    const count = await outcome;
    clearInterval(asked);
    const counted = async (): Promise<string[]> => [
      ...(await db.column("SELECT count(*) FROM lake.t")),
      ...(await db.column(
        "SELECT count(*) FROM moraine_index_range('lake', 'main', 't', 'u', NULL, NULL, true, true)",
      )),
    ];
    expect(await counted()).toEqual([count, count]);
    await db.run("INSERT INTO lake.t VALUES (-1)");
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'u', -1)")).toHaveLength(1);
  });
});

describe.skipIf(!extensionAvailable)("a lake that several make at once", () => {
  /** Further databases with the extensions, as other processes have them. */
  const others: TestDuckDb[] = [];
  async function several(count: number): Promise<void> {
    const [ducklake, moraine] = [await officialExtensionFile("ducklake"), extensionFile()];
    for (let at = 0; at < count; at++) {
      const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
      const other = new TestDuckDb(instance, await instance.connect(), db.folder);
      await other.run(`LOAD ${literal(ducklake)}; LOAD ${literal(moraine)}`);
      others.push(other);
    }
  }
  afterEach(() => {
    for (const { connection, instance } of others.splice(0)) {
      connection.closeSync();
      instance.closeSync();
    }
  });

  it("is one lake, for each of them", async () => {
    await several(5);
    await Promise.all(others.map((other) => other.attach()));
    await others[0]?.run("CREATE TABLE lake.t(a BIGINT); CREATE UNIQUE INDEX u ON lake.t(a)");
    for (const [at, other] of others.entries()) await other.run(`INSERT INTO lake.t VALUES (${at})`);
    for (const other of others) expect(await other.column("SELECT a FROM lake.t ORDER BY a")).toHaveLength(5);
    expect(await others[1]?.failure("INSERT INTO lake.t VALUES (4)")).toContain("claims a value");
    // Made once: by one transaction, with one time and uuid.
    const lakes = "SELECT DISTINCT schema_uuid FROM __ducklake_metadata_lake.ducklake_schema";
    const uuids = await Promise.all(others.map((other) => other.column(lakes)));
    expect(new Set(uuids.flat()).size).toBe(1);
  });

  it("is refused to those who would have made another one", async () => {
    await several(4);
    const outcomes = await Promise.allSettled(
      others.map((other, at) =>
        other.run(`ATTACH 'ducklake:moraine:${db.path("store")}' AS lake
        (DATA_PATH '${db.path(`data-${at}`)}/')`),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(3);
    for (const { reason } of refused) expect(String(reason)).toMatch(/data path|DATA_PATH/u);
  });
});
