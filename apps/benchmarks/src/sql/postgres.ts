import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** A Postgres server of this run: in a folder of its own, on a unix socket alone. */
export class PostgresServer {
  readonly #folder: string;
  /** Where Postgres's commands lie. */
  readonly #commands: string;

  private constructor(folder: string, commands: string) {
    this.#folder = folder;
    this.#commands = commands;
  }

  /** What DuckDB's postgres extension takes. */
  get connectionString(): string {
    return `dbname=postgres host=${this.#folder} user=postgres`;
  }

  /** Starts one; `undefined` where Postgres is not installed. */
  static start(): PostgresServer | undefined {
    const commands = commandsOfPostgres();
    if (commands === undefined) return undefined;
    const folder = mkdtempSync(join(tmpdir(), "moraine-postgres-"));
    const data = join(folder, "data");
    if (isRoot()) execFileSync("chown", ["postgres", folder]);
    asPostgres([join(commands, "initdb"), "-D", data, "-U", "postgres", "--auth=trust"], folder);
    const options = `-k ${folder} -c listen_addresses=`;
    asPostgres([join(commands, "pg_ctl"), "-D", data, "-w", "-o", options, "-l", join(folder, "log"), "start"], folder);
    return new PostgresServer(folder, commands);
  }

  stop(): void {
    const stop = [join(this.#commands, "pg_ctl"), "-D", join(this.#folder, "data"), "-m", "fast", "stop"];
    asPostgres(stop, this.#folder);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * The folder that the commands of the PATH really lie in: the user that Postgres runs as may be kept out of a folder of the PATH that
 * holds links.
 */
function commandsOfPostgres(): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    try {
      return dirname(realpathSync(join(folder, "pg_ctl")));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")))
        throw error;
    }
  }
  return undefined;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Runs a command; as another user where this one is root, as whom Postgres does not run. */
function asPostgres(command: readonly string[], cwd: string): void {
  const words = isRoot() ? ["runuser", "-u", "postgres", "--", ...command] : [...command];
  execFileSync(words[0] ?? "", words.slice(1), { stdio: "pipe", cwd });
}
