import { Command } from "commander";
import { readManifest } from "../manifest.js";
import { addCensus } from "./commands/census.js";
import { addDemo } from "./commands/demo.js";
import { addDuckDbInit } from "./commands/duckdb-init.js";
import { addHelp } from "./commands/help.js";
import { addIndexes } from "./commands/indexes.js";
import { addLookup } from "./commands/lookup.js";
import { addMaintain } from "./commands/maintain.js";
import { addNulls } from "./commands/nulls.js";
import { addRange } from "./commands/range.js";
import { addServe } from "./commands/serve.js";
import { addSnapshots } from "./commands/snapshots.js";
import { addSql } from "./commands/sql.js";
import { addStatus } from "./commands/status.js";
import { addStop } from "./commands/stop.js";
import { addTables } from "./commands/tables.js";
import type { Context } from "./context.js";
import { exitCodeHelp, exitCodes } from "./exit-codes.js";
import { asksForJson, failureText } from "./failure.js";
import { failureOf } from "./failure-of.js";

/** Runs the command line and gives the exit status. Never throws. */
export async function run(args: readonly string[], context: Context): Promise<number> {
  const program = buildProgram(context);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCodes.success;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) return exitCodes.success;
    // The help that is shown where no command was given says it all.
    if (failure.code !== "no_command") context.output.stderr.write(failureText(failure, asksForJson(args)));
    return failure.exitStatus;
  }
}

function buildProgram(context: Context): Command {
  const { stdout, stderr } = context.output;
  const program = new Command("moraine")
    .description("Reads and tends a moraine catalog: a lake's tables, and the indexes over them, on object storage.")
    .version(readManifest().version, "-V, --version", "print the version")
    .addHelpText("after", `${exitCodeHelp}\n\nExample:\n  $ moraine demo && moraine tables .moraine/demo/store`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => undefined,
    })
    .showSuggestionAfterError()
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  for (const add of [
    addDemo,
    addTables,
    addIndexes,
    addLookup,
    addRange,
    addNulls,
    addSnapshots,
    addCensus,
    addMaintain,
    addSql,
    addDuckDbInit,
    addServe,
    addStatus,
    addStop,
    addHelp,
  ]) {
    add(program, context);
  }
  return program;
}
