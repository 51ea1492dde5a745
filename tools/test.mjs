// `npm test`: set-up, then every test of the workspace, closing with `N passed, N failed`.
// Arguments go to vitest (`npm test -- packages/codec`). `--faults` runs the long form of the tests that kill, cut and
// fill (`npm run test:faults`): those that read MORAINE_FAULTS.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { closeWith } from "./lib/tally.mjs";
import { listFiles, workspaceRoot } from "./lib/workspace.mjs";
import { setupOrExit } from "./setup.mjs";

const resultsPath = ".cache/test-results.json";
/** The suite is meant to stay below this on two cores; a longer run is pointed out. */
const budgetSeconds = 15 * 60;
/** A run that takes this long hangs. The long form of the fault tests has no such limit. */
const limitMs = 60 * 60 * 1000;

/**
 * The part of vitest's JSON report that is read here.
 * @typedef {object} TestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {readonly { status: string, assertionResults: readonly { status: string }[] }[]} testResults
 */

/**
 * Counts tests. A file that failed outside its tests (it does not load, a hook threw) counts as one failed test, and so
 * does a run that vitest ended with an error although no test failed, or that ran nothing.
 * @param {TestReport | undefined} report Undefined when vitest wrote none.
 * @param {number} exitCode
 * @returns {import("./lib/tally.mjs").Tally}
 */
export function countTests(report, exitCode) {
  if (report === undefined) {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((assertion) => assertion.status === "failed"),
  ).length;
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + brokenFiles;
  const skipped = report.numPendingTests + report.numTodoTests;
  const failedOtherwise = failed === 0 && (exitCode !== 0 || passed === 0);
  return { passed, failed: failedOtherwise ? 1 : failed, skipped };
}

/**
 * The test files that have a long form: those that read MORAINE_FAULTS themselves or are named after what they do.
 * @param {string} root
 * @returns {string[]}
 */
export function faultTests(root) {
  return ["packages", "apps"]
    .flatMap((folder) => listFiles(root, folder))
    .filter((file) => file.endsWith(".test.ts"))
    .filter(
      (file) =>
        /[./-](faults?|kill)[.-]/.test(file) || readFileSync(join(root, file), "utf8").includes("MORAINE_FAULTS"),
    );
}

/** @param {readonly string[]} args */
async function main(args) {
  const root = workspaceRoot;
  await setupOrExit(root);
  const faults = args.includes("--faults");
  const vitestArgs = args.filter((arg) => arg !== "--faults");
  const files = faults ? faultTests(root) : [];
  if (faults) {
    console.log(`test: long form of ${files.length} fault test files`);
  }
  const startedMs = performance.now();
  mkdirSync(join(root, ".cache"), { recursive: true });
  rmSync(join(root, resultsPath), { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${resultsPath}`];
  const { code } =
    faults && files.length === 0
      ? { code: 1 }
      : await runCommand(process.execPath, [vitest, "run", ...reporters, ...files, ...vitestArgs], {
          root,
          ...(faults ? { env: { MORAINE_FAULTS: "long" } } : { limitMs }),
        });
  const report = existsSync(join(root, resultsPath))
    ? /** @type {TestReport} */ (JSON.parse(readFileSync(join(root, resultsPath), "utf8")))
    : undefined;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const overBudget = !faults && seconds > budgetSeconds;
  console.log(`test: ${seconds} s${overBudget ? `, more than the ${budgetSeconds} s that the suite may take` : ""}`);
  const tally = countTests(report, code);
  closeWith(tally);
  process.exitCode = code !== 0 || tally.failed > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) {
  await main(process.argv.slice(2));
}
