import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { DuckDBConnection } from "@duckdb/node-api";
import { historyFile, readHistory, writeHistory } from "./history.js";
import { runStatements, type StatementOptions, type StatementResult } from "./run-statements.js";
import { endsStatement, isBlank } from "./split-input.js";
import { StatementError } from "./statement-error.js";

export interface ShellOptions extends StatementOptions {
  readonly connection: DuckDBConnection;
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  /** Said at a terminal before the first prompt. */
  readonly greeting: string;
  readonly show: (result: StatementResult) => void;
  /** Told of a statement that failed, and on which line of the input it began, from 1 on. The shell goes on. */
  readonly failed: (error: StatementError, line: number) => void;
  /** Told of anything else that did not work, and ends nothing. */
  readonly warn: (message: string) => void;
}

/** What a shell has run. */
export interface ShellSummary {
  /** Texts that ended with a semicolon, or with the input. */
  readonly runs: number;
  readonly failures: readonly StatementError[];
}

const firstPrompt = "lake> ";
const nextPrompt = "  ... ";
const help = [
  "SQL statements end with a semicolon and may take several lines.",
  "  SHOW TABLES;                                         tables of the lake",
  "  FROM moraine_indexes('lake', 'main', 'table');       indexes of a table",
  "  .help                                                this",
  "  .exit, .quit, Ctrl-D                                 leave",
  "  Ctrl-C                                               forget what was typed, or stop what runs",
].join("\n");

/**
 * Reads SQL line by line and runs each statement when its semicolon is there. At a terminal it shows a prompt, keeps a history and
 * takes Ctrl-C as: forget what was typed, or stop what runs. Ends with the input, or with `.exit` or `.quit`.
 */
export async function runShell(options: ShellOptions): Promise<ShellSummary> {
  const terminal = options.input.isTTY === true;
  const file = historyFile();
  const history = terminal ? attempt(options, "read", file, () => readHistory(file)) : undefined;
  const lines = createInterface({
    input: options.input,
    ...(terminal ? { output: options.output, history: history ?? [], terminal } : {}),
  });
  let kept: readonly string[] = [];
  lines.on("history", (changed) => {
    kept = changed;
  });
  try {
    if (terminal) options.output.write(`${options.greeting}\n`);
    return await readLines(options, lines, terminal);
  } finally {
    lines.close();
    if (terminal && history !== undefined && kept.length > 0) {
      attempt(options, "written", file, () => writeHistory(file, kept));
    }
  }
}

/** A history that cannot be kept is no reason to refuse SQL. */
function attempt<T>({ warn }: ShellOptions, what: string, file: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    warn(`the history ${file} cannot be ${what}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function readLines(options: ShellOptions, lines: Interface, terminal: boolean): Promise<ShellSummary> {
  const failures: StatementError[] = [];
  let runs = 0;
  let typed = "";
  let line = 0;
  let firstLine = 1;
  let running = false;
  const prompt = (): void => {
    if (!terminal) return;
    lines.setPrompt(typed === "" ? firstPrompt : nextPrompt);
    lines.prompt();
  };
  const run = async (sql: string): Promise<void> => {
    if (isBlank(sql)) return;
    runs++;
    running = true;
    const failure = await failureOf(options, sql);
    running = false;
    if (failure === undefined) return;
    failures.push(failure);
    options.failed(failure, firstLine);
  };
  lines.on("SIGINT", () => {
    if (running) {
      options.connection.interrupt();
      return;
    }
    typed = "";
    options.output.write("^C\n");
    prompt();
  });
  prompt();
  for await (const text of lines) {
    line++;
    const word = typed === "" ? text.trim().toLowerCase() : "";
    if (/^(?:\.?(?:exit|quit));?$/u.test(word)) return { runs, failures };
    if (word.startsWith(".")) {
      if (word === ".help") options.output.write(`${help}\n`);
      else options.warn(`there is no command ${word}; .help lists what there is`);
    } else {
      if (typed === "") firstLine = line;
      typed += typed === "" ? text : `\n${text}`;
      if (endsStatement(typed)) {
        const sql = typed;
        typed = "";
        await run(sql);
      }
    }
    prompt();
  }
  // The last statement of a file may lack its semicolon.
  await run(typed);
  return { runs, failures };
}

/** Why a text failed, if it did. Anything but SQL that fails is a defect and goes its way. */
async function failureOf(options: ShellOptions, sql: string): Promise<StatementError | undefined> {
  try {
    await runStatements(options.connection, sql, options, options.show);
    return undefined;
  } catch (error) {
    if (error instanceof StatementError) return error;
    throw error;
  }
}
