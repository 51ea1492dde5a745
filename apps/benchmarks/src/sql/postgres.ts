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
    // Postgres does not run as root.
    const as = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
    const run = (...args: string[]): void => {
      const [command = "", ...rest] = [...as, ...args];
      execFileSync(command, rest, { stdio: "pipe", cwd: folder });
    };
    if (as.length > 0) execFileSync("chown", ["postgres", folder]);
    run("initdb", "-D", data, "-U", "postgres", "--auth=trust");
    run("pg_ctl", "-D", data, "-w", "-o", `-k ${folder} -c listen_addresses=`, "-l", join(folder, "log"), "start");
    return new PostgresServer(folder);
  }

  stop(): void {
    const as = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
    const [command = "", ...rest] = [...as, "pg_ctl", "-D", join(this.#folder, "data"), "-m", "fast", "stop"];
    execFileSync(command, rest, { stdio: "pipe" });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
