import type { OpenedDuckDb, StatementResult } from "@moraine/extension";
import type { Command } from "commander";
import { type Context, type JsonOption, printJson, storeHelp, withCommonOptions } from "../context.js";
import type { Json } from "../output.js";
import { printResult } from "../sql-result.js";

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
      "Opens DuckDB with DuckLake and moraine loaded and the lake attached as `lake` and current. Makes the lake if it is not there and --data-path says where its data files go. Reads statements from the terminal, or from stdin, until .exit.",
    )
    .argument("<store>", storeHelp)
    .option("--data-path <path>", "where the data files are (default: what the lake has recorded)")
    .option("-c, --command <sql>", "run these statements one by one and end (default: read them)")
    .option("--read-only", "attach the lake for reading only (default: for writing)")
    .action(async (store: string, options: SqlOptions) => {
      const { openDuckDB } = await import("@moraine/extension");
      await using duckDb = await openDuckDB({ store, dataPath: options.dataPath, readOnly: options.readOnly });
      if (options.command !== undefined) await runCommand(context, duckDb, options.command, options.json === true);
      else await readStatements(context, duckDb, options.json === true);
    });
  withCommonOptions(command, `moraine sql .moraine/demo/store -c "FROM moraine_indexes('lake', 'main', 'flights')"`);
}

/** `--json` prints one array with an array of rows for each statement; what ran before a failure is not printed then. */
async function runCommand(context: Context, { connection }: OpenedDuckDb, sql: string, asJson: boolean): Promise<void> {
  const { runStatements } = await import("@moraine/extension");
  const statements: Json[] = [];
  await runStatements(connection, sql, (result) => {
    if (asJson) statements.push(rowsOf(result));
    else printResult(context, result);
  });
  if (asJson) printJson(context, statements);
}

function rowsOf({ columns, rows }: StatementResult): Json {
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] as Json])));
}

async function readStatements(context: Context, { connection }: OpenedDuckDb, asJson: boolean): Promise<void> {
  const { runShell } = await import("@moraine/extension");
  const { stdout, stderr } = context.output;
  await runShell({
    connection,
    input: context.stdin,
    output: stdout,
    failed: (message) => stderr.write(`${message}\n`),
    show: (result) => {
      if (asJson) printJson(context, rowsOf(result));
      else printResult(context, result);
    },
  });
}
