import type { Command } from "commander";
import { type Context, type JsonOption, printJson, printLine, storeHelp, withCommonOptions } from "../context.js";

export function addStop(program: Command, context: Context): void {
  const command = program
    .command("stop")
    .summary("end the service of a store")
    .description(
      "Has the service of a store finish what is under way and close the store, and waits for that. Where none runs there is nothing to do.",
    )
    .argument("<store>", storeHelp)
    .action(async (store: string, options: JsonOption) => {
      const { stopService } = await import("@moraine/extension");
      const pid = await stopService(store);
      if (options.json === true) printJson(context, { pid: pid ?? null });
      else
        printLine(
          context,
          pid === undefined ? "No service runs for that store." : `The service of process ${pid} has ended.`,
        );
    });
  withCommonOptions(command, "moraine stop .moraine/demo/store");
}
