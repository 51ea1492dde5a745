// One run of vitest, and what came of it as counts.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";

const resultsPath = ".cache/test-results.json";

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
 * @returns {import("./tally.mjs").Tally}
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
 * Runs tests and counts them.
 * @param {readonly string[]} args Files and options for vitest; no files are all of them.
 * @param {Omit<import("./run-command.mjs").RunOptions, "capture" | "shell">} options
 * @returns {Promise<{ code: number, output: string, tally: import("./tally.mjs").Tally }>} `output` with the option `keep`.
 */
export async function runTests(args, options) {
  const { root } = options;
  mkdirSync(join(root, ".cache"), { recursive: true });
  rmSync(join(root, resultsPath), { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${resultsPath}`];
  const { code, output } = await runCommand(process.execPath, [vitest, "run", ...reporters, ...args], options);
  const report = existsSync(join(root, resultsPath))
    ? /** @type {TestReport} */ (JSON.parse(readFileSync(join(root, resultsPath), "utf8")))
    : undefined;
  return { code, output, tally: countTests(report, code) };
}
