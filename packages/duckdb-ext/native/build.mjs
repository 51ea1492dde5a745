// Builds the extension of DuckDB: compiles src/*.cpp into build/moraine.duckdb_extension with the first C++ compiler that
// works. Without one, or without DuckDB's headers, nothing is built, and that is no failure.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compilerCandidates, compilerProblem, compilerVersion, runCompiler } from "../../store/native/compiler.mjs";
import { duckdbPlatform, duckdbVersion, findLibrary, findSources } from "./duckdb.mjs";
import { footerOf } from "./footer.mjs";
import { compileObjects, digestOf, precompile, sha256 } from "./objects.mjs";

/** @typedef {import("../../store/native/compiler.mjs").Compiler} Compiler */

const nativeFolder = dirname(fileURLToPath(import.meta.url));
const root = resolve(nativeFolder, "../../..");
const extensionName = "moraine.duckdb_extension";
/** Of the test program, which runs what the extension is made of without a database. */
const testName = "wire-test";

const help = `usage: node packages/duckdb-ext/native/build.mjs [--sanitize] [--tests]

  --sanitize  with AddressSanitizer and UndefinedBehaviorSanitizer, into build/sanitized/
  --tests     the test programs as well, beside the extension
  CXX names the compiler to try first, DUCKDB_SOURCE_DIR a folder of DuckDB ${duckdbVersion}'s sources. CI=true makes warnings
  errors.`;

/** A build that should have succeeded; told without a stack trace. */
class NativeBuildError extends Error {}

/** @param {string} folder */
const sourcesIn = (folder) =>
  readdirSync(join(nativeFolder, folder))
    .filter((name) => name.endsWith(".cpp"))
    .sort()
    .map((name) => join(nativeFolder, folder, name));

/** @param {boolean} sanitize */
function flagsOf(sanitize) {
  const sanitizers = sanitize
    ? ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g1"]
    : [];
  return {
    compile: [
      "-std=c++17",
      sanitize ? "-O1" : "-O2",
      "-fPIC",
      "-pthread",
      "-Wall",
      "-Wextra",
      ...(process.env["CI"] === "true" ? ["-Werror"] : []),
      "-DNDEBUG",
      "-DDUCKDB_BUILD_LOADABLE_EXTENSION",
      ...sanitizers,
    ],
    link: ["-pthread", ...sanitizers],
  };
}

/** The version in the extension's footer. */
function extensionVersion() {
  const manifest = readFileSync(join(root, "apps/moraine/package.json"), "utf8");
  return /** @type {{ version: string }} */ (JSON.parse(manifest)).version;
}

/**
 * The first compiler that makes a shared library, with what it says it is; or why none does.
 * @param {ReturnType<typeof flagsOf>} flags
 * @returns {Promise<{ compiler: Compiler, version: string } | { problem: string }>}
 */
async function findCompiler(flags) {
  /** @type {string[]} */
  const tried = [];
  for (const compiler of compilerCandidates(process.env)) {
    const version = await compilerVersion(compiler);
    const problem =
      version === undefined
        ? "not found"
        : await compilerProblem(compiler, [...flags.compile, "-shared", ...flags.link]);
    if (version !== undefined && problem === undefined) return { compiler, version };
    tried.push(`${compiler.name}: ${problem}`);
  }
  return { problem: `no C++ compiler (${tried.join(", ")})` };
}

/**
 * Puts a new file in the place of an old one, which processes may have mapped.
 * @param {string} path
 * @param {Buffer} content
 */
function replaceFile(path, content) {
  writeFileSync(`${path}.${process.pid}`, content, { mode: 0o755 });
  renameSync(`${path}.${process.pid}`, path);
}

/**
 * Links objects against DuckDB's shared library and returns the file's content.
 * @param {Compiler} compiler
 * @param {readonly string[]} args
 * @param {string} library
 */
async function link(compiler, args, library) {
  const work = mkdtempSync(join(root, ".cache", "linking-"));
  try {
    const output = join(work, "linked");
    // The file's own folder first: there a release has its copy of the library.
    const origin = process.platform === "darwin" ? "@loader_path" : "$ORIGIN";
    const paths = ["-L", library, "-lduckdb", `-Wl,-rpath,${origin}`, `-Wl,-rpath,${library}`];
    const result = await runCompiler(compiler, [...args, ...paths, "-o", output]);
    if (result.output !== "") process.stderr.write(result.output);
    if (!result.ok) throw new NativeBuildError(`does not link with ${compiler.name}`);
    return readFileSync(output);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Builds what was asked for, or sees to it that nothing of other sources stays in its place.
 * @param {{ sanitize: boolean, tests: boolean }} kind
 * @returns {Promise<string | undefined>} What to say.
 */
async function build({ sanitize, tests }) {
  const folder = join(nativeFolder, "build", sanitize ? "sanitized" : "");
  const extension = join(folder, extensionName);
  const stamp = join(folder, "moraine.digest");
  const platform = duckdbPlatform();
  const library = findLibrary();
  const flags = flagsOf(sanitize);
  const sources = sourcesIn("src");
  const testSources = tests ? sourcesIn("test") : [];
  const digest = sha256(
    JSON.stringify([
      [...sources, ...testSources].map((source) => digestOf(source, "")),
      [flags, library, duckdbVersion, process.env["CXX"], extensionVersion()],
    ]),
  );
  const isThere = existsSync(extension) && (!tests || existsSync(join(folder, testName)));
  if (isThere && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return undefined;
  rmSync(stamp, { force: true });

  /** @param {string} problem */
  const without = (problem) => {
    rmSync(extension, { force: true });
    return `not built: ${problem}`;
  };
  if (platform === undefined) return without(`${process.platform} on ${process.arch} is not supported`);
  if (library === undefined) return without("@duckdb/node-api is not installed");
  const found = await findCompiler(flags);
  if ("problem" in found) return without(found.problem);
  const headers = findSources();
  if (headers === undefined) {
    return without(
      `no headers of DuckDB ${duckdbVersion}: name its sources in DUCKDB_SOURCE_DIR, or install pip or cargo`,
    );
  }

  const startedMs = performance.now();
  const { compiler, version } = found;
  const include = ["-isystem", join(headers, "src", "include"), "-I", join(nativeFolder, "src")];
  const recipe = JSON.stringify([compiler.name, version, flags.compile, duckdbVersion]);
  const compile = { compiler, flags: [...flags.compile, ...include], recipe };
  const cache = join(root, ".cache", "duckdb-ext");
  // Clang has another way, which this does not know.
  const precompiled = version.includes("clang")
    ? []
    : await precompile({
        ...compile,
        header: join(nativeFolder, "precompiled.hpp"),
        cache: join(cache, sanitize ? "precompiled-sanitized" : "precompiled"),
      });
  const { objects, compiled, failed } = await compileObjects({
    ...compile,
    flags: [...precompiled, ...compile.flags],
    sources: [...sources, ...testSources],
    cache: join(cache, "objects"),
  });
  if (failed.length > 0) {
    rmSync(extension, { force: true });
    throw new NativeBuildError(`${failed.join(", ")}: does not compile with ${compiler.name}`);
  }
  mkdirSync(folder, { recursive: true });
  const own = objects.slice(0, sources.length);
  const shared = await link(compiler, ["-shared", ...flags.link, ...own], library);
  const about = { platform, duckdbVersion: `v${duckdbVersion}`, extensionVersion: extensionVersion() };
  replaceFile(extension, Buffer.concat([shared, footerOf(about)]));
  if (tests) replaceFile(join(folder, testName), await link(compiler, [...flags.link, ...objects], library));
  writeFileSync(stamp, digest);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  return `built with ${compiler.name} in ${seconds} s (${compiled} of ${objects.length} files compiled)`;
}

try {
  const { values } = parseArgs({
    options: {
      sanitize: { type: "boolean", default: false },
      tests: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(help);
  } else {
    const line = await build({ sanitize: values.sanitize, tests: values.tests });
    if (line !== undefined) console.log(`extension of DuckDB: ${line}`);
  }
} catch (error) {
  const isUsage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof NativeBuildError || isUsage)) throw error;
  console.error(isUsage ? `${error.message}\n${help}` : `extension of DuckDB: ${error.message}`);
  process.exitCode = 1;
}
