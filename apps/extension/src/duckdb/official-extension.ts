import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ConfigurationError } from "@moraine/codec";
import { literal } from "./sql-text.js";
import { duckDbPlatform, duckDbVersion } from "./version.js";

const run = promisify(execFile);

/** An official extension of DuckDB that moraine is used with. */
export type OfficialExtension = "ducklake" | "httpfs" | "postgres_scanner";

/** What is used of a connection: that of `@duckdb/node-api`, or another one with the same method. */
export interface StatementRunner {
  run(sql: string): Promise<unknown>;
}

/**
 * Loads an official extension: the one that DuckDB has installed or can install, else the same file out of its Python package,
 * which is kept in the user's cache folder. Errors: `configuration`, with both failures.
 */
export async function loadOfficialExtension(connection: StatementRunner, name: OfficialExtension): Promise<void> {
  // What is in the cache came there because DuckDB could not install it: asking again would cost half a second.
  const known = knownFile(name);
  if (known !== undefined) {
    await connection.run(`LOAD ${literal(known)}`);
    return;
  }
  try {
    await connection.run(`INSTALL ${name}`);
    await connection.run(`LOAD ${name}`);
  } catch (installing) {
    await connection.run(`LOAD ${literal(await fromPythonPackage(name, installing))}`);
  }
}

/** The file of an official extension: where DuckDB keeps it, or in the cache, fetched if it is not there. Errors: `configuration`. */
export async function officialExtensionFile(name: OfficialExtension): Promise<string> {
  return knownFile(name) ?? (await fromPythonPackage(name, undefined));
}

function knownFile(name: OfficialExtension): string | undefined {
  const installed = join(
    homedir(),
    ".duckdb",
    "extensions",
    duckDbVersion,
    duckDbPlatform(),
    `${name}.duckdb_extension`,
  );
  return [installed, cachedFile(name)].find((file) => existsSync(file));
}

function cachedFile(name: string): string {
  const root = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(root, "moraine", "extensions", duckDbVersion, duckDbPlatform(), `${name}.duckdb_extension`);
}

async function fromPythonPackage(name: OfficialExtension, installing: unknown): Promise<string> {
  const cached = cachedFile(name);
  const folder = mkdtempSync(join(tmpdir(), "moraine-extension-"));
  try {
    const wanted = `duckdb-extension-${name.replaceAll("_", "-")}==${duckDbVersion.slice(1)}`;
    await run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, wanted]);
    const [wheel] = readdirSync(folder);
    if (wheel === undefined) throw new Error(`pip downloaded nothing for ${wanted}`);
    await run("python3", ["-m", "zipfile", "-e", join(folder, wheel), join(folder, "unpacked")]);
    const inside = `duckdb_extension_${name}/extensions/${duckDbVersion}/${name}.duckdb_extension`;
    mkdirSync(join(cached, ".."), { recursive: true });
    // Renamed into place, so that two processes that fetch at once never see half a file.
    const placed = `${cached}.${process.pid}`;
    await run("cp", [join(folder, "unpacked", inside), placed]);
    renameSync(placed, cached);
    return cached;
  } catch (cause) {
    throw new ConfigurationError(`DuckDB's extension ${name} ${duckDbVersion} is not there and could not be fetched`, {
      remedy: `Run INSTALL ${name} in DuckDB where it has access to its own extensions, or install Python 3 with pip.`,
      cause: installing === undefined ? cause : new AggregateError([installing, cause]),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
