import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acquireWriterLock } from "./writer-lock.js";

function runtimeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "moraine-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function lockFile(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".lock")) ?? "none");
}

const holder = "a test";

test("a second holder is refused by name, whichever way the location is spelled", () => {
  const folder = runtimeFolder();
  const lock = acquireWriterLock("/data/lake", { holder, runtimeFolder: folder });
  const refusal = /^store locked: file:\/\/\/data\/lake is held by process \d+ \(a test\)$/u;
  expect(() => acquireWriterLock("file:///data/x/../lake/", { holder, runtimeFolder: folder })).toThrow(refusal);
  const other = acquireWriterLock("/data/other", { holder, runtimeFolder: folder });
  lock.release();
  lock.release();
  const next = acquireWriterLock("/data/lake", { holder, runtimeFolder: folder });
  lock.release();
  expect(() => acquireWriterLock("/data/lake", { holder, runtimeFolder: folder })).toThrow(refusal);
  next.release();
  other.release();
  expect(readdirSync(folder)).toEqual([]);
});

test("takeOver displaces a live holder, whose release then does nothing", () => {
  const folder = runtimeFolder();
  const first = acquireWriterLock("/data/lake", { holder, runtimeFolder: folder });
  const second = acquireWriterLock("/data/lake", { holder: "another", runtimeFolder: folder, takeOver: true });
  first.release();
  expect(JSON.parse(readFileSync(lockFile(folder), "utf8"))).toMatchObject({ holder: "another" });
  second.release();
  expect(readdirSync(folder)).toEqual([]);
});

test("a lock of a process that has ended, or whose number was given out again, is taken over", async () => {
  const folder = runtimeFolder();
  const ended = spawn(process.execPath, ["-e", ""]);
  await once(ended, "close");
  const lock = acquireWriterLock("/data/lake", { holder, runtimeFolder: folder });
  const path = lockFile(folder);
  const owner = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  lock.release();
  writeFileSync(path, JSON.stringify({ ...owner, pid: ended.pid }));
  acquireWriterLock("/data/lake", { holder, runtimeFolder: folder }).release();
  writeFileSync(path, "{ half of a");
  acquireWriterLock("/data/lake", { holder, runtimeFolder: folder }).release();
  if (existsSync("/proc/self/stat")) {
    writeFileSync(path, JSON.stringify({ ...owner, started: "1" }));
    acquireWriterLock("/data/lake", { holder, runtimeFolder: folder }).release();
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("a folder that others can write is refused", () => {
  const folder = join(runtimeFolder(), "shared");
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  expect(() => acquireWriterLock("/data/lake", { holder, runtimeFolder: folder })).toThrow(
    expect.objectContaining({ code: "configuration" }),
  );
});
