import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, StoreError, StoreLockedError } from "@moraine/codec";
import { startOf, StoreLock } from "@moraine/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failedStep } from "./failed-step.js";
import { DemoFolder } from "./folder.js";

let root: string;
let other: ChildProcess | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "moraine-demo-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(root, "run");
});
afterEach(() => {
  other?.kill("SIGKILL");
  other = undefined;
  rmSync(root, { recursive: true, force: true });
});

/** Makes a lock look as if another process that lives had taken it. */
async function lockElsewhere(place: string): Promise<number> {
  other = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"]);
  await new Promise((resolve) => other?.stdout?.once("data", resolve));
  const pid = other.pid ?? 0;
  const lock = StoreLock.acquire(place, false);
  const [name = ""] = readdirSync(join(root, "run"));
  const path = join(root, "run", name);
  const holder = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(
    path,
    JSON.stringify({ ...holder, pid, started: startOf(pid), token: "another", command: "node other.js" }),
  );
  lock?.release();
  return pid;
}

/** An earlier lake with something beside it. */
function earlier(path: string): string {
  DemoFolder.claim(path)[Symbol.dispose]();
  for (const part of ["store", "data"]) {
    mkdirSync(join(path, part));
    writeFileSync(join(path, part, "file"), "");
  }
  writeFileSync(join(path, "notes"), "");
  return path;
}

describe("the demonstration's folder", () => {
  it("is made, with all folders above it", () => {
    using folder = DemoFolder.claim(join(root, "a/b"));
    expect(folder.store).toBe(join(root, "a/b/store"));
    expect(readdirSync(join(root, "a/b"))).toEqual([".moraine-demo"]);
  });

  it("loses the lake of an earlier demonstration, and nothing else", () => {
    const path = earlier(join(root, "lake"));
    symlinkSync(path, join(root, "link"));
    using _ = DemoFolder.claim(join(root, "link"));
    expect(readdirSync(path).sort()).toEqual([".moraine-demo", "notes"]);
    expect(existsSync(join(root, "link"))).toBe(true);
  });

  it("is refused where something else has put files", () => {
    mkdirSync(join(root, "mine/store"), { recursive: true });
    writeFileSync(join(root, "mine/store/file"), "");
    expect(() => DemoFolder.claim(join(root, "mine"))).toThrow(ConfigurationError);
    expect(existsSync(join(root, "mine/store/file"))).toBe(true);
    // Refusing leaves no lock behind.
    expect(readdirSync(join(root, "run"))).toEqual([]);
  });

  it.each([
    ["a file", (): string => join(root, "file"), /is a file, no folder/u],
    ["below a file", (): string => join(root, "file/below"), /cannot be made or written: ENOTDIR/u],
    ["where none can be made", (): string => "/dev/null/x", /cannot be made or written/u],
    ["nowhere", (): string => "", /is no folder of this machine/u],
    ["on S3", (): string => "s3://bucket/x", /is no folder of this machine/u],
  ])("is refused as %s", (_, path, text) => {
    writeFileSync(join(root, "file"), "");
    expect(() => DemoFolder.claim(path())).toThrow(ConfigurationError);
    expect(() => DemoFolder.claim(path())).toThrow(text);
  });

  it("is left alone while a demonstration runs there", async () => {
    const path = earlier(join(root, "lake"));
    const pid = await lockElsewhere(path);
    expect(() => DemoFolder.claim(path)).toThrow(StoreLockedError);
    expect(() => DemoFolder.claim(path)).toThrow(`a demonstration is running in ${path} (process ${pid})`);
    expect(readdirSync(path).sort()).toEqual([".moraine-demo", "data", "notes", "store"]);
  });

  it("is left alone while somebody writes to the lake", async () => {
    const path = earlier(join(root, "lake"));
    const pid = await lockElsewhere(join(path, "store"));
    expect(() => DemoFolder.claim(path)).toThrow(`process ${pid} (node other.js) is writing to ${path}/store`);
    expect(existsSync(join(path, "store/file"))).toBe(true);
  });

  it("tells a full disk from a wrong folder", () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    expect(failedStep(full, "x", "y")).toBeInstanceOf(StoreError);
    const failure = new Error("of something else");
    expect(failedStep(failure, "x", "y")).toBe(failure);
  });
});
