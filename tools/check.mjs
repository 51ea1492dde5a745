// `npm run check`: set-up, then every script of package.json whose name starts with `check:`, all of them even when one
// fails, each reported in one line; the output of those that fail follows their line.
import { join } from "node:path";
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { closeWith } from "./lib/tally.mjs";
import { readManifest, workspaceRoot } from "./lib/workspace.mjs";
import { setupOrExit } from "./setup.mjs";

const prefix = "check:";

/**
 * The checks that package.json lists, in its order.
 * @param {string} root
 * @returns {{ name: string, command: string }[]}
 */
export function listChecks(root) {
  return Object.entries(readManifest(join(root, "package.json")).scripts ?? {})
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, command]) => ({ name: name.slice(prefix.length), command }));
}

/**
 * Runs all checks one after the other and tells which failed.
 * @param {string} root
 * @param {(line: string) => void} log
 * @returns {Promise<import("./lib/tally.mjs").Tally>}
 */
export async function runChecks(root, log) {
  let passed = 0;
  /** @type {string[]} */
  const failures = [];
  for (const { name, command } of listChecks(root)) {
    const startedMs = performance.now();
    const { code, output } = await runCommand(command, [], { root, capture: true, shell: true });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    if (code === 0) {
      passed += 1;
      log(`ok    ${name} (${seconds} s)`);
    } else {
      failures.push(`check ${name}`);
      log(`FAIL  ${name} (${seconds} s): ${command}`);
      log(output.trimEnd().replace(/^/gm, "      "));
    }
  }
  return { passed, failed: failures.length, skipped: 0, failures };
}

if (isMain(import.meta.url)) {
  // A workspace that does not build can still be linted; that it does not build is what the check of types reports.
  await setupOrExit(workspaceRoot, { buildMayFail: true });
  const tally = await runChecks(workspaceRoot, (line) => console.log(line));
  closeWith(tally);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}
