// Writes `moraine.service` beside the extension of DuckDB: the command by which the extension starts a service, one argument a
// line. It names this Node and this checkout, so it is made where it is used, and never published.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * @param {string} root The workspace's root.
 * @returns {boolean} Whether the file was another one, or none.
 */
export function writeServiceFile(root) {
  const path = join(root, "packages/duckdb-ext/native/build/moraine.service");
  const text = `${process.execPath}\n${join(root, "apps/extension/bin/moraine-service.js")}\n`;
  if (existsSync(path) && readFileSync(path, "utf8") === text) return false;
  mkdirSync(dirname(path), { recursive: true });
  // Put in place as a whole: a DuckDB may be reading it.
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
  return true;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeServiceFile(resolve(dirname(fileURLToPath(import.meta.url)), "../../.."));
}
