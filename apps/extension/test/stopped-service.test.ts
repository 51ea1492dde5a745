// A service that hangs: stopped by a signal, it listens and does nothing. Nobody waits for it longer than the limit.
import { setTimeout } from "node:timers/promises";
import { onTestFinished, expect, it } from "vitest";
import { openTestDuckDb, type TestDuckDb } from "./support/duckdb.js";
import { extensionAvailable } from "./support/available.js";
import { servicePids } from "../../../packages/duckdb-ext/test/services.js";

/** 5 s of silence, 10 s for a sign of life, and what a busy machine takes. */
const limitMs = 18_000;

interface Stopped {
  readonly db: TestDuckDb;
  /** Lets the service go on. */
  readonly resume: () => void;
}

/** For so long after an answer a service counts as alive. */
const freshSignMs = 250;

/** A lake whose service has been stopped. */
async function stopped(prepare: (db: TestDuckDb) => Promise<void>): Promise<Stopped> {
  const db = await openTestDuckDb();
  await db.attach();
  await db.run("CREATE TABLE lake.t(a BIGINT); INSERT INTO lake.t VALUES (1)");
  await prepare(db);
  const pids = servicePids(db.folder);
  expect(pids).toHaveLength(1);
  const signal = (name: NodeJS.Signals) => pids.forEach((pid) => process.kill(pid, name));
  onTestFinished(async () => {
    signal("SIGCONT");
    await db.close();
  });
  signal("SIGSTOP");
  return { db, resume: () => signal("SIGCONT") };
}

async function failureInTime(db: TestDuckDb, sql: string): Promise<string> {
  const beganMs = performance.now();
  const message = await db.failure(sql);
  expect(performance.now() - beganMs).toBeLessThan(limitMs);
  return message;
}

it.skipIf(!extensionAvailable)(
  "writers and readers that begin, side by side, are told within the limit, and go on with the service",
  { timeout: 60_000 },
  async () => {
    const { db, resume } = await stopped(() => Promise.resolve());
    const others = [await db.connect(), await db.connect()];
    const statements = ["INSERT INTO lake.t VALUES (2)", "FROM lake.t", "DELETE FROM lake.t"];
    const failures = await Promise.all([db, ...others].map((one, at) => failureInTime(one, statements[at] ?? "")));
    for (const failure of failures) expect(failure).toMatch(/the store's service gave no sign of life for 10 seconds/u);
    resume();
    await db.run("INSERT INTO lake.t VALUES (3)");
    expect(await db.column("SELECT a FROM lake.t ORDER BY a")).toEqual(["1", "3"]);
    for (const other of others) other.connection.closeSync();
  },
);

it.skipIf(!extensionAvailable)(
  "a commit is not sent to it: nothing lands later that was reported as failed",
  { timeout: 60_000 },
  async () => {
    const { db, resume } = await stopped((one) => one.run("BEGIN; INSERT INTO lake.t SELECT * FROM range(5000)"));
    await setTimeout(freshSignMs + 10);
    expect(await failureInTime(db, "COMMIT")).toMatch(/gave no sign of life/u);
    resume();
    expect(await db.column("SELECT count(*) FROM lake.t")).toEqual(["1"]);
    expect(await db.column(`SELECT count(*) FROM glob('${db.path("store-data")}/**/*.parquet')`)).toEqual(["0"]);
  },
);

it.skipIf(!extensionAvailable)("a new process that attaches is told as well", { timeout: 60_000 }, async () => {
  const { db } = await stopped(() => Promise.resolve());
  const attach = `ATTACH 'ducklake:moraine:${db.path("store")}' AS other`;
  expect(await failureInTime(db, attach)).toMatch(/gave no sign of life/u);
});
