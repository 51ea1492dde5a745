#!/usr/bin/env node
// Committed, not built, so that the command can be linked before the first build. The command line is dist/cli.js; it
// runs when it is loaded.
import { existsSync } from "node:fs";

if (existsSync(new URL("../dist/cli.js", import.meta.url))) {
  await import("../dist/cli.js");
} else {
  console.error("moraine: not built yet. Run `npm start` or `node tools/setup.mjs` in the workspace's root first.");
  process.exitCode = 1;
}
