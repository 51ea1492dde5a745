import type { Command } from "commander";
import {
  type Context,
  type JsonOption,
  printJson,
  printLine,
  printTable,
  reading,
  storeHelp,
  withCommonOptions,
} from "../context.js";
import { allIndexes, findTable, type FoundIndex } from "../find.js";

export function addIndexes(program: Command, context: Context): void {
  const command = program
    .command("indexes")
    .summary("list the indexes of a catalog or of one table")
    .description("Lists the indexes of a catalog at its head, or of one table of it.")
    .argument("<store>", storeHelp)
    .argument("[table]", "name, schema.name or id of a table")
    .action(async (store: string, table: string | undefined, options: JsonOption) => {
      const found = await reading(store, async (catalog) => {
        const snapshot = await catalog.snapshot();
        return allIndexes(snapshot, table === undefined ? undefined : [findTable(snapshot, table)]);
      });
      if (options.json === true) printJson(context, { indexes: found.map(asJson) });
      else if (found.length === 0) printLine(context, "There are no indexes.");
      else printAsTable(context, found);
    });
  withCommonOptions(command, "moraine indexes .moraine/demo/store main.flights");
}

function asJson({ schema, table, index, columns }: FoundIndex): {
  readonly [key: string]: string | bigint | boolean | null | readonly { readonly [key: string]: string | bigint }[];
} {
  return {
    schema: schema.name,
    table: table.name,
    index: index.name,
    id: index.id,
    unique: index.unique,
    state: index.state,
    maintenance: index.maintenance,
    certifiedAt: index.certifiedAt ?? null,
    columns: columns.map((column, at) => ({
      id: column.id,
      name: column.name,
      type: column.columnType,
      direction: index.directions[at] ?? "asc",
      nulls: index.nulls[at] ?? "last",
    })),
  };
}

function printAsTable(context: Context, found: readonly FoundIndex[]): void {
  printTable(
    context,
    [
      { title: "schema", text: ({ schema }) => schema.name },
      { title: "table", text: ({ table }) => table.name },
      { title: "index", text: ({ index }) => index.name },
      { title: "id", text: ({ index }) => index.id.toString(), right: true },
      { title: "unique", text: ({ index }) => (index.unique ? "yes" : "no") },
      { title: "state", text: ({ index }) => index.state },
      { title: "columns", text: columnsText },
    ],
    found,
  );
}

function columnsText({ index, columns }: FoundIndex): string {
  return columns
    .map(
      ({ name }, at) =>
        `${name} ${(index.directions[at] ?? "asc").toUpperCase()} NULLS ${(index.nulls[at] ?? "last").toUpperCase()}`,
    )
    .join(", ");
}
