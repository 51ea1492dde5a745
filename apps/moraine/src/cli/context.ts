import type { Readable } from "node:stream";
import { InvalidArgumentError } from "@moraine/codec";
import type { Command } from "commander";
import type { ReadOnlyCatalog } from "../interface.js";
import { type Json, jsonText, type Output, tableText, type TableColumn } from "./output.js";

/** What a command works with. */
export interface Context {
  readonly output: Output;
  readonly stdin: Readable & { readonly isTTY?: boolean };
}

export interface JsonOption {
  readonly json?: true;
}

/** The options that every command has, and an example below its help. */
export function withCommonOptions(command: Command, example: string): Command {
  return command
    .option("--json", "print one JSON document, also for an error (default: text for people)")
    .addHelpText("after", `\nExample:\n  $ ${example}`);
}

/** The names by which `findIndex` finds. */
export const indexHelp = "name, schema.name, schema.table.name or id of an index";

export const storeHelp = "location of the store: s3://bucket/prefix, file:///path or a path";

/** Runs a read on a catalog that is opened for reading only: nothing is made, changed or displaced. */
export async function reading<T>(store: string, run: (catalog: ReadOnlyCatalog) => Promise<T>): Promise<T> {
  // Loaded on first use, so that help and refusals of what was typed come at once.
  const { Catalog } = await import("../catalog.js");
  if (store === "") {
    throw new InvalidArgumentError("the location of the store is empty", {
      remedy: "Give s3://bucket/prefix, file:///path or a path.",
    });
  }
  const catalog = await Catalog.openReadOnly({ store });
  try {
    return await run(catalog);
  } finally {
    await catalog.close();
  }
}

export function printJson(context: Context, value: Json): void {
  context.output.stdout.write(`${jsonText(value)}\n`);
}

export function printLine(context: Context, line: string): void {
  context.output.stdout.write(`${line}\n`);
}

export function printTable<Row>(context: Context, columns: readonly TableColumn<Row>[], rows: readonly Row[]): void {
  printLine(context, tableText(columns, rows));
}
