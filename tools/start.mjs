// `npm start`: set-up, then the demonstration lake, by the embedding API and in SQL.
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { workspaceRoot } from "./lib/workspace.mjs";
import { setupOrExit } from "./setup.mjs";

if (isMain(import.meta.url)) {
  await setupOrExit(workspaceRoot);
  const demo = ["apps/moraine/bin/moraine.js", "demo", ...process.argv.slice(2)];
  const { code } = await runCommand(process.execPath, demo, { root: workspaceRoot });
  process.exitCode = code;
}
