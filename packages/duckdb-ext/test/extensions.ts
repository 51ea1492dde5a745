import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { duckdbPlatform, duckdbVersion } from "../native/duckdb.mjs";

const fetchLimitMs = 120_000;
const base = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
const cache = join(base, "moraine", `duckdb-${duckdbVersion}-ducklake`);
const file = join(cache, `duckdb_extension_ducklake/extensions/v${duckdbVersion}/ducklake.duckdb_extension`);
const built = fileURLToPath(new URL("../native/build/moraine.duckdb_extension", import.meta.url));
const extension = process.env["MORAINE_EXTENSION"] ?? built;

/**
 * Whether there is an extension to test: it was built, which needs a C++ compiler, and DuckLake is there or can be fetched, which
 * needs Python. A line says so where not.
 */
export const extensionAvailable: boolean = isAvailable();

function isAvailable(): boolean {
  const lacking = !existsSync(extension)
    ? "it was not built"
    : ducklakeFile() === undefined && spawnSync("python3", ["-m", "pip", "--version"]).status !== 0
      ? "DuckLake is not there, and no Python to fetch it with"
      : undefined;
  if (lacking !== undefined) process.stdout.write(`tests of the DuckDB extension are skipped: ${lacking}\n`);
  return lacking === undefined;
}

/** The statements that load DuckLake and what was built here, or the extension that `MORAINE_EXTENSION` names. */
export function loadExtensions(): string {
  return `LOAD '${ducklakeExtension()}'; LOAD '${extension}'`;
}

/** DuckLake's own extension where DuckDB keeps it, or where it was fetched to. */
function ducklakeFile(): string | undefined {
  const place = [`v${duckdbVersion}`, duckdbPlatform() ?? "", "ducklake.duckdb_extension"];
  return [join(homedir(), ".duckdb/extensions", ...place), file].find(existsSync);
}

/** The same, fetched out of the Python package of that version if it is not there. */
function ducklakeExtension(): string {
  const known = ducklakeFile();
  if (known !== undefined) return known;
  mkdirSync(join(base, "moraine"), { recursive: true });
  const work = mkdtempSync(`${cache}-`);
  const args = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-deps",
    "--target",
    work,
    `duckdb-extension-ducklake==${duckdbVersion}`,
  ];
  const done = spawnSync("python3", args, { encoding: "utf8", timeout: fetchLimitMs });
  if (done.status !== 0) throw new Error(`DuckLake ${duckdbVersion} cannot be had: ${done.stderr}`);
  if (!existsSync(file)) renameSync(work, cache);
  return file;
}
