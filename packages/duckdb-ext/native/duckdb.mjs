// Where DuckDB's headers and its shared library are, of the one version that this extension is made for.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";

export const duckdbVersion = "1.5.5";
/** The crate whose source package holds DuckDB's, in its own numbering. */
const crate = { name: "libduckdb-sys", version: "1.10505.0" };
/** Fetching that takes longer than this hangs. */
const fetchLimitMs = 120_000;

/** @param {string} folder */
const hasHeaders = (folder) => existsSync(join(folder, "src", "include", "duckdb.hpp"));

/** Outside of the sources, so that every clone and worktree of this user shares it. */
function cacheFolder() {
  const named = process.env["XDG_CACHE_HOME"] ?? "";
  const base = named === "" ? join(homedir(), ".cache") : named;
  return join(base, "moraine", `duckdb-${duckdbVersion}`);
}

/**
 * Whether a command ended well.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function runs(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: "ignore", timeout: fetchLimitMs }).status === 0;
}

/**
 * Unpacks DuckDB's `src/include` from an archive, whatever folders lie above it.
 * @param {string} archive
 * @param {string} work
 * @returns {string | undefined} The folder that holds `src/include`.
 */
function unpack(archive, work) {
  const into = join(work, "unpacked");
  mkdirSync(into);
  // GNU's tar takes patterns on request only; others know no such request.
  const patterns = process.platform === "linux" ? ["--wildcards"] : [];
  if (!runs("tar", ["-xzf", archive, "-C", into, ...patterns, "*src/include/duckdb*"], work)) return undefined;
  let folder = into;
  // One folder in the other down to the one that is looked for.
  while (!hasHeaders(folder)) {
    const names = readdirSync(folder);
    const name = names.find((candidate) => candidate !== "src") ?? names[0];
    if (name === undefined) return undefined;
    folder = join(folder, name);
  }
  return folder;
}

/**
 * From the source package of the Python client.
 * @param {string} work
 */
function fetchWithPip(work) {
  const args = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "duckdb", `duckdb==${duckdbVersion}`];
  if (!runs("python3", args, work)) return undefined;
  const archive = readdirSync(work).find((name) => name.endsWith(".tar.gz"));
  return archive === undefined ? undefined : unpack(join(work, archive), work);
}

/**
 * From the crate that builds DuckDB for Rust.
 * @param {string} work
 */
function fetchWithCargo(work) {
  const dependency = `[dependencies]\n${crate.name} = "=${crate.version}"\n`;
  writeFileSync(
    join(work, "Cargo.toml"),
    `[package]\nname = "headers"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n${dependency}`,
  );
  writeFileSync(join(work, "lib.rs"), "");
  if (!runs("cargo", ["vendor", "--quiet", "vendored"], work)) return undefined;
  const archive = join(work, "vendored", crate.name, "duckdb.tar.gz");
  return existsSync(archive) ? unpack(archive, work) : undefined;
}

/**
 * The folder of DuckDB's sources, or undefined where it neither is nor can be fetched.
 * @returns {string | undefined}
 */
export function findSources() {
  const named = process.env["DUCKDB_SOURCE_DIR"];
  if (named) return hasHeaders(named) ? named : undefined;
  const cached = cacheFolder();
  if (hasHeaders(cached)) return cached;
  mkdirSync(dirname(cached), { recursive: true });
  for (const fetchWith of [fetchWithPip, fetchWithCargo]) {
    const work = mkdtempSync(`${cached}-`);
    try {
      const folder = fetchWith(work);
      if (folder === undefined) continue;
      // When another process was faster, its copy is as good.
      if (!existsSync(cached)) renameSync(folder, cached);
      return cached;
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return undefined;
}

/** DuckDB's name of this machine, or undefined where the extension is not built. */
export function duckdbPlatform() {
  const arch = new Map([
    ["x64", "amd64"],
    ["arm64", "arm64"],
  ]).get(process.arch);
  const system = new Map([
    ["linux", "linux"],
    ["darwin", "osx"],
  ]).get(process.platform);
  return arch === undefined || system === undefined ? undefined : `${system}_${arch}`;
}

/**
 * The folder of the shared library that Node's binding brings, which exports all of DuckDB.
 * @returns {string | undefined}
 */
export function findLibrary() {
  try {
    // Each package is resolved from the one that depends on it.
    let from = import.meta.url;
    for (const name of [
      "@duckdb/node-api",
      "@duckdb/node-bindings",
      `@duckdb/node-bindings-${process.platform}-${process.arch}`,
    ]) {
      from = createRequire(from).resolve(`${name}/package.json`);
    }
    const library = join(dirname(from), process.platform === "darwin" ? "libduckdb.dylib" : "libduckdb.so");
    return existsSync(library) ? dirname(library) : undefined;
  } catch {
    return undefined;
  }
}
