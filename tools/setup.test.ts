import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuildError, lockedPnpmVersion, nativeDigest, nodeProblem, setup, SetupError } from "./setup.mjs";
import { explainInstallFailure } from "./lib/install-failure.mjs";
import { temporaryWorkspace, writeFiles } from "./lib/temporary-workspace.js";

interface Call {
  readonly command: string;
  readonly args: readonly string[];
}

interface Result {
  readonly code: number | null;
  readonly output: string;
}

const well: Result = { code: 0, output: "" };

/** A workspace, and a stand-in for the commands that set-up runs: it records them and leaves what they would leave. */
class Bench {
  readonly root = temporaryWorkspace({
    "package.json": { name: "w", packageManager: "pnpm@10.34.9" },
    "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
    "packages/codec/package.json": { name: "@moraine/codec" },
    "packages/codec/tsconfig.json": {},
    "packages/codec/src/index.ts": "export const a = 1;",
    "packages/codec/src/index.test.ts": "",
  });
  readonly calls: Call[] = [];
  readonly lines: string[] = [];
  installResult = well;
  buildResult = well;

  async run(): Promise<void> {
    await setup({
      root: this.root,
      log: (line: string) => this.lines.push(line),
      run: (command: string, args: readonly string[]) => {
        this.calls.push({ command, args });
        if (command === "npx") {
          mkdirSync(join(this.root, "node_modules"), { recursive: true });
          return Promise.resolve(this.installResult);
        }
        writeFiles(this.root, { "packages/codec/dist/.tsbuildinfo": "{}" });
        return Promise.resolve(this.buildResult);
      },
    });
  }

  /** What the next run does, by the commands that it starts. */
  async nextRun(): Promise<string[]> {
    this.calls.length = 0;
    await this.run();
    return this.calls.map(({ command }) => (command === "npx" ? "install" : "build"));
  }
}

describe("what a run does", () => {
  test("a fresh clone is installed from the lock file with the pnpm of package.json, then built", async () => {
    const bench = new Bench();
    expect(await bench.nextRun()).toEqual(["install", "build"]);
    expect(bench.calls[0]?.args).toEqual(["-y", "pnpm@10.34.9", "install", "--frozen-lockfile", "--prefer-offline"]);
    expect(bench.calls[1]?.args.slice(1)).toEqual(["-b", "tsconfig.build.json"]);
    expect(bench.lines.at(-1)).toMatch(/^setup: done in /);
  });

  test("nothing when nothing changed", async () => {
    const bench = new Bench();
    await bench.run();
    expect(await bench.nextRun()).toEqual([]);
    expect(bench.lines.at(-1)).toMatch(/^setup: nothing to do /);
  });

  test.each([
    ["a changed lock file", { "pnpm-lock.yaml": "lockfileVersion: '9.1'\n" }, ["install", "build"]],
    [
      "a changed dependency",
      { "packages/codec/package.json": { name: "@moraine/codec", dependencies: { a: "1.0.0" } } },
      ["install", "build"],
    ],
    ["a new package", { "apps/moraine/package.json": { name: "moraine" } }, ["install", "build"]],
    ["a changed source", { "packages/codec/src/index.ts": "export const a = 12;" }, ["build"]],
    ["a new source", { "packages/codec/src/more.ts": "" }, ["build"]],
    ["a changed compiler setting", { "tsconfig.base.json": "{}" }, ["build"]],
    ["a changed test", { "packages/codec/src/index.test.ts": "export {};" }, []],
    ["a changed script", { "package.json": { name: "w", packageManager: "pnpm@10.34.9", scripts: { a: "b" } } }, []],
  ])("%s", async (_what, change, expected) => {
    const bench = new Bench();
    await bench.run();
    writeFiles(bench.root, change);
    expect(await bench.nextRun()).toEqual(expected);
  });

  test("deleted dependencies and deleted output are noticed", async () => {
    const bench = new Bench();
    await bench.run();
    rmSync(join(bench.root, "packages/codec/dist"), { recursive: true });
    expect(await bench.nextRun()).toEqual(["build"]);
    rmSync(join(bench.root, "node_modules"), { recursive: true });
    expect(await bench.nextRun()).toEqual(["install"]);
  });

  test("a failed install is explained, and repeated by the next run", async () => {
    const bench = new Bench();
    bench.installResult = { code: 1, output: "npm error code ENOTFOUND" };
    await expect(bench.run()).rejects.toThrow(/not installed\. The package registry could not be reached/);
    await expect(bench.run()).rejects.toThrow(SetupError);
    expect(bench.calls).toHaveLength(2);
    bench.installResult = well;
    expect(await bench.nextRun()).toEqual(["install", "build"]);
  });

  test("a failed build is repeated by the next run", async () => {
    const bench = new Bench();
    await bench.run();
    writeFileSync(join(bench.root, "packages/codec/src/index.ts"), "export const a: string = 1;");
    bench.buildResult = { code: 2, output: "" };
    await expect(bench.run()).rejects.toThrow(/The build failed/);
    expect(existsSync(join(bench.root, ".cache/build-stamp"))).toBe(false);
    bench.buildResult = well;
    expect(await bench.nextRun()).toEqual(["build"]);
  });
});

describe("the native part", () => {
  const files = {
    "packages/store/package.json": { name: "@moraine/store" },
    "packages/store/native/build.mjs": "",
    "packages/store/native/src/addon.cc": "int a;",
  };

  test("is built when it is there, and again when a source or a compiler changes", async () => {
    const bench = new Bench();
    writeFiles(bench.root, files);
    await bench.run();
    expect(bench.calls.at(-1)?.args).toEqual([join(bench.root, "packages/store/native/build.mjs")]);
    expect(await bench.nextRun()).toEqual([]);
    writeFiles(bench.root, { "packages/store/native/src/addon.cc": "int ab;" });
    expect(await bench.nextRun()).toEqual(["build"]);
    writeFiles(bench.root, { "packages/store/native/build/sanitized/moraine-store.node": "" });
    expect(await bench.nextRun()).toEqual([]);
    writeFiles(bench.root, { "packages/store/native/build/moraine-store.node": "" });
    expect(await bench.nextRun()).toEqual(["build"]);

    const before = nativeDigest(bench.root, "packages/store/native", { PATH: bench.root });
    writeFiles(bench.root, { "clang++": "" });
    expect(nativeDigest(bench.root, "packages/store/native", { PATH: bench.root })).not.toBe(before);
  });

  test("sources that do not compile are a failed build, and are tried again", async () => {
    const bench = new Bench();
    await bench.run();
    writeFiles(bench.root, files);
    await bench.run();
    bench.buildResult = { code: 1, output: "" };
    writeFiles(bench.root, { "packages/store/native/src/addon.cc": "int" });
    await expect(bench.run()).rejects.toThrow(/native part of the store was not built/);
    await expect(bench.run()).rejects.toThrow(BuildError);
    bench.buildResult = well;
    expect(await bench.nextRun()).toEqual(["build"]);
  });
});

describe("reasons", () => {
  test.each([
    ["spawn npx ENOENT", /npx was not found/],
    [" ERR_PNPM_OUTDATED_LOCKFILE  Cannot install", /does not match the package\.json files/],
    ["npm error code EAI_AGAIN", /could not be reached/],
    ["ERR_PNPM_META_FETCH_FAIL request failed, reason: connect ECONNREFUSED 127.0.0.1:9", /could not be reached/],
    ["npm error code E403\nnpm error 403 Forbidden", /refused the request/],
    ["ENOSPC: no space left on device", /disk is full/],
    ["EACCES: permission denied, mkdir", /could not be written/],
    ["something else", /exit code 7/],
  ])("%s", (output, explanation) => {
    expect(explainInstallFailure({ code: 7, output })).toMatch(explanation);
  });

  test("Node's version", () => {
    expect(nodeProblem("v20.0.0")).toBeUndefined();
    expect(nodeProblem("v24.1.0")).toBeUndefined();
    expect(nodeProblem("v18.20.8")).toMatch(/v18\.20\.8 is too old: install Node 20/);
  });

  test("a packageManager field that names no exact version", () => {
    const root = temporaryWorkspace({ "package.json": { name: "w", packageManager: "pnpm@latest" } });
    expect(() => lockedPnpmVersion(root)).toThrow(/must name an exact pnpm version/);
  });
});
