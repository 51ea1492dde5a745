// The service of a store in a thread of the application. The thread runs what was built last.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Catalog } from "@moraine/catalog";
import { StoreLockedError, StoreUnavailableError } from "@moraine/codec";
import { readHolder, StoreLock } from "@moraine/runtime";
import { openStore } from "@moraine/store";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ThreadNews, ThreadTask } from "../src/client/service-thread.js";
import { listServices } from "../src/client/services.js";
import { openDuckDB, type OpenDuckDbOptions, type OpenedDuckDb } from "../src/duckdb/open.js";
import { literal } from "../src/duckdb/sql-text.js";
import { extensionAvailable } from "./support/available.js";
import { ServiceFolder, type ServiceProcess } from "./support/service-process.js";
import { SqlProcess } from "./support/sql-process.js";

let folder: ServiceFolder;
beforeEach(() => {
  folder = new ServiceFolder();
});

const open = (more: Partial<OpenDuckDbOptions> = {}): Promise<OpenedDuckDb> =>
  openDuckDB({ store: folder.store, dataPath: join(folder.path, "data"), engine: "thread", ...more });

async function rows({ connection }: OpenedDuckDb, sql: string): Promise<unknown> {
  return (await connection.runAndReadAll(sql)).getRows();
}

/** The process that serves the store. */
const server = (): number | undefined => readHolder(folder.place.lock)?.pid;

/** Names in the runtime folder. */
const leftovers = (): string[] => readdirSync(join(folder.path, "run")).map((name) => name.replace(/^[0-9a-f]+/u, ""));

/** A DuckDB in a process of its own, with the lake attached. */
async function otherDuckDb(): Promise<SqlProcess> {
  const attach = `ATTACH ${literal(`ducklake:moraine:${folder.store}`)} AS lake`;
  const other = await SqlProcess.open([attach, "USE lake"]);
  onTestFinished(() => other.kill());
  return other;
}

/** Threads that serve the folder's store, as two copies of this package in one process would start them; each gives what it told. */
function bareThread(): { readonly worker: Worker; readonly told: ThreadNews[]; readonly gone: Promise<unknown> } {
  const task: ThreadTask = { store: folder.store, script: [], over: new Int32Array(new SharedArrayBuffer(4)) };
  const worker = new Worker(new URL("../bin/service-thread.js", import.meta.url), { workerData: task, execArgv: [] });
  const told: ThreadNews[] = [];
  worker.on("message", (news: ThreadNews) => told.push(news));
  return { worker, told, gone: once(worker, "exit") };
}

describe("threads of one process", () => {
  it("are one service of a store", async () => {
    const threads = Array.from({ length: 4 }, bareThread);
    const ended = await Promise.race(
      threads.map((one) => Promise.all(threads.filter((each) => each !== one).map(({ gone }) => gone))),
    );
    expect(ended).toEqual([[0], [0], [0]]);
    expect(threads.map(({ told }) => JSON.stringify(told)).toSorted()).toEqual([
      '["listening"]',
      ...Array.from({ length: 3 }, () => '[{"ended":0}]'),
    ]);
    expect(server()).toBe(process.pid);
    const serving = threads.find(({ told }) => told[0] === "listening");
    serving?.worker.postMessage("close");
    expect(await serving?.gone).toEqual([0]);
    expect(leftovers()).toEqual([".log"]);
  });

  it("are one service of a store with processes that start at once", async () => {
    const processes = [folder.serve(["--auto"]), folder.serve(["--auto"])];
    const thread = bareThread();
    const settled = async ({ ended, listening }: ServiceProcess): Promise<unknown> =>
      await listening.then(
        () => "listening",
        () => ended,
      );
    const news = once(thread.worker, "message").then(([first]: unknown[]) => (first === "listening" ? first : 0));
    const outcomes = await Promise.all([news, ...processes.map(settled)]);
    expect(outcomes.filter((outcome) => outcome === "listening")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 0)).toHaveLength(2);
    thread.worker.postMessage("close");
    await thread.gone;
  });
});

describe.skipIf(!extensionAvailable)("DuckDB with the service in a thread", () => {
  it("writes, indexes and reads, and another process shares it", async () => {
    await using duckDb = await open();
    await duckDb.connection.run("CREATE TABLE t(a BIGINT, b VARCHAR)");
    await duckDb.connection.run("CREATE UNIQUE INDEX u ON t(a)");
    await duckDb.connection.run("INSERT INTO t VALUES (1, 'one')");
    const other = await otherDuckDb();
    await other.rows("INSERT INTO t SELECT i, 'row' FROM range(2, 2000) r(i)");
    expect(await other.failure("INSERT INTO t VALUES (1, 'again')")).toContain('constraint violation: index "u"');
    expect(await rows(duckDb, "FROM moraine_index_lookup('lake', 'main', 't', 'u', 1)")).toEqual([[0n, null]]);
    expect(await rows(duckDb, "SELECT count(*), sum(a)::BIGINT FROM t")).toEqual([[1999n, 1_999_000n]]);
    expect(server()).toBe(process.pid);
    expect(await listServices()).toMatchObject([
      { socket: folder.place.socket, status: { store: folder.store, pid: process.pid, connections: 5 } },
    ]);
    expect(folder.log().filter(({ level }) => level !== "info")).toEqual([]);
    await other.close();
  });

  it("uses the service that is there", async () => {
    const service = folder.serve();
    await service.listening;
    {
      await using duckDb = await open();
      await duckDb.connection.run("CREATE TABLE t(a BIGINT)");
      expect(server()).toBe(service.pid);
    }
    expect(service.child.exitCode).toBe(null);
    expect(server()).toBe(service.pid);
  });

  it("is one for all that are opened at once, until the last is closed", async () => {
    const [first, second] = await Promise.all([open(), open()]);
    await first.connection.run("CREATE TABLE t(a BIGINT)");
    await first[Symbol.asyncDispose]();
    first.close();
    await second.connection.run("INSERT INTO t VALUES (1)");
    expect(server()).toBe(process.pid);
    const serving = folder.log().filter(({ event }) => event === "listening");
    expect(serving).toHaveLength(1);
    await second[Symbol.asyncDispose]();
    expect(leftovers()).toEqual([".log"]);
  });

  it("is followed by the next one, and by a process", async () => {
    const first = await open();
    await first.connection.run("CREATE TABLE t(a BIGINT)");
    first.close();
    // Not waited for: the next one waits.
    const second = await open();
    await second.connection.run("INSERT INTO t VALUES (1)");
    await second[Symbol.asyncDispose]();
    await using third = await open({ engine: "process" });
    expect(await rows(third, "FROM t")).toEqual([[1n]]);
    expect(server()).not.toBe(process.pid);
  });

  it("leaves those of other processes to a service of their own when it ends", async () => {
    const duckDb = await open();
    await duckDb.connection.run("CREATE TABLE t(a BIGINT)");
    const other = await otherDuckDb();
    await other.rows("INSERT INTO t VALUES (1)");
    await duckDb[Symbol.asyncDispose]();
    await other.rows("INSERT INTO t VALUES (2)");
    expect(await other.column("SELECT count(*) FROM t")).toEqual(["2"]);
    expect(server()).not.toBe(process.pid);
    await other.close();
  });

  it("neither displaces a writer of the same process, nor is displaced unless that is wanted", async () => {
    const lock = StoreLock.acquire(folder.store, false);
    await expect(open()).rejects.toThrow(/store locked: another thread of this process, \d+, is writing to/u);
    lock?.release();
    await using duckDb = await open();
    await duckDb.connection.run("CREATE TABLE t(a BIGINT)");
    expect(() => StoreLock.acquire(folder.store, false)).toThrow(StoreLockedError);
    expect(() => StoreLock.acquire(folder.store, false)).toThrow(/the service in another thread of this process/u);
    // A writer that takes over fences the one in the thread, whose service ends; the application goes on.
    const taken = StoreLock.acquire(folder.store, true);
    const catalog = await Catalog.open({ store: await openStore(folder.store) });
    await expect(duckDb.connection.run("INSERT INTO t VALUES (1)")).rejects.toThrow(/fenced/u);
    await catalog.close();
    taken?.release();
    await duckDb.connection.run("INSERT INTO t VALUES (2)");
    expect(await rows(duckDb, "FROM t")).toEqual([[2n]]);
    expect(folder.log().filter(({ event }) => event === "ending")).toMatchObject([
      // Without the store there was nothing to do.
      { reason: "closed" },
      { reason: "the store's handle has ended: fenced" },
    ]);
  });

  it("says when it does not come to serve", async () => {
    mkdirSync(join(folder.place.socket, "no socket"), { recursive: true });
    await expect(open()).rejects.toThrow(StoreUnavailableError);
    await expect(open()).rejects.toThrow(`the service of ${folder.store} did not start in a thread: it ended with 1`);
    expect(existsSync(folder.place.lock)).toBe(false);
  });

  /** Runs an application that ends so: its status, and what it wrote. */
  async function runApplication(ending: string): Promise<unknown> {
    const script = fileURLToPath(new URL("support/application-process.mjs", import.meta.url));
    const child = spawn(process.execPath, [script, folder.store, join(folder.path, "data"), ending]);
    const told = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, "exit")) as [number | null];
    return [code, ...(await told)];
  }

  it.each(["close", "await", "forget", "exit"])("lets its process end: %s", async (ending) => {
    expect(await runApplication(ending)).toEqual([0, "", ""]);
    expect(leftovers()).toEqual([".log"]);
    expect(await runApplication(ending)).toEqual([0, "", ""]);
    await using duckDb = await open();
    expect(await rows(duckDb, "SELECT count(*) FROM t")).toEqual([[2n]]);
  });

  it("lets its process end at any moment", { timeout: 120_000 }, async () => {
    for (const afterMs of [0, 30, 60, 100, 150, 200, 250, 300, 400, 600]) {
      expect(await runApplication(String(afterMs)), `after ${afterMs} ms`).toEqual([0, "", ""]);
    }
  });
});
