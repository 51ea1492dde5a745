import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { DuckDBConnection } from "@duckdb/node-api";
import { historyFile, readHistory, writeHistory } from "./history.js";
import { runStatements, type StatementResult } from "./run-statements.js";
import { endsStatement } from "./split-input.js";

export interface ShellOptions {
  readonly connection: DuckDBConnection;
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly show: (result: StatementResult) => void;
  /** Told the message of a statement that failed. The shell goes on. */
  readonly failed: (message: string) => void;
}

const firstPrompt = "lake> ";
const nextPrompt = "  ... ";

/**
 * Reads SQL line by line and runs each statement when its semicolon is there. At a terminal it shows a prompt, keeps a history and
 * takes Ctrl-C as: forget what was typed, or stop what runs. Ends with the input, or with `.exit` or `.quit`.
 */
export async function runShell(options: ShellOptions): Promise<void> {
  const terminal = options.input.isTTY === true;
  const file = historyFile();
  const lines = createInterface({
    input: options.input,
    ...(terminal ? { output: options.output, history: readHistory(file), terminal } : {}),
  });
  let kept: readonly string[] = [];
  lines.on("history", (history) => {
    kept = history;
  });
  try {
    await readLines(options, lines, terminal);
  } finally {
    lines.close();
    if (terminal && kept.length > 0) writeHistory(file, kept);
  }
}

async function readLines(options: ShellOptions, lines: Interface, terminal: boolean): Promise<void> {
  let typed = "";
  let running = false;
  const prompt = (): void => {
    if (!terminal) return;
    lines.setPrompt(typed === "" ? firstPrompt : nextPrompt);
    lines.prompt();
  };
  lines.on("SIGINT", () => {
    if (running) {
      options.connection.interrupt();
      return;
    }
    typed = "";
    options.output.write("\n");
    prompt();
  });
  prompt();
  for await (const line of lines) {
    if (typed === "" && /^\s*\.(exit|quit)\s*$/u.test(line)) return;
    typed += typed === "" ? line : `\n${line}`;
    if (endsStatement(typed)) {
      const sql = typed;
      typed = "";
      running = true;
      await runOne(options, sql);
      running = false;
    }
    prompt();
  }
  // The last statement of a file may lack its semicolon.
  if (typed.trim() !== "") await runOne(options, typed);
}

async function runOne({ connection, show, failed }: ShellOptions, sql: string): Promise<void> {
  if (sql.trim() === "") return;
  try {
    await runStatements(connection, sql, show);
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error));
  }
}
