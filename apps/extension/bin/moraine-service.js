#!/usr/bin/env node
// Committed, not built, so that the command can be linked before the first build. It runs when dist/main.js is loaded.
import { existsSync } from "node:fs";

if (existsSync(new URL("../dist/main.js", import.meta.url))) {
  await import("../dist/main.js");
} else {
  console.error("moraine-service: not built yet. Run `node tools/setup.mjs` in the workspace's root first.");
  process.exitCode = 1;
}
