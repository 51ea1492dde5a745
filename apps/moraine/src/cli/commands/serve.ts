import type { Command } from "commander";
import { type Context, type JsonOption, printJson, printLine, storeHelp, withCommonOptions } from "../context.js";

interface ServeCommandOptions extends JsonOption {
  readonly auto?: true;
  readonly idleTimeout?: string;
  readonly logLevel?: string;
}

export function addServe(program: Command, context: Context): void {
  const command = program
    .command("serve")
    .summary("hold a store open for DuckDB processes of this user")
    .description(
      "Runs the service of a store, by which DuckDB processes read and write its lake. They start one by themselves where there is none; one that was started by hand stays until it is stopped.",
    )
    .argument("<store>", storeHelp)
    .option(
      "--auto",
      "end when another service is there, and when there was no client for a while (default: refuse, stay)",
    )
    .option("--idle-timeout <seconds>", "end after so long without a client (default: never; with --auto 60)")
    .option("--log-level <level>", "debug, info, warn or error (default: info)")
    .action(async (store: string, { auto, idleTimeout, logLevel, json }: ServeCommandOptions) => {
      const { serve, serveOptions } = await import("@moraine/extension");
      const options = serveOptions(store, { auto: auto === true, idleTimeout, logLevel });
      // Ctrl-C ends a service in good order, not at once as it does other commands.
      process.removeAllListeners("SIGINT");
      const status = await serve({
        ...options,
        listening: ({ location, socket, log }) => {
          if (json === true) return printJson(context, { store: location, socket, log });
          printLine(context, `serving ${location}`);
          printLine(context, `socket ${socket}`);
          printLine(context, `log    ${log}`);
        },
      });
      // Requests that S3 never answers would keep the process.
      process.exit(status);
    });
  withCommonOptions(command, "moraine serve .moraine/demo/store --idle-timeout 600");
}
