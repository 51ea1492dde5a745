// The closing lines of a test or check command: what failed, and `N passed, N failed`. When MORAINE_TALLY_FILE is set (by
// `.ci/run`, which closes with the same lines over everything), they are appended to that file instead of being printed.
import { appendFileSync } from "node:fs";

/**
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {readonly string[]} [failures] What failed and why, for a reader who sees only the end of the output; as far
 *   as it is known.
 */

/**
 * @param {Tally} tally
 * @returns {string}
 */
function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/**
 * @param {Tally} tally
 * @returns {string[]} The lines of every failure, marked; none when nothing failed.
 */
function failureLines({ failures = [] }) {
  return failures.flatMap((failure) => failure.split("\n")).map((line) => `! ${line}`);
}

/**
 * Prints the closing lines, or hands counts and failures to whoever set MORAINE_TALLY_FILE.
 * @param {Tally} tally
 */
export function closeWith(tally) {
  const file = process.env["MORAINE_TALLY_FILE"];
  if (file === undefined || file === "") {
    for (const line of [...failureLines(tally), closingLine(tally)]) console.log(line);
  } else {
    const counts = `${tally.passed} ${tally.failed} ${tally.skipped}`;
    appendFileSync(file, [counts, ...failureLines(tally), ""].join("\n"));
  }
}
