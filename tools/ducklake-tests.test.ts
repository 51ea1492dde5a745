import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "../apps/extension/test/support/available.js";
import { resultLine, runnerArguments, testConfiguration } from "./ducklake-tests.mjs";

const script = fileURLToPath(new URL("ducklake-tests.mjs", import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-ducklake-tests-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("DuckLake's tests", () => {
  it("are run on stores of their own, without those about a DuckDB file", () => {
    const files = {
      official: "/ducklake.duckdb_extension",
      prelude: "/prelude.sql",
      config: "/config.json",
      out: "/result.json",
    };
    const args = runnerArguments({ ducklake: "/ducklake", runner: "/run.mjs" }, files, ["--only", "view/*"]);
    expect(args.join(" ")).toMatch(/^--import file:.*patient-removal.mjs \/run.mjs --root \/ducklake --engine /u);
    expect(args.join(" ")).toContain("--connection moraine:{DEFAULT} --rewrite-literals");
    expect(args.slice(-2)).toEqual(["--only", "view/*"]);
    expect(args[args.indexOf("--config") + 1]).toBe("/config.json");
    expect(testConfiguration().skip_tests.flatMap(({ paths }) => paths)).toHaveLength(9);
  });

  it("take a configuration of DuckLake's own, and leave out what either leaves out", () => {
    const upstream = join(folder, "no_inline.json");
    const skipped = { reason: "wants inlined data", paths: ["test/sql/alter/issue_944.test"] };
    writeFileSync(upstream, JSON.stringify({ on_init: "SET x = 0;", skip_tests: [skipped] }));
    const { skip_tests, ...rest } = testConfiguration(upstream);
    expect(rest).toMatchObject({ on_init: "SET x = 0;" });
    expect(skip_tests).toEqual([...testConfiguration().skip_tests, skipped]);
    writeFileSync(upstream, JSON.stringify({ on_init: "SET x = 1;" }));
    expect(testConfiguration(upstream).skip_tests).toEqual(testConfiguration().skip_tests);
  });

  it("end with one line on the result", () => {
    expect(resultLine({ count: { pass: 446, fail: 9, skip: 16 } })).toBe("471 files: 446 pass, 9 fail, 16 skip");
  });

  it("want to be told where things are", () => {
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
    expect([status, stderr]).toEqual([2, expect.stringContaining("--ducklake CHECKOUT")]);
  });

  it.skipIf(!extensionAvailable)("have the runner's exit code, and leave nothing behind", () => {
    // A runner that tells what it was given.
    const runner = join(folder, "runner.mjs");
    const lines = [
      'import { readFileSync, writeFileSync } from "node:fs";',
      "const at = (name) => process.argv[process.argv.indexOf(name) + 1];",
      'console.log(readFileSync(at("--prelude"), "utf8").trim());',
      'console.log("runtime folder", process.env.MORAINE_RUNTIME_DIR);',
      'console.log("configured", Object.keys(JSON.parse(readFileSync(at("--config"), "utf8"))).join());',
      'writeFileSync(at("--out"), JSON.stringify({ count: { pass: 1, fail: 2, skip: 3 } }));',
      "process.exitCode = 1;",
    ];
    writeFileSync(runner, lines.join("\n"));
    const { status, stdout } = spawnSync(process.execPath, [script, "--ducklake", folder, "--runner", runner], {
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^LOAD '.*moraine\.duckdb_extension';\nruntime folder .*\nconfigured description,skip_tests\nDuckLake's tests on moraine: 6 files: 1 pass, 2 fail, 3 skip\n$/u,
    );
    const runtime = /^runtime folder (.*)$/mu.exec(stdout)?.[1] ?? "";
    expect(runtime).toContain("moraine-ducklake-tests-");
    expect(existsSync(join(runtime, ".."))).toBe(false);
  });

  it("wait for a folder that is still written to", () => {
    const target = join(folder, "busy");
    mkdirSync(target);
    const program = [
      'import { rmSync, existsSync } from "node:fs";',
      `import fs from "node:fs";`,
      `rmSync(${JSON.stringify(target)}, { recursive: true });`,
      `console.log(existsSync(${JSON.stringify(target)}), fs.attempts);`,
    ];
    // Fails twice, as it does while somebody writes into the folder.
    const failing = [
      'import fs from "node:fs";',
      "const { rmSync } = fs; fs.attempts = 0;",
      'fs.rmSync = (...args) => { if (++fs.attempts < 3) throw new Error("ENOTEMPTY"); return rmSync(...args); };',
    ];
    writeFileSync(join(folder, "failing.mjs"), failing.join("\n"));
    writeFileSync(join(folder, "program.mjs"), program.join("\n"));
    const patient = new URL("lib/patient-removal.mjs", import.meta.url).href;
    const args = ["--import", join(folder, "failing.mjs"), "--import", patient, join(folder, "program.mjs")];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([stdout, stderr]).toEqual(["false 3\n", ""]);
  });
});
