// `npm run bench`: set-up, the native part of better-sqlite3 (the peer in the tables) when it is missing, then the
// benchmarks. Arguments go to the benchmarks.
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMain } from "./lib/command-line.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { workspaceRoot } from "./lib/workspace.mjs";
import { setupOrExit } from "./setup.mjs";

const peerFolder = "apps/benchmarks/node_modules/better-sqlite3";
const peerLogPath = ".cache/better-sqlite3-build.log";

/**
 * Builds the peer once. Without a compiler the benchmarks run without that column.
 * @param {string} root
 */
async function buildPeer(root) {
  if (existsSync(join(root, peerFolder, "build/Release/better_sqlite3.node"))) {
    return;
  }
  console.log("bench: building better-sqlite3 for comparison (once, about two minutes)");
  const { code, output } = await runCommand("npm", ["run", "install"], {
    root: realpathSync(join(root, peerFolder)),
    capture: true,
    shell: process.platform === "win32",
  });
  mkdirSync(join(root, ".cache"), { recursive: true });
  writeFileSync(join(root, peerLogPath), output);
  if (code !== 0) {
    console.log(`bench: better-sqlite3 could not be built (see ${peerLogPath}); its figures will be missing`);
  }
}

if (isMain(import.meta.url)) {
  await setupOrExit(workspaceRoot);
  await buildPeer(workspaceRoot);
  const bench = ["--expose-gc", "apps/benchmarks/dist/main.js", ...process.argv.slice(2)];
  const { code } = await runCommand(process.execPath, bench, { root: workspaceRoot });
  process.exitCode = code;
}
