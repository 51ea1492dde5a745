// `npm test`: set-up, then every test of the workspace, closing with `N passed, N failed`.
// Arguments go to vitest (`npm test -- packages/codec`). `--faults` runs the long form of the tests that kill, cut and
// fill (`npm run test:faults`): those that read MORAINE_FAULTS.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isMain } from "./lib/command-line.mjs";
import { closeWith } from "./lib/tally.mjs";
import { countTests, runTests } from "./lib/test-run.mjs";
import { listFiles, workspaceRoot } from "./lib/workspace.mjs";
import { setupOrExit } from "./setup.mjs";

/** The suite is meant to stay below this on two cores; a longer run is pointed out. */
const budgetSeconds = 15 * 60;
/** A run that takes this long hangs. The long form of the fault tests has no such limit. */
const limitMs = 60 * 60 * 1000;

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
  const { code, tally } =
    faults && files.length === 0
      ? { code: 1, tally: countTests(undefined, 1, root) }
      : await runTests([...files, ...vitestArgs], {
          root,
          ...(faults ? { env: { MORAINE_FAULTS: "long" } } : { limitMs }),
        });
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const overBudget = !faults && seconds > budgetSeconds;
  console.log(`test: ${seconds} s${overBudget ? `, more than the ${budgetSeconds} s that the suite may take` : ""}`);
  closeWith(tally);
  process.exitCode = code !== 0 || tally.failed > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) {
  await main(process.argv.slice(2));
}
