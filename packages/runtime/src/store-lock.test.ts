import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, StoreLockedError } from "@moraine/codec";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startOf } from "./process-identity.js";
import { StoreLock } from "./store-lock.js";

let folder: string;
let children: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-lock-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function lockFiles(): string[] {
  return existsSync(join(folder, "run")) ? readdirSync(join(folder, "run")) : [];
}

function lockPath(): string {
  const [name, ...others] = lockFiles();
  expect(others).toEqual([]);
  return join(folder, "run", name ?? "none");
}

function holder(): Record<string, unknown> {
  return JSON.parse(readFileSync(lockPath(), "utf8")) as Record<string, unknown>;
}

/** Rewrites the lock file as if somebody else had written it. */
function pretend(changes: Record<string, unknown>): void {
  writeFileSync(lockPath(), JSON.stringify({ ...holder(), token: "another", ...changes }));
}

/** A process that lives until it is killed. */
async function otherProcess(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child as ChildProcess & { readonly pid: number };
}

describe("the lock of a store", () => {
  it("is a private file that goes with its handle", () => {
    const lock = StoreLock.acquire(join(folder, "store"), false);
    expect(holder()).toMatchObject({ pid: process.pid, location: join(folder, "store") });
    expect(statSync(join(folder, "run")).mode & 0o777).toBe(0o700);
    lock?.release();
    lock?.release();
    expect(lockFiles()).toEqual([]);
  });

  it("is one for all spellings of a place, and not needed in memory", () => {
    StoreLock.acquire(join(folder, "store"), false);
    StoreLock.acquire(`file://${folder}/./store/`, false);
    expect(StoreLock.acquire("memory://store", false)).toBeUndefined();
    expect(lockFiles()).toHaveLength(1);
    StoreLock.acquire(join(folder, "store-2"), false);
    expect(lockFiles()).toHaveLength(2);
  });

  it("is shared by the handles of one process, and held as long as one of them is open", () => {
    const first = StoreLock.acquire(join(folder, "store"), false);
    const second = StoreLock.acquire(join(folder, "store"), false);
    first?.release();
    expect(lockFiles()).toHaveLength(1);
    second?.release();
    expect(lockFiles()).toEqual([]);
  });

  it("names a live process that holds it, and gives way to takeOver", async () => {
    const other = await otherProcess();
    const store = join(folder, "store");
    const own = StoreLock.acquire(store, false);
    pretend({ pid: other.pid, started: startOf(other.pid), command: "node writer.js" });
    const text = `process ${other.pid} (node writer.js) is writing to ${store}`;
    expect(() => StoreLock.acquire(store, false)).toThrow(StoreLockedError);
    expect(() => StoreLock.acquire(store, false)).toThrow(text);
    // What another process has taken is not this one's to remove.
    own?.release();
    expect(holder()["pid"]).toBe(other.pid);
    const taken = StoreLock.acquire(store, true);
    expect(holder()["pid"]).toBe(process.pid);
    taken?.release();
    expect(lockFiles()).toEqual([]);
  });

  it("is not shared between a service and the handles of other threads", () => {
    const store = join(folder, "store");
    StoreLock.acquire(store, false);
    pretend({ use: "service" });
    const text = `the service in another thread of this process, ${process.pid}, is writing to ${store}`;
    expect(() => StoreLock.acquire(store, false)).toThrow(StoreLockedError);
    expect(() => StoreLock.acquire(store, false)).toThrow(text);
    expect(() => StoreLock.acquire(store, false, undefined, "service")).toThrow(text);
    expect(StoreLock.acquire(store, true)?.displaces).toBe(true);
    pretend({ use: "handle" });
    expect(() => StoreLock.acquire(store, false, undefined, "service")).toThrow("another thread of this process");
    expect(StoreLock.acquire(store, false)?.displaces).toBe(true);
  });

  it("goes with its thread where that has died", () => {
    const store = join(folder, "store");
    StoreLock.acquire(store, false);
    pretend({ thread: 7, use: "service" });
    StoreLock.releaseOf(8);
    expect(lockFiles()).toHaveLength(1);
    StoreLock.releaseOf(7);
    expect(lockFiles()).toEqual([]);
  });

  it("counts for nothing once its process has ended", async () => {
    const other = await otherProcess();
    const store = join(folder, "store");
    StoreLock.acquire(store, false);
    pretend({ pid: other.pid, started: startOf(other.pid) });
    const ended = new Promise((resolve) => other.once("exit", resolve));
    other.kill("SIGKILL");
    await ended;
    StoreLock.acquire(store, false);
    expect(holder()["pid"]).toBe(process.pid);
    expect(lockFiles()).toHaveLength(1);
  });

  it.each([
    ["a process that got the number of another one", { started: "boot 1" }],
    ["a process of another machine", { host: "elsewhere" }],
  ])("of %s counts for nothing", async (_, changes) => {
    const other = await otherProcess();
    const store = join(folder, "store");
    StoreLock.acquire(store, false);
    pretend({ pid: other.pid, started: startOf(other.pid), ...changes });
    StoreLock.acquire(store, false);
    expect(holder()["pid"]).toBe(process.pid);
  });

  it.each(["", "{", "[]", '{"pid":"x"}', "null"])("that reads %j counts for nothing", (text) => {
    const store = join(folder, "store");
    StoreLock.acquire(store, false);
    writeFileSync(lockPath(), text);
    StoreLock.acquire(store, false);
    expect(holder()["pid"]).toBe(process.pid);
  });

  it("is put back where its file was removed, and released as before", () => {
    const locks = ["store", "store", "store-2"].map((name) => StoreLock.acquire(join(folder, name), false));
    const before = lockFiles().toSorted();
    rmSync(join(folder, "run"), { recursive: true });
    expect(locks[2]?.restore()).toBe(true);
    expect(statSync(join(folder, "run")).mode & 0o777).toBe(0o700);
    expect(holder()).toMatchObject({ pid: process.pid, use: "handle", location: join(folder, "store-2") });
    StoreLock.restoreAll();
    expect(lockFiles().toSorted()).toEqual(before);
    locks[0]?.release();
    locks[2]?.release();
    expect(holder()).toMatchObject({ pid: process.pid, use: "handle", location: join(folder, "store") });
    locks[1]?.release();
    StoreLock.restoreAll();
    expect(lockFiles()).toEqual([]);
  });

  it("is released where the runtime folder has become a file", () => {
    const lock = StoreLock.acquire(join(folder, "store"), false);
    rmSync(join(folder, "run"), { recursive: true });
    writeFileSync(join(folder, "run"), "");
    expect(() => lock?.restore()).toThrow(ConfigurationError);
    lock?.release();
    expect(readFileSync(join(folder, "run"), "utf8")).toBe("");
  });

  it("is left to another process that has got it since its file was removed", async () => {
    const other = await otherProcess();
    const own = StoreLock.acquire(join(folder, "store"), false);
    pretend({ pid: other.pid, started: startOf(other.pid) });
    expect(own?.restore()).toBe(false);
    StoreLock.restoreAll();
    expect(holder()["pid"]).toBe(other.pid);
    own?.release();
    expect(holder()["pid"]).toBe(other.pid);
  });

  it("needs a folder of this user", () => {
    const run = join(folder, "run");
    writeFileSync(run, "");
    expect(() => StoreLock.acquire(join(folder, "store"), false)).toThrow(ConfigurationError);
    rmSync(run);
    mkdirSync(run);
    chmodSync(run, 0o777);
    StoreLock.acquire(join(folder, "store"), false);
    expect(statSync(run).mode & 0o777).toBe(0o700);
  });
});
