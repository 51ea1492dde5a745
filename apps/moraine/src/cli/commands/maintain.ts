import { NotFoundError } from "@moraine/codec";
import type { Command } from "commander";
import {
  type Context,
  type JsonOption,
  printJson,
  printLine,
  reading,
  storeHelp,
  withCommonOptions,
} from "../context.js";
import { countText } from "../output.js";
import { Progress } from "../progress.js";

interface MaintainCommandOptions extends JsonOption {
  readonly takeOver?: true;
}

export function addMaintain(program: Command, context: Context): void {
  const command = program
    .command("maintain")
    .summary("reclaim what dropped indexes and vanished files left behind")
    .description(
      "Reclaims the entries of dropped indexes and the statistics of files that no snapshot can see. Opens the store for writing: a process that is writing to it is named, and displaced only with --take-over.",
    )
    .argument("<store>", storeHelp)
    .option(
      "--take-over",
      "displace a process of this machine that is writing to the store (default: name it, and do nothing)",
    )
    .action(async (store: string, options: MaintainCommandOptions) => {
      await requireCatalog(store);
      const { Catalog } = await import("../../catalog.js");
      using progress = new Progress(context.output);
      await using catalog = await Catalog.open({ store, takeOver: options.takeOver === true });
      const report = await catalog.maintain({
        onProgress: ({ indexEntriesReclaimed, fileColumnStatsReclaimed }) =>
          progress.show(`reclaimed ${countText(indexEntriesReclaimed + fileColumnStatsReclaimed)} records`),
      });
      progress.end();
      if (options.json === true) return printJson(context, { ...report });
      printLine(context, `indexes swept                  ${countText(report.indexesSwept)}`);
      printLine(context, `index entries reclaimed        ${countText(report.indexEntriesReclaimed)}`);
      printLine(context, `column statistics reclaimed    ${countText(report.fileColumnStatsReclaimed)}`);
    });
  withCommonOptions(command, "moraine maintain .moraine/demo/store");
}

/** Opening for writing makes a catalog where there is none, which is not what whoever tidies one up wants. */
async function requireCatalog(store: string): Promise<void> {
  await reading(store, () => Promise.resolve()).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    throw new NotFoundError(`there is no store at ${store}`, { remedy: "Check the location.", cause: error });
  });
}
