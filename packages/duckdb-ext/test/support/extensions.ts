import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { duckdbPlatform, duckdbVersion } from "../../native/duckdb.mjs";

const fetchLimitMs = 120_000;
const extension = fileURLToPath(new URL("../../native/build/moraine.duckdb_extension", import.meta.url));

/** The statements that load DuckLake and what was built here. */
export function loadExtensions(): string {
  return `LOAD '${ducklakeExtension()}'; LOAD '${extension}'`;
}

/** DuckLake's own extension: where DuckDB keeps it, or out of the Python package of the same version. */
function ducklakeExtension(): string {
  const place = [`v${duckdbVersion}`, duckdbPlatform() ?? "", "ducklake.duckdb_extension"];
  const installed = join(homedir(), ".duckdb/extensions", ...place);
  if (existsSync(installed)) return installed;
  const base = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const cache = join(base, "moraine", `duckdb-${duckdbVersion}-ducklake`);
  const file = join(cache, `duckdb_extension_ducklake/extensions/v${duckdbVersion}/ducklake.duckdb_extension`);
  if (existsSync(file)) return file;
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
