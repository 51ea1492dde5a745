// Packs the package in the current folder as it would be published, and looks at the result: publint, "are the types
// wrong", and what the archive holds. Run by turbo for every package (`npm run check:exports`).
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMain, reportProblems } from "./lib/command-line.mjs";
import { addonName, isPlatformPackage, platformManifestProblems, platformProblems } from "./lib/platforms.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { listFiles, readManifest, workspaceRoot } from "./lib/workspace.mjs";

/** @typedef {import("./lib/workspace.mjs").Manifest} Manifest */

/**
 * What a manifest must say for the package to be published and imported as intended.
 * @param {Manifest} manifest
 * @returns {string[]}
 */
export function manifestProblems(manifest) {
  /** @type {string[]} */
  const problems = [];
  /**
   * @param {boolean} holds
   * @param {string} problem
   */
  const require = (holds, problem) => {
    if (!holds) {
      problems.push(`package.json: ${problem}`);
    }
  };
  require(manifest.license === "MIT", 'license must be "MIT"');
  require((manifest.description ?? "") !== "", "description is missing");
  require(manifest.type === "module", 'type must be "module"');
  require(manifest.sideEffects !== undefined, "sideEffects is missing");
  require(manifest.engines?.["node"] !== undefined, "engines.node is missing");
  require((manifest.files ?? []).includes("dist"), "files must name dist");
  require(manifest.publishConfig?.["access"] === "public", 'publishConfig.access must be "public"');
  const root = manifest.exports?.["."];
  require(typeof root === "object" && Object.keys(root)[0] === "types", 'exports["."] must begin with "types"');
  return problems;
}

/**
 * What is wrong with the list of files in the archive.
 * @param {readonly string[]} packed Paths inside the archive, without the leading `package/`.
 * @param {readonly string[]} sources Paths below `src/`, without it.
 * @returns {string[]}
 */
export function archiveProblems(packed, sources) {
  const has = new Set(packed);
  const stems = new Set(sources.map((file) => file.replace(/\.ts$/, "")));
  const missing = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"]
    .filter((file) => !has.has(file))
    .map((file) => `the archive lacks ${file}`);
  const unwanted = packed
    .filter((file) => /\.(test|bench)\.[a-z.]+$|\.tsbuildinfo$|(^|\/)(fixtures|test|testing)\//.test(file))
    .map((file) => `the archive holds ${file}`);
  const stale = packed
    .filter((file) => file.startsWith("dist/") && file.endsWith(".js"))
    .filter((file) => !stems.has(file.slice("dist/".length, -".js".length)))
    .map((file) => `${file} has no source any more: run \`npm run clean\``);
  return [...missing, ...unwanted, ...stale];
}

/**
 * @typedef {object} Archive
 * @property {string} path
 * @property {readonly string[]} files Paths inside, without the leading `package/`.
 * @property {(command: string, args: readonly string[]) => Promise<{ code: number, output: string }>} run Runs a command
 *   in the package's folder.
 */

/**
 * Packs a package as it would be published and lets `look` say what is wrong with the archive.
 * @param {string} folder
 * @param {(archive: Archive) => string[] | Promise<string[]>} look
 * @returns {Promise<string[]>}
 */
async function packAndLook(folder, look) {
  const work = mkdtempSync(join(tmpdir(), "moraine-pack-"));
  try {
    const run = (/** @type {string} */ command, /** @type {readonly string[]} */ args) =>
      runCommand(command, args, { root: folder, capture: true, env: { PATH: binPath() } });
    const packed = await run("pnpm", ["pack", "--pack-destination", work]);
    const archive = readdirSync(work).find((file) => file.endsWith(".tgz"));
    if (packed.code !== 0 || archive === undefined) {
      return [`pnpm pack failed: ${packed.output.trim()}`];
    }
    const path = join(work, archive);
    const listed = await run("tar", ["-tzf", path]);
    const files = listed.output.split("\n").flatMap((line) => (line === "" ? [] : [line.replace(/^package\//, "")]));
    return await look({ path, files, run });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {Archive} archive
 * @returns {Promise<string[]>}
 */
async function libraryProblems(folder, { path, files, run }) {
  const problems = archiveProblems(
    files,
    listFiles(folder, "src").map((file) => file.slice("src/".length)),
  );
  const publint = await run("publint", ["run", path, "--strict"]);
  if (publint.code !== 0) {
    problems.push(`publint: ${publint.output.trim()}`);
  }
  const types = await run("attw", [
    path,
    "--profile",
    "esm-only",
    "--no-definitely-typed",
    "--format",
    "ascii",
    "--no-emoji",
    "--no-color",
  ]);
  if (types.code !== 0) {
    problems.push(`attw: ${types.output.trim()}`);
  }
  return problems;
}

/**
 * PATH with the workspace's own commands first: the package's folder has no publint or attw of its own.
 * @returns {string}
 */
function binPath() {
  return `${join(workspaceRoot, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
}

/**
 * A platform package: its manifest always, and the archive when a release has put the addon there. That it is there is
 * asked when the package is packed, not in a checkout.
 * @param {string} folder
 * @param {Manifest} manifest
 * @returns {Promise<string[]>}
 */
async function checkPlatformPackage(folder, manifest) {
  if (!existsSync(join(folder, addonName))) {
    return platformManifestProblems(manifest);
  }
  const problems = platformProblems(folder, manifest);
  if (problems.length > 0) {
    return problems;
  }
  const wanted = ["LICENSE", "README.md", addonName, "package.json"].join(", ");
  return await packAndLook(folder, ({ files }) => {
    const held = files.toSorted().join(", ");
    return held === wanted ? [] : [`the archive holds ${held} instead of ${wanted}`];
  });
}

/**
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
export async function checkPackage(folder) {
  const manifest = readManifest(join(folder, "package.json"));
  if (isPlatformPackage(manifest)) {
    return await checkPlatformPackage(folder, manifest);
  }
  if (!existsSync(join(folder, "dist/index.js"))) {
    return ["not built: run `npm run build`"];
  }
  return [...manifestProblems(manifest), ...(await packAndLook(folder, (archive) => libraryProblems(folder, archive)))];
}

if (isMain(import.meta.url)) {
  const folder = process.cwd();
  const manifest = readManifest(join(folder, "package.json"));
  const isWithoutAddon = isPlatformPackage(manifest) && !existsSync(join(folder, addonName));
  if (manifest.private === true) {
    console.log(`exports: ${manifest.name} is private`);
  } else {
    const well = isWithoutAddon
      ? "manifest is right (a release adds the addon)"
      : "archive, export map and types are right";
    reportProblems(`exports: ${manifest.name}`, await checkPackage(folder), well);
  }
}
