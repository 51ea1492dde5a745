// Removes everything that a build or a test run made; installed dependencies stay.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isMain, rootFrom } from "./lib/command-line.mjs";
import { listPackages } from "./lib/workspace.mjs";

if (isMain(import.meta.url)) {
  const root = rootFrom(process.argv);
  const built = listPackages(root).flatMap(({ folder }) => [
    `${folder}/dist`,
    `${folder}/native/build`,
    `${folder}/moraine-store.node`,
    `${folder}/.turbo`,
  ]);
  for (const path of [...built, ".cache", ".turbo", "node_modules/.cache"]) {
    rmSync(join(root, path), { recursive: true, force: true });
  }
  console.log("clean: build output and caches removed");
}
