// `npm run test:sanitize`: the store's tests with its native part built with AddressSanitizer and
// UndefinedBehaviorSanitizer. Memory errors in an addon often do no visible harm; here each one is a failure.
// `sanitize-extension.mjs` does the same with the extension of DuckDB.
// The short run takes two minutes on two cores: what drives the addon itself, the conformance of every place, and two
// property tests of the indexes above it. `--long` has all tests of the ordered store and of the indexes, also those that
// kill processes, cut connections to S3, take rights away or let the writer stall: they spend their time outside of the
// addon. A machine without a C++ compiler or without the sanitizers' library is supported, so there the run counts as
// skipped.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compilerCandidates } from "../packages/store/native/compiler.mjs";
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { closeWith } from "./lib/tally.mjs";
import { runTests } from "./lib/test-run.mjs";
import { workspaceRoot } from "./lib/workspace.mjs";
import { setupOrExit } from "./setup.mjs";

/**
 * A native part and its tests.
 * @typedef {object} SanitizedPart
 * @property {string} what What messages call it.
 * @property {string} build The script that builds it with `--sanitize`.
 * @property {string} file What that builds.
 * @property {(file: string) => Record<string, string>} environment By which the tests use that file.
 * @property {readonly string[]} tests Those that drive it, by the beginning of their paths.
 */

const shortTests = [
  "packages/store/test/native/",
  "packages/store/test/ordered/memory.test.ts",
  "packages/store/test/ordered/file.test.ts",
  "packages/store/test/ordered/model.property.test.ts",
  "packages/store/test/ordered/reader.test.ts",
  "packages/store/test/ordered/s3.test.ts",
  "packages/index-core/test/planner.property.test.ts",
  "packages/index-core/test/range.property.test.ts",
];
const longTests = ["packages/store/test/native/", "packages/store/test/ordered/", "packages/index-core/test/"];

/**
 * @param {boolean} long
 * @returns {SanitizedPart}
 */
const storeAddon = (long) => ({
  what: "the addon",
  build: "packages/store/native/build.mjs",
  file: "packages/store/native/build/sanitized/moraine-store.node",
  // The plain binding, or another addon, is not what is looked at here.
  environment: (file) => ({ MORAINE_NATIVE: "on", MORAINE_NATIVE_ADDON: file }),
  tests: long ? longTests : shortTests,
});
/** Sanitizers write here, one file a process: a test runner may swallow what a dying worker prints. */
const reportFolder = ".cache/sanitize";
/** Everything takes a few times as long. */
const testTimeoutMs = 240_000;
const limitMs = 60 * 60 * 1000;

/**
 * The lines of a text in which a sanitizer says that it found something.
 * @param {string} text
 * @returns {string[]}
 */
export function sanitizerFindings(text) {
  const finding = /(ERROR|WARNING): \w+Sanitizer\b|\w+Sanitizer:DEADLYSIGNAL|\.(cc|h|cpp|hpp)\b[:\d]*: runtime error: /;
  return text.split("\n").filter((line) => finding.test(line));
}

/**
 * The library that has to be loaded before all others: that of the first compiler which has one.
 * @returns {{ compiler: string, library: string } | undefined}
 */
function findSanitizer() {
  for (const { name, command, args } of compilerCandidates(process.env)) {
    const { stdout } = spawnSync(command, [...args, "-print-file-name=libasan.so"], { encoding: "utf8" });
    const library = (stdout ?? "").trim();
    // A compiler that has none answers with the name that it was asked for.
    if (library.startsWith("/") && existsSync(library)) return { compiler: name, library };
  }
  return undefined;
}

/**
 * What the sanitizers wrote.
 * @param {string} root
 * @returns {string}
 */
function readReports(root) {
  const folder = join(root, reportFolder);
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

/**
 * Builds a part with sanitizers and runs its tests.
 * @param {string} root
 * @param {SanitizedPart} part
 * @returns {Promise<import("./lib/tally.mjs").Tally>}
 */
export async function sanitize(root, { what, build, file, environment, tests }) {
  /** @param {string} reason */
  const skip = (reason) => {
    console.log(`sanitize: skipped: ${reason}`);
    return { passed: 0, failed: 0, skipped: 1 };
  };
  const sanitizer = findSanitizer();
  if (sanitizer === undefined) return skip("no C++ compiler with AddressSanitizer");
  const built = join(root, file);
  rmSync(built, { force: true });
  // The library and what is built must be those of one compiler.
  const { code: buildCode } = await runCommand(process.execPath, [join(root, build), "--sanitize"], {
    root,
    env: { CXX: sanitizer.compiler },
  });
  if (buildCode !== 0) return { passed: 0, failed: 1, skipped: 0, failures: [`the build of ${what} with sanitizers`] };
  if (!existsSync(built)) return skip(`${what} could not be built with sanitizers`);

  rmSync(join(root, reportFolder), { recursive: true, force: true });
  mkdirSync(join(root, reportFolder), { recursive: true });
  const log = `log_path=${join(root, reportFolder, "report")}`;
  console.log(`sanitize: ${tests.join(", ")} with ${sanitizer.library}`);
  const options = [`--testTimeout=${testTimeoutMs}`, `--hookTimeout=${testTimeoutMs}`, "--pool=forks"];
  const { code, output, tally } = await runTests([...tests, ...options], {
    root,
    keep: true,
    limitMs,
    env: {
      ...environment(built),
      LD_PRELOAD: sanitizer.library,
      // Node and SlateDB hold memory until the process ends, on purpose.
      ASAN_OPTIONS: `detect_leaks=0:${log}`,
      UBSAN_OPTIONS: `halt_on_error=1:print_stacktrace=1:${log}`,
    },
  });
  const reports = readReports(root);
  const findings = [...sanitizerFindings(reports), ...sanitizerFindings(output)];
  if (findings.length > 0) {
    console.error(reports);
    console.error(`sanitize: found in ${reportFolder} and in the output:`);
    for (const finding of new Set(findings)) console.error(`  ${finding.trim()}`);
  }
  console.log(`sanitize: ${findings.length === 0 ? "nothing found" : "FAILED"}`);
  if ((code === 0 && findings.length === 0) || tally.failed > 0) return tally;
  return { ...tally, failed: 1, failures: [`sanitizers: exit code ${code}`, ...findings.map((line) => line.trim())] };
}

if (isMain(import.meta.url)) {
  await setupOrExit(workspaceRoot);
  const tally = await sanitize(workspaceRoot, storeAddon(process.argv.includes("--long")));
  closeWith(tally);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}
