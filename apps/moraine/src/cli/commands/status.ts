import type { ServiceReport } from "@moraine/extension";
import type { Command } from "commander";
import { type Context, type JsonOption, printJson, printLine, printTable, withCommonOptions } from "../context.js";
import { durationText, type Json } from "../output.js";

export function addStatus(program: Command, context: Context): void {
  const command = program
    .command("status")
    .summary("list the services that hold stores open for DuckDB")
    .description("Lists the services of this user on this machine, with the lakes that are attached through them.")
    .action(async (options: JsonOption) => {
      const { listServices } = await import("@moraine/extension");
      const services = await listServices();
      if (options.json === true) printJson(context, { services: services as readonly object[] as Json });
      else if (services.length === 0) printLine(context, "No service runs.");
      else printAsTable(context, services);
    });
  withCommonOptions(command, "moraine status");
}

function printAsTable(context: Context, services: readonly ServiceReport[]): void {
  printTable(
    context,
    [
      { title: "store", text: ({ status }) => ("error" in status ? "unknown" : status.store) },
      { title: "process", text: ({ status }) => ("error" in status ? "unknown" : String(status.pid)), right: true },
      {
        title: "up",
        text: ({ status }) => ("error" in status ? "" : durationText(status.upSeconds * 1000)),
        right: true,
      },
      { title: "snapshot", text: ({ status }) => ("error" in status ? "" : (status.snapshot ?? "")), right: true },
      { title: "attached by", text: clientsText },
    ],
    services,
  );
}

function clientsText({ status, socket }: ServiceReport): string {
  if ("error" in status) return `${socket}: ${status.error}`;
  return status.clients
    .map(({ program, pid, lakes }) => {
      const names = lakes.map(({ name, readOnly }) => (readOnly ? `${name} (read-only)` : name));
      return `${program} ${pid}: ${names.join(", ")}`;
    })
    .join("; ");
}
