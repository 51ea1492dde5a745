// What the workspace holds. Plain Node without dependencies: the set-up reads this before anything is installed.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The fields of a package.json that the tools read.
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} [version]
 * @property {string} [license]
 * @property {string} [description]
 * @property {string} [type]
 * @property {boolean} [private]
 * @property {string} [packageManager]
 * @property {unknown} [sideEffects]
 * @property {string[]} [files]
 * @property {Record<string, string>} [engines]
 * @property {Record<string, string>} [publishConfig]
 * @property {Record<string, string>} [scripts]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, string | Record<string, string>>} [exports]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {string} [main]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 */

/**
 * @typedef {object} WorkspacePackage
 * @property {string} folder Path from the root with forward slashes, for instance `packages/codec`.
 * @property {Manifest} manifest
 */

/** The root of this workspace. */
export const workspaceRoot = fileURLToPath(new URL("../../", import.meta.url));

/** Folders whose direct subfolders are packages, as in pnpm-workspace.yaml. */
const packageParents = ["packages", "apps", "packages/store/platforms"];

/**
 * @param {string} path
 * @returns {Manifest}
 */
export function readManifest(path) {
  return /** @type {Manifest} */ (JSON.parse(readFileSync(path, "utf8")));
}

/**
 * Every package of the workspace, sorted by folder. The root itself is not one of them.
 * @param {string} root
 * @returns {WorkspacePackage[]}
 */
export function listPackages(root) {
  return packageParents.flatMap((parent) => {
    if (!existsSync(join(root, parent))) {
      return [];
    }
    return readdirSync(join(root, parent))
      .sort()
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, "package.json")))
      .map((folder) => ({ folder, manifest: readManifest(join(root, folder, "package.json")) }));
  });
}

/**
 * Files below a folder as paths from the root with forward slashes, sorted; installed and built folders are left out.
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
export function listFiles(root, folder) {
  const start = join(root, folder);
  if (!existsSync(start)) {
    return [];
  }
  /** @type {string[]} */
  const found = [];
  for (const entry of readdirSync(start, { withFileTypes: true })) {
    const path = join(start, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules" && entry.name !== "dist" && !entry.name.startsWith(".")) {
        found.push(...listFiles(root, relative(root, path)));
      }
    } else if (entry.isFile()) {
      found.push(relative(root, path).split(sep).join("/"));
    }
  }
  return found.sort();
}

/**
 * All dependencies that a manifest declares, by name.
 * @param {Manifest} manifest
 * @returns {Record<string, string>}
 */
export function allDependencies(manifest) {
  return {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
    ...manifest.devDependencies,
  };
}
