// DuckLake's own test suite, each of its files on a moraine store of its own:
//   node tools/ducklake-tests.mjs --ducklake CHECKOUT --runner FILE [--extensions FOLDER] [--config FILE] [--out FILE]
//        [-- option of the runner ...]
// CHECKOUT has DuckLake's `test` and `data` at the commit that DuckDB 1.5.5 pins. FILE is a runner of sqllogictest files on
// @duckdb/node-api, which is no part of this repository. FOLDER has further official extensions, without which their tests are left
// out. The configuration is one of DuckLake's own (`test/configs`). Needs what `npm run setup` builds. Ends with 1 when a test failed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { workspaceRoot } from "./lib/workspace.mjs";

const usage =
  "usage: node tools/ducklake-tests.mjs --ducklake CHECKOUT --runner FILE [--extensions FOLDER] [--config FILE] [--out FILE] " +
  "[-- OPTION ...]";
/** A service of a file's store ends soon after the file, so that hundreds of them do not run at once. */
const idleTimeoutSeconds = 2;
const removal = { recursive: true, force: true, maxRetries: 50, retryDelay: 100 };

/**
 * The runner's configuration: one of DuckLake's own or none, with the tests that are about a DuckDB file left out as well.
 * @param {string} [upstream] The file of DuckLake's own.
 * @returns {Readonly<Record<string, unknown>> & { readonly skip_tests: readonly { readonly reason: string, readonly paths: readonly string[] }[] }}
 */
export function testConfiguration(upstream) {
  /** @param {string | URL} file */
  const read = (file) => /** @type {ReturnType<typeof testConfiguration>} */ (JSON.parse(readFileSync(file, "utf8")));
  const ours = read(new URL("lib/ducklake-skips.json", import.meta.url));
  if (upstream === undefined) return ours;
  const theirs = read(upstream);
  return { ...theirs, skip_tests: [...ours.skip_tests, ...(theirs.skip_tests ?? [])] };
}

/**
 * What the runner is started with.
 * @param {{ ducklake: string, runner: string, extensions?: string | undefined }} places
 * @param {{ official: string, prelude: string, config: string, out: string }} files
 * @param {readonly string[]} rest Further options of the runner.
 * @returns {string[]}
 */
export function runnerArguments({ ducklake, runner, extensions }, { official, prelude, config, out }, rest) {
  const besides = extensions === undefined ? [] : ["--extensions", resolve(extensions)];
  return [
    "--import",
    new URL("lib/patient-removal.mjs", import.meta.url).href,
    resolve(runner),
    "--root",
    resolve(ducklake),
    "--engine",
    workspaceRoot,
    "--ducklake",
    official,
    ...besides,
    "--prelude",
    prelude,
    "--connection",
    "moraine:{DEFAULT}",
    "--rewrite-literals",
    "--config",
    config,
    "--out",
    out,
    ...rest,
  ];
}

/**
 * One line on a result of the runner.
 * @param {{ readonly count: { readonly pass: number, readonly fail: number, readonly skip: number } }} result
 * @returns {string}
 */
export function resultLine({ count: { pass, fail, skip } }) {
  return `${pass + fail + skip} files: ${pass} pass, ${fail} fail, ${skip} skip`;
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} The runner's exit code.
 */
async function run(args) {
  const text = /** @type {const} */ ({ type: "string" });
  const options = { ducklake: text, runner: text, extensions: text, config: text, out: text };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const { ducklake, runner, extensions } = values;
  if (ducklake === undefined || runner === undefined) {
    console.error(usage);
    return 2;
  }
  const { extensionFile, literal, officialExtensionFile } = await import("../apps/extension/dist/index.js");
  const folder = mkdtempSync(join(tmpdir(), "moraine-ducklake-tests-"));
  try {
    const prelude = join(folder, "prelude.sql");
    const out = resolve(values.out ?? join(folder, "result.json"));
    const config = join(folder, "config.json");
    writeFileSync(config, JSON.stringify(testConfiguration(values.config)));
    writeFileSync(prelude, `LOAD ${literal(extensionFile())};\n`);
    const files = { official: await officialExtensionFile("ducklake"), prelude, config, out };
    const service = join(workspaceRoot, "apps/extension/bin/moraine-service.js");
    const { code } = await runCommand(
      process.execPath,
      runnerArguments({ ducklake, runner, extensions }, files, positionals),
      {
        root: workspaceRoot,
        env: {
          MORAINE_SERVICE: `${process.execPath}\n${service}`,
          MORAINE_RUNTIME_DIR: join(folder, "run"),
          MORAINE_IDLE_TIMEOUT: String(idleTimeoutSeconds),
        },
      },
    );
    const result = /** @type {Parameters<typeof resultLine>[0]} */ (JSON.parse(readFileSync(out, "utf8")));
    console.log(`DuckLake's tests on moraine: ${resultLine(result)}`);
    return code;
  } finally {
    // The last services end by themselves.
    rmSync(folder, removal);
  }
}

if (isMain(import.meta.url)) process.exitCode = await run(process.argv.slice(2));
