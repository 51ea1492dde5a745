// Where the thread begins that serves a store for its process (src/client/service-thread.ts). Committed, not built: what runs on
// sources finds it in the same place as what was compiled.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isBundled } from "./service-bundle.js";

if (isBundled(fileURLToPath(new URL("../../..", import.meta.url)))) {
  await import("../dist/bundle/thread.mjs");
} else if (existsSync(new URL("../dist/thread.js", import.meta.url))) {
  await import("../dist/thread.js");
} else {
  throw new Error("not built yet: run `node tools/setup.mjs` in the workspace's root first");
}
