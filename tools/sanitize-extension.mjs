// `npm run test:sanitize:extension`: the tests of the extension of DuckDB that drive it from Node, with the extension built with
// AddressSanitizer and UndefinedBehaviorSanitizer. DuckDB itself is the plain library, so that only what the extension's own code
// reads and writes is looked at.
import { join } from "node:path";
import { isMain } from "./lib/command-line.mjs";
import { closeWith } from "./lib/tally.mjs";
import { workspaceRoot } from "./lib/workspace.mjs";
import { sanitize } from "./sanitize.mjs";
import { setupOrExit } from "./setup.mjs";

/** The service holds none of the extension's code, and starts faster without the sanitizers. */
const service = join(workspaceRoot, "apps/extension/bin/moraine-service.js");
const serviceCommand = ["env", "-u", "LD_PRELOAD", process.execPath, service];

/** @type {import("./sanitize.mjs").SanitizedPart} */
const extension = {
  what: "the extension of DuckDB",
  build: "packages/duckdb-ext/native/build.mjs",
  file: "packages/duckdb-ext/native/build/sanitized/moraine.duckdb_extension",
  environment: (file) => ({ MORAINE_EXTENSION: file, MORAINE_SERVICE: serviceCommand.join("\n") }),
  tests: [
    "packages/duckdb-ext/test/index-",
    "packages/duckdb-ext/test/failed-apply.test.ts",
    "apps/extension/test/scenarios.test.ts",
    "apps/extension/test/default-data-path.test.ts",
    "apps/extension/test/idle-wait.test.ts",
    "apps/extension/test/loaded-anew.test.ts",
  ],
};

if (isMain(import.meta.url)) {
  await setupOrExit(workspaceRoot);
  const tally = await sanitize(workspaceRoot, extension);
  closeWith(tally);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}
