// What whoever cleans up temporary files does to a service: its socket, or the whole runtime folder, is removed or replaced while it
// runs. Clients that are attached go on, others find it soon, and there is one service of the store. Services run what was built last.
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Catalog } from "@moraine/catalog";
import { readHolder, StoreLock } from "@moraine/runtime";
import { openStore } from "@moraine/store";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { connectCatalog } from "../src/client/connect-catalog.js";
import { listServices, stopService } from "../src/client/services.js";
import { literal } from "../src/duckdb/sql-text.js";
import { extensionAvailable } from "./support/available.js";
import { connect, ServiceFolder } from "./support/service-process.js";
import { SqlProcess } from "./support/sql-process.js";

/** Less than the 15 s after which a client gives up; it takes two, and more on a busy machine. */
const soonMs = 12_000;

let folder: ServiceFolder;
beforeEach(() => {
  folder = new ServiceFolder();
});

/** Waits until something holds, which the surrounding test's time bounds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(5);
}

const runtime = (): string => join(folder.path, "run");
const removeFolder = (): void => rmSync(runtime(), { recursive: true, maxRetries: 10 });

const removals: readonly (readonly [string, () => void | Promise<void>])[] = [
  ["deleted socket", () => unlinkSync(folder.place.socket)],
  ["deleted runtime folder", removeFolder],
  [
    "socket replaced by a file",
    () => {
      unlinkSync(folder.place.socket);
      writeFileSync(folder.place.socket, "");
    },
  ],
];

const damages: typeof removals = [
  ...removals,
  [
    "socket replaced by another process's",
    async () => {
      unlinkSync(folder.place.socket);
      const stranger = createServer((socket) => socket.destroy()).listen(folder.place.socket);
      onTestFinished(() => void stranger.close());
      await once(stranger, "listening");
    },
  ],
];

/** The process that has the claim of the store, and answers. */
async function server(): Promise<number | undefined> {
  const [service] = await listServices();
  return service !== undefined && "pid" in service.status ? service.status.pid : undefined;
}

describe("a service", () => {
  it.each(damages)("is where it was soon after a %s", async (_, damage) => {
    const service = folder.serve();
    await service.listening;
    const before = await connect(folder);
    const names = readdirSync(runtime()).toSorted();
    const beganMs = performance.now();
    await damage();
    await until(async () => (await server()) === service.pid);
    expect(performance.now() - beganMs).toBeLessThan(soonMs);
    expect(statSync(folder.place.socket).mode & 0o777).toBe(0o600);
    expect(readdirSync(runtime()).toSorted()).toEqual(names);
    expect(readHolder(folder.place.lock)).toMatchObject({ pid: service.pid, use: "service" });
    // The connection from before is still the same one.
    await before.ask("status_report", { type: "status" });
    expect(folder.log().at(-1)).toMatchObject({ event: "socket_restored", pid: service.pid });
    expect(await stopService(folder.store)).toBe(service.pid);
    expect(await service.ended).toBe(0);
    expect(readdirSync(runtime())).toEqual(names.filter((name) => name.endsWith(".log")));
  });

  it("keeps its locks without which another one would start beside it", async () => {
    const store = await openStore(folder.store);
    await (await Catalog.open({ store, dataPath: `${folder.path}/data/` })).close();
    await folder.serve().listening;
    const { catalog } = await connectCatalog({ store: folder.store, requestTimeoutMs: 30_000 });
    onTestFinished(() => catalog.close());
    const locks = readdirSync(runtime()).filter((name) => name.endsWith(".lock"));
    expect(locks).toHaveLength(2);
    for (const name of locks) unlinkSync(join(runtime(), name));
    await until(() => readdirSync(runtime()).filter((name) => name.endsWith(".lock")).length === 2);
    expect(() => StoreLock.acquire(folder.store, false)).toThrow("is writing to");
    expect(await folder.serve(["--auto"]).ended).toBe(0);
  });

  it.each([
    [["--auto"], 0],
    [[], 1],
  ])(
    "%j gives way to one that was started before it looked, and leaves that one's files alone",
    async (args, status) => {
      const first = folder.serve(args);
      await first.listening;
      const before = await connect(folder);
      first.child.kill("SIGSTOP");
      removeFolder();
      const second = folder.serve(["--auto"]);
      await second.listening;
      const { ino } = statSync(folder.place.socket);
      first.child.kill("SIGCONT");
      // Whoever started it by hand is told.
      expect(await first.ended).toBe(status);
      await expect(before.ask("status_report", { type: "status" })).rejects.toThrow("closed the connection");
      expect(folder.log()).toContainEqual(
        expect.objectContaining({ event: "ending", reason: "displaced", pid: first.pid }),
      );
      expect(statSync(folder.place.socket).ino).toBe(ino);
      expect(readHolder(folder.place.lock)?.pid).toBe(second.pid);
      expect(await server()).toBe(second.pid);
    },
  );

  it("that is started meanwhile waits for it, and serves where it is gone with its folder", async () => {
    const claim = StoreLock.acquireFile(folder.place.lock, folder.place.location, false);
    const service = folder.serve(["--auto"]);
    await until(() => readdirSync(runtime()).some((name) => name.endsWith(".log")));
    removeFolder();
    await service.listening;
    claim.release();
    expect(readHolder(folder.place.lock)?.pid).toBe(service.pid);
  });

  it("that is idle ends in good order where its socket is gone", async () => {
    const service = folder.serve(["--auto", "--idle-timeout", "0.3"]);
    await service.listening;
    unlinkSync(folder.place.socket);
    expect(await service.ended).toBe(0);
    expect(folder.log().at(-2)).toMatchObject({ event: "ending", reason: "idle" });
    expect(readdirSync(runtime()).every((name) => name.endsWith(".log"))).toBe(true);
  });

  it("serves on and ends in good order where its folder has become a file", async () => {
    const service = folder.serve();
    await service.listening;
    const before = await connect(folder);
    removeFolder();
    writeFileSync(runtime(), "");
    await before.ask("status_report", { type: "status" });
    service.child.kill("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(statSync(runtime()).isFile()).toBe(true);
    unlinkSync(runtime());
  });

  it("serves on where nothing can be put back, says so once, and does it when it can", async () => {
    const service = folder.serve();
    await service.listening;
    const before = await connect(folder);
    unlinkSync(folder.place.socket);
    mkdirSync(join(folder.place.socket, "in the way"), { recursive: true });
    const told = (): unknown[] => folder.log().filter(({ event }) => event === "place_not_restored");
    for (let looks = 0; looks < 3; looks++) {
      unlinkSync(folder.place.lock);
      await until(() => existsSync(folder.place.lock));
    }
    await until(() => told().length > 0);
    expect(told()).toMatchObject([{ level: "error", error: { code: "EISDIR" } }]);
    await before.ask("status_report", { type: "status" });
    rmSync(folder.place.socket, { recursive: true });
    await until(async () => (await server()) === service.pid);
  });
});

/** A DuckDB in a process of its own, with the lake attached. */
async function attached(): Promise<SqlProcess> {
  const options = `DATA_PATH ${literal(join(folder.path, "data/"))}`;
  const attach = `ATTACH ${literal(`ducklake:moraine:${folder.store}`)} AS lake (${options})`;
  const duckDb = await SqlProcess.open([attach, "USE lake"]);
  onTestFinished(() => duckDb.kill());
  return duckDb;
}

/** Waits until one process alone serves the store, that from before or the next one. */
async function untilOneServes(former: number | undefined): Promise<void> {
  const isThere = (pid: number): boolean => readdirSync("/proc").includes(String(pid));
  await until(() => {
    const now = readHolder(folder.place.lock)?.pid;
    return now !== undefined && (now === former || former === undefined || !isThere(former));
  });
}

describe.skipIf(!extensionAvailable)("DuckDBs", () => {
  it.each(removals)("go on, and others attach, after a %s", { timeout: 60_000 }, async (_, damage) => {
    const before = await attached();
    await before.rows("CREATE TABLE t(a BIGINT)");
    await before.rows("INSERT INTO t VALUES (1)");
    const former = await server();
    await damage();
    const beganMs = performance.now();
    const after = await attached();
    expect(performance.now() - beganMs).toBeLessThan(soonMs);
    expect(await after.column("FROM t")).toEqual(["1"]);
    await after.rows("INSERT INTO t VALUES (2)");
    await untilOneServes(former);
    await before.rows("INSERT INTO t VALUES (3)");
    for (const one of [before, after]) expect(await one.column("FROM t ORDER BY a")).toEqual(["1", "2", "3"]);
  });

  it("go on with the next service where theirs gives way", { timeout: 60_000 }, async () => {
    const before = await attached();
    await before.rows("CREATE TABLE t(a BIGINT)");
    const former = await server();
    expect(former).toBeDefined();
    process.kill(former!, "SIGSTOP");
    removeFolder();
    const after = await attached();
    await after.rows("INSERT INTO t VALUES (1)");
    process.kill(former!, "SIGCONT");
    await untilOneServes(former);
    await before.rows("INSERT INTO t VALUES (2)");
    for (const one of [before, after]) expect(await one.column("FROM t ORDER BY a")).toEqual(["1", "2"]);
    expect(await server()).not.toBe(former);
  });

  it("lose nothing acknowledged, whatever is removed while they write", { timeout: 120_000 }, async () => {
    const writer = await attached();
    await writer.rows("CREATE TABLE t(a BIGINT)");
    const acknowledged: string[] = [];
    const failed: string[] = [];
    let isOver = false;
    const writing = (async () => {
      for (let value = 1; !isOver; value++) {
        const outcome = await writer.run(`INSERT INTO t VALUES (${value})`);
        ("rows" in outcome ? acknowledged : failed).push(String(value));
      }
    })();
    for (const [, damage] of [...removals, ...removals]) {
      const written = acknowledged.length;
      await until(() => acknowledged.length > written + 20);
      const former = await server();
      await damage();
      const other = await attached();
      await untilOneServes(former);
      expect(Number(await other.column("SELECT count(*) FROM t"))).toBeGreaterThanOrEqual(written + 20);
      await other.kill();
    }
    isOver = true;
    await writing;
    const found = new Set(await (await attached()).column("FROM t"));
    expect(acknowledged.filter((value) => !found.has(value))).toEqual([]);
    expect([...found].filter((value) => !acknowledged.includes(value) && !failed.includes(value))).toEqual([]);
    // A commit that met the next service may fail; it is one for each time that the folder was removed.
    expect(failed.length).toBeLessThanOrEqual(2);
  });
});
