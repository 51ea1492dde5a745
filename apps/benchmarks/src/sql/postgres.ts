import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Postgres server of this run: in a folder of its own, on a unix socket alone. */
export class PostgresServer {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** What DuckDB's postgres extension takes. */
  get connectionString(): string {
    return `dbname=postgres host=${this.#folder} user=postgres`;
  }

  /** Starts one; `undefined` where Postgres is not installed. */
  static start(): PostgresServer | undefined {
    try {
      execFileSync("pg_ctl", ["--version"], { stdio: "ignore" });
    } catch {
      return undefined;
    }
    const folder = mkdtempSync(join(tmpdir(), "moraine-postgres-"));
    const data = join(folder, "data");
    if (isRoot()) execFileSync("chown", ["postgres", folder]);
    asPostgres(["initdb", "-D", data, "-U", "postgres", "--auth=trust"], folder);
    const options = `-k ${folder} -c listen_addresses=`;
    asPostgres(["pg_ctl", "-D", data, "-w", "-o", options, "-l", join(folder, "log"), "start"], folder);
    return new PostgresServer(folder);
  }

  stop(): void {
    asPostgres(["pg_ctl", "-D", join(this.#folder, "data"), "-m", "fast", "stop"], this.#folder);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Runs a command; as another user where this one is root, as whom Postgres does not run. */
function asPostgres(command: readonly string[], cwd: string): void {
  const words = isRoot() ? ["runuser", "-u", "postgres", "--", ...command] : [...command];
  execFileSync(words[0] ?? "", words.slice(1), { stdio: "pipe", cwd });
}
