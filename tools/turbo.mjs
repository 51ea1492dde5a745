// Runs turbo for the workspace: it needs the pnpm of node_modules/.bin on PATH, and is kept from calling home.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { workspaceRoot } from "./lib/workspace.mjs";

if (isMain(import.meta.url)) {
  const turbo = join(workspaceRoot, "node_modules/turbo/bin/turbo");
  if (!existsSync(turbo)) {
    console.error("turbo: not installed; run `node tools/setup.mjs` first");
    process.exit(1);
  }
  const { code } = await runCommand(process.execPath, [turbo, ...process.argv.slice(2)], {
    root: workspaceRoot,
    env: { TURBO_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1", DO_NOT_TRACK: "1" },
  });
  process.exitCode = code;
}
