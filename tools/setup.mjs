// Brings a fresh clone to the point where the product and its tests run: installs the locked dependencies with the pnpm
// named in package.json (fetched by npx, so that only Node and npm are needed) and builds. Does nothing when nothing
// changed. Plain Node without dependencies, and syntax that an old Node still parses far enough to be told it is old.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeServiceFile } from "../apps/extension/build/service-file.mjs";
import { compilersPresent } from "../packages/store/native/compiler.mjs";
import { isMain, rootFrom } from "./lib/command-line.mjs";
import { explainInstallFailure } from "./lib/install-failure.mjs";
import { minimumNodeMajor } from "./lib/node-version.mjs";
import { allDependencies, listFiles, listPackages, readManifest } from "./lib/workspace.mjs";

/** Kept inside node_modules so that deleting that folder deletes the stamp with it. */
const installStampPath = "node_modules/.moraine-install";
const buildStampPath = ".cache/build-stamp";
/** What is compiled from C++: the folder of its sources and of the script that builds it, and what to call it. */
const nativeParts = /** @type {const} */ ([
  { folder: "packages/store/native", name: "native part of the store", stamp: ".cache/native-stamp" },
  { folder: "packages/duckdb-ext/native", name: "extension of DuckDB", stamp: ".cache/extension-stamp" },
]);
/** How much of a failed command's output is searched for its cause. */
const outputTailBytes = 64 * 1024;

/** A failure that is explained to the user without a stack trace. */
export class SetupError extends Error {}

/** The dependencies are there, and the sources do not compile. */
export class BuildError extends SetupError {}

/** @typedef {import("./lib/install-failure.mjs").CommandResult} CommandResult */

/**
 * @callback RunCommand
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} root
 * @returns {Promise<CommandResult>}
 */

/**
 * What is wrong with this version of Node, or undefined.
 * @param {string} version As in `process.version`.
 * @returns {string | undefined}
 */
export function nodeProblem(version) {
  const major = Number(/^v(\d+)\./.exec(version)?.[1]);
  return major >= minimumNodeMajor
    ? undefined
    : `Node ${version} is too old: install Node ${minimumNodeMajor} or later, then run the command again.`;
}

/**
 * The exact pnpm version that package.json names.
 * @param {string} root
 * @returns {string}
 */
export function lockedPnpmVersion(root) {
  const field = readManifest(join(root, "package.json")).packageManager ?? "";
  const version = /^pnpm@(\d+\.\d+\.\d+)/.exec(field)?.[1];
  if (version === undefined) {
    throw new SetupError(`package.json: packageManager must name an exact pnpm version, and is "${field}".`);
  }
  return version;
}

/**
 * Changes whenever an install could bring something else: lock file, settings, declared dependencies and commands, Node.
 * @param {string} root
 * @returns {string}
 */
export function installDigest(root) {
  const hash = createHash("sha256");
  hash.update(`${process.platform} ${process.arch} ${process.versions.modules}\n`);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc"]) {
    hash.update(existsSync(join(root, file)) ? readFileSync(join(root, file)) : "none");
  }
  const folders = ["", ...listPackages(root).map(({ folder }) => folder)];
  for (const folder of folders) {
    const manifest = readManifest(join(root, folder, "package.json"));
    hash.update(JSON.stringify([folder, manifest.name, allDependencies(manifest), manifest.bin ?? {}]));
  }
  return hash.digest("hex");
}

/**
 * Changes whenever a build could bring something else: sources (by size and time), compiler settings, dependencies.
 * @param {string} root
 * @returns {string}
 */
export function buildDigest(root) {
  const hash = createHash("sha256");
  hash.update(installDigest(root));
  for (const { folder } of listPackages(root)) {
    const sources = listFiles(root, `${folder}/src`).filter((file) => !/\.(test|bench)\.ts$/.test(file));
    for (const file of [`${folder}/package.json`, `${folder}/tsconfig.json`, ...sources]) {
      if (existsSync(join(root, file))) {
        const { size, mtimeMs } = statSync(join(root, file));
        hash.update(`${file} ${size} ${mtimeMs}\n`);
      }
    }
    // A deleted or half deleted dist must be noticed as well.
    const built = existsSync(join(root, folder, "dist/.tsbuildinfo"));
    hash.update(`${folder} ${built || sources.length === 0 ? "built" : "missing"}\n`);
  }
  for (const file of ["tsconfig.base.json", "tsconfig.build.json"]) {
    hash.update(existsSync(join(root, file)) ? readFileSync(join(root, file)) : "none");
  }
  return hash.digest("hex");
}

/**
 * Changes whenever a native part could become something else: its sources and its script, the headers, which compilers
 * there are, what was built last.
 * @param {string} root
 * @param {string} folder The part's.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {string}
 */
export function nativeDigest(root, folder, env = process.env) {
  const hash = createHash("sha256");
  hash.update(installDigest(root));
  hash.update(`${compilersPresent(env)} ${env["DUCKDB_SOURCE_DIR"] ?? ""}`);
  // The build with sanitizers has no part in this.
  for (const file of listFiles(root, folder).filter((path) => !path.includes("/sanitized/"))) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/**
 * Runs a command with its output shown and its last part kept.
 * @type {RunCommand}
 */
function runShown(command, args, root) {
  return new Promise((settle) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    for (const [stream, target] of /** @type {const} */ ([
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])) {
      stream.on("data", (/** @type {Buffer} */ chunk) => {
        target.write(chunk);
        output = (output + chunk.toString("utf8")).slice(-outputTailBytes);
      });
    }
    child.on("error", (error) => settle({ code: null, output: `${output}\n${error.message}` }));
    child.on("close", (code) => settle({ code, output }));
  });
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {string | undefined}
 */
function readStamp(root, path) {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

/**
 * @param {string} root
 * @param {string} path
 * @param {string} digest
 */
function writeStamp(root, path, digest) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), digest);
}

/**
 * @typedef {object} SetupOptions
 * @property {string} root
 * @property {(line: string) => void} [log]
 * @property {RunCommand} [run]
 */

/**
 * Installs what the lock file says unless that was done already.
 * @param {Required<SetupOptions>} options
 * @returns {Promise<boolean>} Whether anything was done.
 */
async function install({ root, log, run }) {
  const digest = installDigest(root);
  if (readStamp(root, installStampPath) === digest) {
    return false;
  }
  const version = lockedPnpmVersion(root);
  rmSync(join(root, installStampPath), { force: true });
  log(`setup: installing the locked dependencies with pnpm ${version} (fetched by npx)`);
  const result = await run("npx", ["-y", `pnpm@${version}`, "install", "--frozen-lockfile", "--prefer-offline"], root);
  if (result.code !== 0) {
    throw new SetupError(`The dependencies were not installed. ${explainInstallFailure(result)}`);
  }
  writeStamp(root, installStampPath, digest);
  return true;
}

/**
 * Builds every package unless the sources are those of the last build.
 * @param {Required<SetupOptions>} options
 * @returns {Promise<boolean>} Whether anything was done.
 */
async function build({ root, log, run }) {
  if (readStamp(root, buildStampPath) === buildDigest(root)) {
    return false;
  }
  log("setup: building what changed");
  rmSync(join(root, buildStampPath), { force: true });
  const compiler = join(root, "node_modules/typescript/lib/tsc.js");
  const result = await run(process.execPath, [compiler, "-b", "tsconfig.build.json"], root);
  if (result.code !== 0) {
    throw new BuildError("The build failed; the compiler's messages are above.");
  }
  writeStamp(root, buildStampPath, buildDigest(root));
  return true;
}

/**
 * Builds the native parts unless nothing changed since. That no compiler is there is not a failure.
 * @param {Required<SetupOptions>} options
 * @returns {Promise<boolean>} Whether anything was done.
 */
async function buildNative({ root, run }) {
  let done = false;
  for (const { folder, name, stamp } of nativeParts) {
    const script = join(root, folder, "build.mjs");
    if (!existsSync(script) || readStamp(root, stamp) === nativeDigest(root, folder)) {
      continue;
    }
    rmSync(join(root, stamp), { force: true });
    const result = await run(process.execPath, [script], root);
    if (result.code !== 0) {
      throw new BuildError(`The ${name} was not built; the compiler's messages are above.`);
    }
    writeStamp(root, stamp, nativeDigest(root, folder));
    done = true;
  }
  return done;
}

/**
 * How the service of the extension is started, and what it loads.
 * @param {string} root
 * @returns {Promise<boolean>} Whether anything was done.
 */
async function prepareService(root) {
  // Stands on what was installed a moment ago.
  const { writeServiceBundle } = await import("../apps/extension/build/service-bundle.mjs");
  const bundled = await writeServiceBundle(root);
  return writeServiceFile(root) || bundled;
}

/**
 * Installs and builds as needed; says on `log` what it does, or that there was nothing to do.
 * @param {SetupOptions} options
 * @returns {Promise<void>}
 */
export async function setup({ root, log = (line) => console.log(line), run = runShown }) {
  const problem = nodeProblem(process.version);
  if (problem !== undefined) {
    throw new SetupError(problem);
  }
  const startedMs = performance.now();
  const options = { root, log, run };
  const installed = await install(options);
  const built = await build(options);
  const builtNative = await buildNative(options);
  const preparedService = existsSync(join(root, "apps/extension/bin")) && (await prepareService(root));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  log(
    installed || built || builtNative || preparedService
      ? `setup: done in ${seconds} s`
      : `setup: nothing to do (${seconds} s)`,
  );
}

/**
 * Runs the set-up for a command that needs it. On failure prints one explanation and ends the process.
 * @param {string} root
 * @param {{ buildMayFail?: boolean }} [options]
 * @returns {Promise<void>}
 */
export async function setupOrExit(root, { buildMayFail = false } = {}) {
  try {
    await setup({ root });
  } catch (error) {
    if (!(error instanceof SetupError)) {
      throw error;
    }
    console.error(`setup: ${error.message}`);
    if (!(buildMayFail && error instanceof BuildError)) {
      process.exit(1);
    }
  }
}

if (isMain(import.meta.url)) {
  await setupOrExit(rootFrom(process.argv));
}
