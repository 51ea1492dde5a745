// A store's folder that is moved, deleted or replaced while a service has it open: nothing is acknowledged that is not in it.
import { existsSync, renameSync, rmSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openDuckDB, type OpenedDuckDb } from "../src/duckdb/open.js";
import { servicePids } from "../../../packages/duckdb-ext/test/services.js";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";

/** "Within seconds", with what a busy machine takes. */
const soonMs = 10_000;

async function lakeWithRow(options: readonly string[] = []): Promise<TestDuckDb> {
  const db = await openTestDuckDb();
  onTestFinished(() => db.close());
  await db.attach();
  await db.run("CREATE TABLE lake.t(a BIGINT); CREATE UNIQUE INDEX t_a ON lake.t(a); INSERT INTO lake.t VALUES (1)");
  if (options.length > 0) {
    await db.run("DETACH lake");
    await db.attach("lake", "store", options);
  }
  return db;
}

/** Waits until no service runs, whoever is attached to it. */
async function expectServiceEnds(db: TestDuckDb): Promise<void> {
  await vi.waitFor(() => expect(servicePids(db.folder)).toEqual([]), { timeout: soonMs, interval: 20 });
}

async function expectSoon(work: () => Promise<void>): Promise<void> {
  const beganMs = performance.now();
  await work();
  expect(performance.now() - beganMs).toBeLessThan(soonMs);
}

async function tablesOf(db: TestDuckDb, lake: string): Promise<string[]> {
  return await db.column(`SELECT table_name FROM duckdb_tables() WHERE database_name = '${lake}'`);
}

const rows = "SELECT a FROM lake.t ORDER BY a";

describe.skipIf(!extensionAvailable)("a store that is moved while it is attached", () => {
  it("takes no commit any more; where it is now it has all that was acknowledged, and the old place stays empty", async () => {
    const db = await lakeWithRow();
    let acknowledged = 1;
    let failure = "";
    const writing = (async () => {
      for (let a = 2; failure === ""; a++) {
        try {
          await db.run(`INSERT INTO lake.t VALUES (${a})`);
          acknowledged = a;
        } catch (error) {
          failure = error instanceof Error ? error.message : String(error);
        }
      }
    })();
    await vi.waitFor(() => expect(acknowledged).toBeGreaterThan(5), { timeout: soonMs });
    renameSync(db.path("store"), db.path("moved"));
    await writing;
    // Of the service that noticed, or of the next one, which found nothing there.
    expect(failure).toMatch(
      /store gone: the folder .*store of a store that is open was moved or deleted. Put the folder back|none at the store's place/u,
    );
    expect(existsSync(db.path("store"))).toBe(false);
    await db.run("DETACH lake");
    await expectSoon(() => db.run(`ATTACH 'ducklake:moraine:${db.path("moved")}' AS lake`));
    const found = (await db.column(rows)).map(Number);
    // The commit that failed may have been under way when the folder was moved.
    expect(found.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, i) => i + 1));
    expect(found.length).toBeLessThanOrEqual(acknowledged + 1);
    await db.run("INSERT INTO lake.t VALUES (1000)");
  });

  it("is not served any more, also where nobody writes; put back it is served again, to those who stayed attached too", async () => {
    const db = await lakeWithRow();
    renameSync(db.path("store"), db.path("away"));
    await expectServiceEnds(db);
    expect(await db.failure(rows)).toMatch(/there is none at the store's place any more. Put the store's folder back/u);
    expect(await db.failure("INSERT INTO lake.t VALUES (2)")).toMatch(/there is none at the store's place any more/u);
    expect(existsSync(db.path("store"))).toBe(false);
    renameSync(db.path("away"), db.path("store"));
    await expectSoon(() => db.run("INSERT INTO lake.t VALUES (3)"));
    await expectSoon(() => db.attach("again"));
    expect(await db.column("SELECT a FROM again.t ORDER BY a")).toEqual(["1", "3"]);
  });

  it("refuses a transaction that was begun before, whatever is there when it commits", async () => {
    const db = await lakeWithRow();
    await db.run("BEGIN; INSERT INTO lake.t VALUES (2)");
    renameSync(db.path("store"), db.path("away"));
    await expectServiceEnds(db);
    expect(await db.failure("COMMIT")).toMatch(/no lake in the store/u);
    renameSync(db.path("away"), db.path("store"));
    expect(await db.column(rows)).toEqual(["1"]);
    await db.run("BEGIN; INSERT INTO lake.t VALUES (2)");
    rmSync(db.path("store"), { recursive: true });
    const other = await db.connect();
    await other.attach("fresh");
    await other.run("CREATE TABLE fresh.t(a BIGINT); CREATE TABLE fresh.u(a BIGINT); INSERT INTO fresh.t VALUES (7)");
    other.connection.closeSync();
    expect(await db.failure("COMMIT")).toMatch(/another one is at the store's place/u);
    expect(await db.column("SELECT a FROM fresh.t")).toEqual(["7"]);
  });

  it("can be attached where it is now while the old service has not noticed yet, which then commits nothing", async () => {
    const db = await lakeWithRow();
    renameSync(db.path("store"), db.path("moved"));
    await expectSoon(() => db.run(`ATTACH 'ducklake:moraine:${db.path("moved")}' AS moved`));
    await db.run("INSERT INTO moved.t VALUES (2)");
    expect(await db.failure("INSERT INTO lake.t VALUES (3)")).toMatch(/store gone|there is none/u);
    expect(await db.column("SELECT a FROM moved.t ORDER BY a")).toEqual(["1", "2"]);
  });

  it("says so where it is attached for reading only, and its service ends", async () => {
    const db = await lakeWithRow(["READ_ONLY"]);
    await vi.waitFor(async () => expect(await db.column(rows)).toEqual(["1"]), { timeout: soonMs });
    renameSync(db.path("store"), db.path("away"));
    await expectSoon(async () => {
      expect(await db.failure(rows)).toMatch(/store gone|there is none at the store's place/u);
    });
    expect(existsSync(db.path("store"))).toBe(false);
    renameSync(db.path("away"), db.path("store"));
    await expectSoon(async () => expect(await db.column(rows)).toEqual(["1"]));
  });
});

describe.skipIf(!extensionAvailable)("a store that is deleted while it is attached", () => {
  it.each([
    ["that has tables in files", true],
    ["that has not", false],
  ])("%s makes place at once for a new lake, which nothing of the old one reaches", async (_, hasTables) => {
    const db = await lakeWithRow();
    if (hasTables) await db.run("CREATE TABLE lake.wide AS SELECT i, repeat('x', 100) AS s FROM range(3000) t(i)");
    rmSync(db.path("store"), { recursive: true });
    await expectSoon(() => db.attach("fresh"));
    await db.run("CREATE TABLE fresh.u(b BIGINT); INSERT INTO fresh.u VALUES (7)");
    // Both lakes have had as many commits by now: by their number alone they could not be told apart.
    for (const statement of ["INSERT INTO lake.t VALUES (2)", rows, "BEGIN; DELETE FROM lake.t"]) {
      expect(await db.failure(statement)).toMatch(/another one is at the store's place by now. Detach the lake/u);
    }
    await db.run("ROLLBACK; DETACH lake; INSERT INTO fresh.u VALUES (8)");
    expect(await db.column("SELECT b FROM fresh.u ORDER BY b")).toEqual(["7", "8"]);
    expect(await tablesOf(db, "fresh")).toEqual(["u"]);
  });
});

describe.skipIf(!extensionAvailable)("a store that is served by a thread of the application", () => {
  const open = async (db: TestDuckDb): Promise<OpenedDuckDb> => {
    const opened = await openDuckDB({ store: db.path("store"), dataPath: db.path("data/"), engine: "thread" });
    onTestFinished(() => opened.close());
    return opened;
  };

  it("is not written to any more once it is moved, and is served again where it is now, and when it is put back", async () => {
    const db = await openTestDuckDb();
    onTestFinished(() => db.close());
    const first = await open(db);
    await first.connection.run("CREATE TABLE t AS SELECT i AS a FROM range(3000) r(i)");
    renameSync(db.path("store"), db.path("moved"));
    await expect(first.connection.run("INSERT INTO t VALUES (-1)")).rejects.toThrow(
      /store gone|was lost|none at the store/u,
    );
    await expectSoon(() => db.run(`ATTACH 'ducklake:moraine:${db.path("moved")}' AS moved`));
    await db.run("INSERT INTO moved.t VALUES (-2); DETACH moved");
    await vi.waitFor(() => expect(existsSync(db.path("store"))).toBe(false), { timeout: soonMs });
    renameSync(db.path("moved"), db.path("store"));
    await expectSoon(async () => {
      await vi.waitFor(() => first.connection.run("INSERT INTO t VALUES (-3)"), { timeout: soonMs });
    });
    const { connection } = await open(db);
    const found = await connection.runAndReadAll("SELECT a FROM t WHERE a IN (-2, -3) ORDER BY a");
    expect(found.getRows()).toEqual([[-3n], [-2n]]);
  });

  it("makes place for a new lake when it is deleted", async () => {
    const db = await openTestDuckDb();
    onTestFinished(() => db.close());
    const first = await open(db);
    await first.connection.run("CREATE TABLE t AS SELECT i AS a FROM range(3000) r(i)");
    rmSync(db.path("store"), { recursive: true });
    await expect(first.connection.run("INSERT INTO t VALUES (-1)")).rejects.toThrow(
      /store gone|was lost|none at the store/u,
    );
    const second = await open(db);
    await second.connection.run("CREATE TABLE u(b BIGINT); INSERT INTO u VALUES (7)");
    expect((await second.connection.runAndReadAll("FROM u")).getRows()).toEqual([[7n]]);
  });
});

describe.skipIf(!extensionAvailable)("a store in whose place another one is put", () => {
  it("is not mistaken for it: whoever attaches gets the new one at once", async () => {
    const db = await lakeWithRow();
    await db.attach("other", "other-store");
    await db.run("CREATE TABLE other.only_there(b BIGINT); DETACH other");
    renameSync(db.path("store"), db.path("away"));
    renameSync(db.path("other-store"), db.path("store"));
    await expectSoon(() => db.run(`ATTACH 'ducklake:moraine:${db.path("store")}' AS fresh`));
    await db.run("DETACH lake");
    expect(await tablesOf(db, "fresh")).toEqual(["only_there"]);
  });
});
