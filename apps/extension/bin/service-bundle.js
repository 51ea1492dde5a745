// Where a checkout has the service in a few files (build/service-bundle.mjs), and whether that is what was compiled last.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const parts = [
  "apps/extension",
  ...["codec", "runtime", "store", "index-core", "scoped-reader", "catalog", "duckdb-ext"].map(
    (name) => `packages/${name}`,
  ),
];

/**
 * @param {string} root The checkout.
 * @returns {string}
 */
export function bundleFolder(root) {
  return join(root, "apps/extension/dist/bundle");
}

/** Names what a bundle was made from. */
export const stampName = "made-from.json";

/**
 * Another text whenever a part of the service was compiled anew, or lies elsewhere; undefined where one is not compiled.
 * @param {string} root The checkout.
 * @returns {string | undefined}
 */
export function compiledParts(root) {
  const files = parts.map((part) => join(root, part, "dist/.tsbuildinfo"));
  if (!files.every((file) => existsSync(file))) return undefined;
  return JSON.stringify(files.map((file) => [file, statSync(file).mtimeMs]));
}

/**
 * Whether there is a bundle of what was compiled last.
 * @param {string} root The checkout.
 * @returns {boolean}
 */
export function isBundled(root) {
  const stamp = join(bundleFolder(root), stampName);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === compiledParts(root);
}
