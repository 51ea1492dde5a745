// One run of vitest, and what came of it as counts.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { runCommand } from "./run-command.mjs";

const resultsPath = ".cache/test-results.json";
/** As much of a failure's message as the closing lines repeat. */
const messageLines = 12;

/**
 * One file of the report; `message` is that of a failure outside its tests.
 * @typedef {object} TestFile
 * @property {string} name
 * @property {string} status
 * @property {string} [message]
 * @property {readonly { status: string, fullName: string, failureMessages?: readonly string[] | null }[]} assertionResults
 */

/**
 * The part of vitest's JSON report that is read here.
 * @typedef {object} TestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {readonly TestFile[]} testResults
 */

/** @param {TestFile} file */
function brokenOutsideTests({ status, assertionResults }) {
  return status === "failed" && !assertionResults.some((assertion) => assertion.status === "failed");
}

/**
 * @param {TestReport} report
 * @param {string} root Files are named from here.
 * @returns {string[]} Each failure: its file, its test, and the first lines of its message.
 */
function describeFailures({ testResults }, root) {
  return testResults.flatMap((file) => {
    const name = relative(root, file.name);
    const failures = file.assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => ({ what: `${name} > ${fullName}`, why: failureMessages?.join("\n") }));
    if (brokenOutsideTests(file)) failures.push({ what: name, why: file.message });
    return failures.map(({ what, why = "" }) => {
      const message = stripVTControlCharacters(why).split("\n").slice(0, messageLines);
      return [what, ...message.map((line) => `  ${line}`)].join("\n");
    });
  });
}

/**
 * Counts tests. A file that failed outside its tests (it does not load, a hook threw) counts as one failed test, and so
 * does a run that vitest ended with an error although no test failed, or that ran nothing.
 * @param {TestReport | undefined} report Undefined when vitest wrote none.
 * @param {number} exitCode
 * @param {string} root
 * @returns {import("./tally.mjs").Tally}
 */
export function countTests(report, exitCode, root) {
  if (report === undefined) {
    return { passed: 0, failed: 1, skipped: 0, failures: ["no report by vitest"] };
  }
  const brokenFiles = report.testResults.filter(brokenOutsideTests).length;
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + brokenFiles;
  const skipped = report.numPendingTests + report.numTodoTests;
  const failedOtherwise = failed === 0 && (exitCode !== 0 || passed === 0);
  if (failedOtherwise) {
    const why = passed === 0 ? "no test ran" : `vitest ended with exit code ${exitCode} although no test failed`;
    return { passed, failed: 1, skipped, failures: [why] };
  }
  return { passed, failed, skipped, failures: describeFailures(report, root) };
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
  return { code, output, tally: countTests(report, code, root) };
}
