#!/usr/bin/env node
// Committed, not built, so that the command can be linked before the first build. It runs when what it imports is loaded.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isBundled } from "./service-bundle.js";

if (isBundled(fileURLToPath(new URL("../../..", import.meta.url)))) {
  await import("../dist/bundle/main.mjs");
} else if (existsSync(new URL("../dist/main.js", import.meta.url))) {
  await import("../dist/main.js");
} else {
  console.error("moraine-service: not built yet. Run `node tools/setup.mjs` in the workspace's root first.");
  process.exitCode = 1;
}
