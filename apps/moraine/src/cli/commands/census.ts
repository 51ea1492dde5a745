import type { Command } from "commander";
import type { Census, IndexSize, SubspaceSize } from "../../interface.js";
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
import { bytesText, countText, type TableColumn } from "../output.js";
import { Progress } from "../progress.js";

export function addCensus(program: Command, context: Context): void {
  const command = program
    .command("census")
    .summary("count the records and bytes of each part of a store")
    .description(
      "Says whether the store's native loops are in use, reads a whole store, which takes about a second for each 100,000 records with them and ten without, and counts its records and their bytes before compression, by subspace and by index. Indexes that are dropped and not swept yet are listed as dropped.",
    )
    .argument("<store>", storeHelp)
    .action(async (store: string, options: JsonOption) => {
      using progress = new Progress(context.output);
      const census = await reading(store, (catalog) =>
        catalog.census({ onProgress: (entries) => progress.show(`counted ${countText(entries)} records`) }),
      );
      progress.end();
      if (options.json === true)
        printJson(context, {
          ...census,
          loops: { ...census.loops },
          subspaces: census.subspaces.map((size) => ({ ...size })),
          indexes: census.indexes.map((size) => ({ ...size })),
          total: { ...census.total },
        });
      else printAsTable(context, census);
    });
  withCommonOptions(command, "moraine census .moraine/demo/store");
}

const sizeColumns: readonly TableColumn<SubspaceSize | IndexSize>[] = [
  { title: "entries", text: ({ entries }) => countText(entries), right: true },
  { title: "keys", text: ({ keyBytes }) => bytesText(keyBytes), right: true },
  { title: "values", text: ({ valueBytes }) => bytesText(valueBytes), right: true },
];

function printAsTable(context: Context, census: Census): void {
  const { loops } = census;
  printLine(context, `store    ${census.location}`);
  printLine(context, `loops    ${loops.name}${loops.reason === undefined ? "" : ` (${loops.reason})`}`);
  printLine(context, "");
  const total: SubspaceSize = { subspace: "total", ...census.total };
  printTable<SubspaceSize>(
    context,
    [{ title: "subspace", text: ({ subspace }) => subspace }, ...sizeColumns],
    [...census.subspaces, total],
  );
  if (census.indexes.length === 0) return;
  printLine(context, "");
  printTable<IndexSize>(
    context,
    [
      { title: "index", text: ({ name }) => name ?? "(dropped)" },
      { title: "id", text: ({ indexId }) => indexId.toString(), right: true },
      { title: "state", text: ({ state }) => state },
      ...sizeColumns,
    ],
    census.indexes,
  );
}
