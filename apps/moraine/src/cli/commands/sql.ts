import type {
  OpenDuckDbOptions,
  OpenedDuckDb,
  ShellOptions,
  StatementError,
  StatementOptions,
  StatementResult,
} from "@moraine/extension";
import type { Command } from "commander";
import { type Context, type JsonOption, printJson, storeHelp, withCommonOptions } from "../context.js";
import type { Json } from "../output.js";
import { FailedSql, sqlFailureOf } from "../sql-failure.js";
import { printResult, rowsShown } from "../sql-result.js";

interface SqlOptions extends JsonOption {
  readonly dataPath?: string;
  readonly command?: string;
  readonly readOnly?: true;
}

export function addSql(program: Command, context: Context): void {
  const command = program
    .command("sql")
    .summary("DuckDB with the lake attached: a shell, or the statements of -c")
    .description(
      "Opens DuckDB with DuckLake and moraine loaded and the lake attached as `lake` and current. Makes the lake if it is not there and --data-path says where its data files go. Reads statements from the terminal, or from stdin, until .exit. A statement that fails ends those of -c, not the others; where stdin is no terminal the exit status is that of the first one that failed.",
    )
    .argument("<store>", storeHelp)
    .option("--data-path <path>", "where the data files are (default: what the lake has recorded)")
    .option("-c, --command <sql>", "run these statements one by one and end (default: read them)")
    .option("--read-only", "attach the lake for reading only (default: for writing)")
    .action(async (store: string, { dataPath, readOnly, command: sql, json }: SqlOptions) => {
      await using duckDb = await open({ store, dataPath, readOnly });
      if (sql !== undefined) await runCommand(context, duckDb, sql, json === true);
      else if (json === true && context.stdin.isTTY !== true) await readAsJson(context, duckDb);
      else await readStatements(context, duckDb, json === true, store);
    });
  withCommonOptions(command, `moraine sql .moraine/demo/store -c "FROM moraine_indexes('lake', 'main', 'flights')"`);
}

async function open(options: OpenDuckDbOptions): Promise<OpenedDuckDb> {
  const { openDuckDB } = await import("@moraine/extension");
  const { MoraineError } = await import("@moraine/codec");
  return await openDuckDB(options).catch((error: unknown) => {
    throw error instanceof MoraineError ? error : new FailedSql(sqlFailureOf(error), error);
  });
}

/** `--json` prints one array with an array of rows for each statement; what ran before a failure is not printed then. */
async function runCommand(context: Context, { connection }: OpenedDuckDb, sql: string, asJson: boolean): Promise<void> {
  const { runStatements, StatementError: Failed } = await import("@moraine/extension");
  const statements: Json[] = [];
  try {
    await runStatements(connection, sql, formOf(context, asJson), (result) => {
      if (asJson) statements.push(rowsOf(result));
      else printResult(context, result);
    });
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const { statement, statements: count } = error;
    throw new FailedSql(sqlFailureOf(error, count > 1 ? `statement ${statement} of ${count}: ` : ""), error);
  }
  if (asJson) printJson(context, statements);
}

function formOf(context: Context, asJson: boolean): StatementOptions {
  return asJson ? { form: "json" } : { form: "text", rowLimit: rowsShown(context) };
}

function rowsOf({ columns, rows }: StatementResult): Json {
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] as Json])));
}

/** One array of what stdin's statements gave: an array of rows for each, and an object with the error for one that failed. */
async function readAsJson(context: Context, { connection }: OpenedDuckDb): Promise<void> {
  const { runShell } = await import("@moraine/extension");
  const results: Json[] = [];
  const { runs, failures } = await runShell({
    ...shellParts(context, connection),
    form: "json",
    failed: (error, line) => results.push({ error: { ...sqlFailureOf(error, `line ${line}: `) } }),
    show: (result) => results.push(rowsOf(result)),
  });
  printJson(context, results);
  endWith(runs, failures);
}

async function readStatements(
  context: Context,
  { connection }: OpenedDuckDb,
  asJson: boolean,
  store: string,
): Promise<void> {
  const { duckDbVersion, runShell } = await import("@moraine/extension");
  const isTerminal = context.stdin.isTTY === true;
  const { runs, failures } = await runShell({
    ...shellParts(context, connection),
    ...formOf(context, asJson),
    greeting: `DuckDB ${duckDbVersion} with ${store} attached as lake. Statements end with a semicolon; .help helps.`,
    failed: (error, line) => {
      context.output.stderr.write(`${sqlFailureOf(error, isTerminal ? "" : `line ${line}: `).message}\n`);
    },
    show: (result) => {
      if (asJson) printJson(context, rowsOf(result));
      else printResult(context, result);
    },
  });
  if (!isTerminal) endWith(runs, failures);
}

/** Those parts of a shell's options that do not depend on the form. */
function shellParts(
  context: Context,
  connection: OpenedDuckDb["connection"],
): Pick<ShellOptions, "connection" | "greeting" | "input" | "output" | "warn"> {
  return {
    connection,
    input: context.stdin,
    output: context.output.stdout,
    greeting: "",
    warn: (message: string): void => void context.output.stderr.write(`moraine: ${message}\n`),
  };
}

/** A script's exit status is that of its first failure; each has been told where it happened. */
function endWith(runs: number, [first, ...others]: readonly StatementError[]): void {
  if (first === undefined) return;
  const message = `${others.length + 1} of ${runs} statements failed; the others have run`;
  throw new FailedSql({ ...sqlFailureOf(first), message }, first);
}
