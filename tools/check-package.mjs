// Packs the package in the current folder as it would be published, and looks at the result: publint, "are the types
// wrong", and what the archive holds. Run by turbo for every package (`npm run check:exports`).
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMain, reportProblems } from "./lib/command-line.mjs";
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
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
async function packAndLook(folder) {
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
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * PATH with the workspace's own commands first: the package's folder has no publint or attw of its own.
 * @returns {string}
 */
function binPath() {
  return `${join(workspaceRoot, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
}

/**
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
export async function checkPackage(folder) {
  if (!existsSync(join(folder, "dist/index.js"))) {
    return ["not built: run `npm run build`"];
  }
  const manifest = /** @type {Manifest} */ (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  return [...manifestProblems(manifest), ...(await packAndLook(folder))];
}

if (isMain(import.meta.url)) {
  const folder = process.cwd();
  const { name, private: isPrivate } = readManifest(join(folder, "package.json"));
  if (isPrivate === true) {
    console.log(`exports: ${name} is private`);
  } else {
    reportProblems(`exports: ${name}`, await checkPackage(folder), "archive, export map and types are right");
  }
}
