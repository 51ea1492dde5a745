import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { extensionFile } from "../../src/duckdb/extension-file.js";
import { officialExtensionFile } from "../../src/duckdb/official-extension.js";
import { literal } from "../../src/duckdb/sql-text.js";

/** What a statement came to: rows as text, an error, or nothing known, because the process was killed meanwhile. */
export type SqlOutcome =
  | { readonly rows: readonly (readonly string[])[] }
  | { readonly error: string }
  | { readonly killed: true };

const program = fileURLToPath(new URL("sql-process.mjs", import.meta.url));

/** A DuckDB in a process of its own, which runs one statement after the other. */
export class SqlProcess {
  readonly #child: ChildProcess;
  readonly #waiting: ((outcome: SqlOutcome) => void)[] = [];
  /** How long the slowest statement took, until its outcome was known. */
  slowestMs = 0;

  /** `env` is added to the environment of this process. */
  constructor(env: Readonly<Record<string, string | undefined>> = {}) {
    this.#child = spawn(process.execPath, [program], {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Error("a process without pipes");
    // What a killed process did not read is told by its statements.
    stdin.on("error", () => undefined);
    createInterface({ input: stdout }).on("line", (line) => this.#waiting.shift()?.(JSON.parse(line) as SqlOutcome));
    this.#child.once("close", () => {
      for (const told of this.#waiting.splice(0)) told({ killed: true });
    });
  }

  /** Starts one with DuckLake and moraine loaded, after further statements. Fails where one of them does. */
  static async open(
    statements: readonly string[] = [],
    env: Readonly<Record<string, string | undefined>> = {},
  ): Promise<SqlProcess> {
    const opened = new SqlProcess(env);
    await opened.rows(`LOAD ${literal(await officialExtensionFile("ducklake"))}`);
    await opened.rows(`LOAD ${literal(extensionFile())}`);
    for (const sql of statements) await opened.rows(sql);
    return opened;
  }

  async run(sql: string): Promise<SqlOutcome> {
    const { stdin, exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return { killed: true };
    const began = performance.now();
    const outcome = await new Promise<SqlOutcome>((resolve) => {
      this.#waiting.push(resolve);
      stdin?.write(`${JSON.stringify(sql)}\n`);
    });
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    return outcome;
  }

  /** Rows of a statement that has to succeed. */
  async rows(sql: string): Promise<readonly (readonly string[])[]> {
    const outcome = await this.run(sql);
    if ("rows" in outcome) return outcome.rows;
    throw new Error(`${"error" in outcome ? outcome.error.replaceAll("\n", " ") : "the process was killed"}: ${sql}`);
  }

  /** The first column of a statement that has to succeed. */
  async column(sql: string): Promise<string[]> {
    return (await this.rows(sql)).map(([value]) => value ?? "");
  }

  /** The message with which a statement fails. */
  async failure(sql: string): Promise<string> {
    const outcome = await this.run(sql);
    if ("error" in outcome) return outcome.error;
    throw new Error(`${"rows" in outcome ? "succeeded" : "the process was killed"}: ${sql}`);
  }

  /** Ends it at once, whatever it does. */
  async kill(): Promise<void> {
    await this.#end(() => void this.#child.kill("SIGKILL"));
  }

  /** Ends it when it has run all. */
  async close(): Promise<void> {
    await this.#end(() => void this.#child.stdin?.end());
  }

  async #end(how: () => void): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "close");
    how();
    await ended;
  }
}
