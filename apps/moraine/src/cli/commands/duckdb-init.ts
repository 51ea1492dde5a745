import { resolve } from "node:path";
import type { OfficialExtension } from "@moraine/extension";
import type { Command } from "commander";
import { type Context, type JsonOption, printJson, printLine, storeHelp, withCommonOptions } from "../context.js";

interface InitOptions extends JsonOption {
  readonly dataPath?: string;
  readonly name?: string;
  readonly readOnly?: true;
}

export function addDuckDbInit(program: Command, context: Context): void {
  const command = program
    .command("duckdb-init")
    .summary("print the statements by which any DuckDB attaches the lake")
    .description(
      "Prints LOAD, ATTACH and USE for a DuckDB 1.5.5 that may load unsigned extensions: the command line with -unsigned, Node and Python with the setting allow_unsigned_extensions.",
    )
    .argument("<store>", storeHelp)
    .option("--data-path <path>", "where the data files are (default: what the lake has recorded)")
    .option("--name <name>", "the lake's name in DuckDB (default: lake)")
    .option("--read-only", "attach the lake for reading only (default: for writing)")
    .action(async (store: string, options: InitOptions) => {
      const { extensionFile, initStatements, officialExtensionFile } = await import("@moraine/extension");
      // What is not built is said before anything is fetched.
      const built = extensionFile();
      const isS3 = [store, options.dataPath ?? ""].some((place) => /^s3:/iu.test(place));
      const official: OfficialExtension[] = isS3 ? ["ducklake", "httpfs"] : ["ducklake"];
      const files = [...(await Promise.all(official.map(officialExtensionFile))), built];
      // The statements are run by others, elsewhere.
      const places = { store: absolute(store), dataPath: options.dataPath && absolute(options.dataPath) };
      const statements = initStatements({ ...options, ...places }, files);
      if (options.json === true) return printJson(context, { statements });
      for (const sql of statements) printLine(context, `${sql};`);
    });
  withCommonOptions(command, "moraine duckdb-init .moraine/demo/store > init.sql && duckdb -unsigned -init init.sql");
}

/** A place of the local disk wherever DuckDB runs; urls are that already. */
function absolute(place: string): string {
  return place === "" || /^[a-z][\w+.-]*:/iu.test(place) ? place : resolve(place);
}
