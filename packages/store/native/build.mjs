// Builds the native part of the store: compiles src/*.cc into build/moraine-store.node with the first C++ compiler that
// works. Without one nothing is built, and that is no failure: the store has a way without native code. Sources that a
// working compiler refuses are one. Uses Node and the headers of node-api-headers only, and fetches nothing.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compilerCandidates, compilerProblem, compilerVersion, runCompiler } from "./compiler.mjs";
import { installAddon, readStamp, removeAddon } from "./installed.mjs";
import { flagsOf, targetTriple } from "./target.mjs";

/** @typedef {import("./compiler.mjs").Compiler} Compiler */
/** @typedef {import("./target.mjs").Flags} Flags */

const nativeFolder = dirname(fileURLToPath(import.meta.url));
const sourceFolder = join(nativeFolder, "src");
const cacheFolder = resolve(nativeFolder, "../../../.cache/native");
const addonName = "moraine-store.node";
/** Builds that are kept: enough to go between a few branches, compilers and kinds of build. */
const maxCachedBuilds = 8;
/** Files compiled at the same time. */
const maxCompilers = 2;

const help = `usage: node packages/store/native/build.mjs [--release] [--sanitize] [--out FILE]

  --release   with the C++ runtime inside, for other machines; fails where it cannot be built
  --sanitize  with AddressSanitizer and UndefinedBehaviorSanitizer, into build/sanitized/
  --out FILE  writes the addon there
  CXX names the compiler to try first. CI=true makes warnings errors.`;

/** A build that should have succeeded; told without a stack trace. */
class NativeBuildError extends Error {}

/** @param {string} text */
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Names of the files that make the addon, sorted. */
function listSources() {
  const names = existsSync(sourceFolder) ? readdirSync(sourceFolder) : [];
  return names.filter((name) => /\.(cc|h)$/.test(name)).sort();
}

/**
 * The installed Node-API headers, or undefined.
 * @returns {{ include: string, version: string } | undefined}
 */
function findHeaders() {
  try {
    const manifest = createRequire(import.meta.url).resolve("node-api-headers/package.json");
    const { version } = /** @type {{ version: string }} */ (JSON.parse(readFileSync(manifest, "utf8")));
    return { include: join(dirname(manifest), "include"), version };
  } catch {
    return undefined;
  }
}

/** Removes the oldest of the cached builds beyond those that are kept. */
function pruneCache() {
  const builds = readdirSync(cacheFolder)
    .map((name) => ({
      path: join(cacheFolder, name),
      time: statSync(join(cacheFolder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .sort((a, b) => b.time - a.time);
  for (const { path } of builds.slice(maxCachedBuilds)) rmSync(path, { recursive: true, force: true });
}

/**
 * Compiles every source, a few at a time, and links them into one file.
 * @param {Compiler} compiler
 * @param {Flags} flags
 * @param {string} include
 * @param {string} output
 */
async function compileAndLink(compiler, flags, include, output) {
  const waiting = listSources().filter((name) => name.endsWith(".cc"));
  const objects = waiting.map((name) => join(dirname(output), `${name}.o`));
  /** @type {string[]} */
  const failed = [];
  /** @param {readonly string[]} args */
  const run = async (args) => {
    const result = await runCompiler(compiler, args);
    // Warnings too: they are shown once, when something is compiled.
    if (result.output !== "") process.stderr.write(result.output);
    return result.ok;
  };
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const object = join(dirname(output), `${name}.o`);
      const ok = await run([...flags.compile, "-isystem", include, "-c", join(sourceFolder, name), "-o", object]);
      if (!ok) failed.push(name);
    }
  };
  await Promise.all(Array.from({ length: maxCompilers }, work));
  if (failed.length > 0) throw new NativeBuildError(`${failed.join(", ")}: does not compile with ${compiler.name}`);
  // Libraries come behind the objects that need them.
  if (!(await run([...objects, ...flags.link, "-o", output]))) {
    throw new NativeBuildError(`does not link with ${compiler.name}`);
  }
}

/**
 * Ways to build, best first: a release holds the C++ runtime, unless the compiler has none to put in.
 * @param {import("./target.mjs").BuildKind} kind
 */
function waysOf(kind) {
  const dynamic = flagsOf(kind, { staticRuntime: false });
  return kind.release && process.platform === "linux" ? [flagsOf(kind, { staticRuntime: true }), dynamic] : [dynamic];
}

/** On a Mac without Xcode's tools the commands are there, and running one opens a window. */
function compilersMayRun() {
  if (process.platform !== "darwin") return true;
  const { status, error } = spawnSync("xcode-select", ["-p"]);
  return status === 0 || error !== undefined;
}

/**
 * @typedef {object} Request
 * @property {import("./target.mjs").BuildKind} kind
 * @property {string} addon Where it is to be.
 * @property {boolean} stamped Whether its digests lie beside it.
 * @property {string} sourcesDigest
 * @property {string} include
 */

/**
 * Makes a folder the cached build. When another process was faster, its build is as good.
 * @param {string} work
 * @param {string} cached
 */
function keepBuild(work, cached) {
  try {
    renameSync(work, dirname(cached));
  } catch (error) {
    if (!existsSync(cached)) throw error;
  }
}

/**
 * Compiles in a folder of its own, which becomes the cached build once it is whole.
 * @param {Request} request
 * @param {Compiler} compiler
 * @param {Flags} flags
 * @param {string} cached
 */
async function compile({ addon, include }, compiler, flags, cached) {
  mkdirSync(cacheFolder, { recursive: true });
  const work = mkdtempSync(join(cacheFolder, "building-"));
  try {
    await compileAndLink(compiler, flags, include, join(work, addonName));
    for (const name of readdirSync(work)) if (name !== addonName) rmSync(join(work, name));
    keepBuild(work, cached);
  } catch (error) {
    removeAddon(addon);
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Builds with one compiler and one set of flags, or takes what they made before.
 * @param {Request} request
 * @param {Compiler} compiler
 * @param {string} version
 * @param {Flags} flags
 * @returns {Promise<{ line?: string, problem?: string }>} What to say, if anything; or why this compiler cannot be used.
 */
async function buildWith(request, compiler, version, flags) {
  const { addon, stamped, sourcesDigest } = request;
  const digest = sha256(JSON.stringify([sourcesDigest, compiler.name, version, flags]));
  const stamp = stamped ? { build: digest, sources: sourcesDigest } : undefined;
  if (stamped && readStamp(addon)?.build === digest) return {};
  const cached = join(cacheFolder, digest, addonName);
  if (existsSync(cached)) {
    installAddon(cached, addon, stamp);
    return { line: `the addon of these sources, as built before with ${compiler.name}` };
  }
  const problem = await compilerProblem(compiler, [...flags.compile, ...flags.link]);
  if (problem !== undefined) return { problem };
  const startedMs = performance.now();
  await compile(request, compiler, flags, cached);
  installAddon(cached, addon, stamp);
  pruneCache();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  return { line: `built with ${compiler.name} in ${seconds} s (${version.split("\n")[0] ?? ""})` };
}

/**
 * Tries the compilers in turn.
 * @param {Request} request
 * @returns {Promise<{ line?: string, problem?: string }>}
 */
async function buildWithAny(request) {
  if (!compilersMayRun()) return { problem: "no C++ compiler (Xcode's command line tools are not installed)" };
  /** @type {string[]} */
  const tried = [];
  for (const compiler of compilerCandidates(process.env)) {
    const version = await compilerVersion(compiler);
    /** @type {string | undefined} */
    let failure;
    for (const flags of version === undefined ? [] : waysOf(request.kind)) {
      const { line, problem } = await buildWith(request, compiler, version ?? "", flags);
      if (problem === undefined) return line === undefined ? {} : { line };
      failure = problem;
    }
    tried.push(failure === undefined ? compiler.name : `${compiler.name}: ${failure}`);
  }
  return { problem: `no C++ compiler (tried ${tried.join(", ")})` };
}

/**
 * Builds what was asked for, or sees to it that nothing of other sources stays in its place.
 * @param {import("./target.mjs").BuildKind} kind
 * @param {string | undefined} out
 * @returns {Promise<string | undefined>} What to say.
 */
async function build(kind, out) {
  const addon = out ?? join(nativeFolder, "build", kind.sanitize ? "sanitized" : "", addonName);
  const sources = listSources();
  const triple = targetTriple();
  const headers = findHeaders();
  const contents = sources.map((name) => [name, sha256(readFileSync(join(sourceFolder, name), "utf8"))]);
  const sourcesDigest = sha256(JSON.stringify([triple, headers?.version, contents]));

  /** @type {string} */
  let reason;
  if (triple === undefined) {
    reason = `not built for ${process.platform} on ${process.arch} with this C library`;
  } else if (!sources.some((name) => name.endsWith(".cc"))) {
    reason = "no sources";
  } else if (headers === undefined) {
    reason = "node-api-headers is not installed";
  } else {
    const request = { kind, addon, stamped: out === undefined, sourcesDigest, include: headers.include };
    const { line, problem } = await buildWithAny(request);
    if (problem === undefined) return line;
    reason = problem;
  }
  if (kind.release) throw new NativeBuildError(`${reason}; a release needs the addon`);
  if (readStamp(addon)?.sources === sourcesDigest) return `${reason}; the addon that was built before stays`;
  removeAddon(addon);
  return `${reason}; the store works with the plain binding`;
}

try {
  const { values } = parseArgs({
    options: {
      release: { type: "boolean", default: false },
      sanitize: { type: "boolean", default: false },
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(help);
  } else {
    const { release, sanitize, out } = values;
    const kind = { release, sanitize, strict: process.env["CI"] === "true" };
    const line = await build(kind, out === undefined ? undefined : resolve(out));
    if (line !== undefined) console.log(`native loops: ${line}`);
  }
} catch (error) {
  const isUsage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof NativeBuildError || isUsage)) throw error;
  console.error(isUsage ? `${error.message}\n${help}` : `native loops: ${error.message}`);
  process.exitCode = 1;
}
