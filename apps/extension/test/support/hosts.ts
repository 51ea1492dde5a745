import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** What a statement gave in a host: its rows, values as text, or its error. */
export type HostResult = { readonly rows: readonly (readonly (string | null)[])[] } | { readonly error: string };

/**
 * A program that DuckDB runs in. Each run is a process of its own with a database of its own in memory. At most the last
 * statement may fail.
 */
export interface Host {
  readonly name: string;
  readonly available: boolean;
  run(statements: readonly string[]): Promise<HostResult[]>;
}

const here = fileURLToPath(new URL(".", import.meta.url));
/** Where `.ci/run` installs the Python packages `duckdb` and `duckdb-cli`. */
const pythonPackages = fileURLToPath(new URL("../../../../.cache/python", import.meta.url));
const commandLine = join(pythonPackages, "duckdb_cli", "duckdb");

export const hosts: readonly Host[] = [
  {
    name: "Node",
    available: true,
    run: (statements) => runByLines(process.execPath, [join(here, "run-sql.mjs")], statements),
  },
  {
    name: "Python",
    available: existsSync(join(pythonPackages, "duckdb")),
    run: (statements) => runByLines("python3", [join(here, "run-sql.py")], statements),
  },
  { name: "command line", available: existsSync(commandLine), run: runCommandLine },
];

async function runByLines(
  command: string,
  args: readonly string[],
  statements: readonly string[],
): Promise<HostResult[]> {
  const { stdout, stderr, code } = await finish(command, args, JSON.stringify(statements));
  const results = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as HostResult);
  if (results.length !== statements.length) throw new Error(`${command} ended with ${code}: ${stderr}`);
  return results;
}

/** The command line prints the rows of each statement after a mark, and ends at the first that fails: the last one marked. */
async function runCommandLine(statements: readonly string[]): Promise<HostResult[]> {
  const results: HostResult[] = [];
  const script = statements.map((sql, at) => `.print @@${at}\n${sql};`).join("\n");
  const { stdout, stderr } = await finish(commandLine, ["-unsigned", "-jsonlines", "-batch", "-bail"], `${script}\n`);
  for (const part of stdout.split(/^@@\d+$/mu).slice(1)) {
    const lines = part.split("\n").filter((line) => line.startsWith("{"));
    results.push({ rows: lines.map((line) => Object.values(JSON.parse(line) as Record<string, unknown>).map(textOf)) });
  }
  if (stderr.trim() !== "") results.splice(-1, 1, { error: stderr });
  return results;
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function finish(
  command: string,
  args: readonly string[],
  input: string,
): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }> {
  const child = spawn(command, args, { env: { ...process.env, PYTHONPATH: pythonPackages }, stdio: "pipe" });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, code };
}
