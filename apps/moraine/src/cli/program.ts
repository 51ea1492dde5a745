import { readFileSync } from "node:fs";
import { MoraineError } from "@moraine/codec";
import { Command, CommanderError } from "commander";
import { addCensus } from "./commands/census.js";
import { addDemo } from "./commands/demo.js";
import { addIndexes } from "./commands/indexes.js";
import { addLookup } from "./commands/lookup.js";
import { addMaintain } from "./commands/maintain.js";
import { addNulls } from "./commands/nulls.js";
import { addRange } from "./commands/range.js";
import { addSnapshots } from "./commands/snapshots.js";
import { addTables } from "./commands/tables.js";
import type { Context } from "./context.js";
import { FailedCheck } from "./failed-check.js";
import { exitCodeHelp, exitCodeOf, exitCodes } from "./exit-codes.js";

/** Runs the command line and gives the exit status. Never throws. */
export async function run(args: readonly string[], context: Context): Promise<number> {
  const program = buildProgram(context);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCodes.success;
  } catch (error) {
    return report(error, context);
  }
}

function buildProgram(context: Context): Command {
  const { stdout, stderr } = context.output;
  const program = new Command("moraine")
    .description("Reads and tends a moraine catalog: a lake's tables, and the indexes over them, on object storage.")
    .version(version(), "-V, --version", "print the version")
    .addHelpText("after", `${exitCodeHelp}\n\nExample:\n  $ moraine demo && moraine tables .moraine/demo/store`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => undefined,
    })
    .showSuggestionAfterError();
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
  ]) {
    add(program, context);
  }
  return program;
}

/** One line on what happened and one on what to do. */
function report(error: unknown, { output }: Context): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.success;
    if (error.code !== "commander.help") {
      output.stderr.write(`moraine: ${firstLine(error.message.replace(/^error: /u, ""))}\n`);
      output.stderr.write("  remedy: Run `moraine --help`, or `moraine <command> --help`.\n");
    }
    return exitCodes.usage;
  }
  if (error instanceof FailedCheck) {
    output.stderr.write(`moraine: ${error.message}\n  remedy: Report this with what was printed.\n`);
    return exitCodes.failure;
  }
  if (error instanceof MoraineError) {
    output.stderr.write(`moraine: ${firstLine(error.message)}\n  remedy: ${firstLine(error.remedy)}\n`);
    return exitCodeOf(error.code);
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.stderr.write(`moraine: unexpected error: ${text}\n  remedy: Report this with the command that you ran.\n`);
  return exitCodes.failure;
}

function firstLine(text: string): string {
  return text.replace(/\s*\n\s*/gu, " ");
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}
