// The closing line `N passed, N failed` of a test or check command. When MORAINE_TALLY_FILE is set (by `.ci/run`, which
// closes with one line over everything), the counts are appended to that file instead of being printed.
import { appendFileSync } from "node:fs";

/**
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 */

/**
 * @param {Tally} tally
 * @returns {string}
 */
function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/**
 * Prints the closing line, or hands the counts to whoever set MORAINE_TALLY_FILE.
 * @param {Tally} tally
 */
export function closeWith(tally) {
  const file = process.env["MORAINE_TALLY_FILE"];
  if (file === undefined || file === "") {
    console.log(closingLine(tally));
  } else {
    appendFileSync(file, `${tally.passed} ${tally.failed} ${tally.skipped}\n`);
  }
}
