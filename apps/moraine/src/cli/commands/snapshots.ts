import type { Command } from "commander";
import type { SnapshotRecord } from "../../interface.js";
import {
  type Context,
  type JsonOption,
  printJson,
  printTable,
  reading,
  storeHelp,
  withCommonOptions,
} from "../context.js";
import { limitOption } from "../count-option.js";
import { timeText } from "../output.js";

interface SnapshotsOptions extends JsonOption {
  readonly limit?: number;
}

export function addSnapshots(program: Command, context: Context): void {
  const command = program
    .command("snapshots")
    .summary("list the snapshots of a catalog, the newest first")
    .description("Lists the snapshots that a catalog retains, the newest first, with what each one changed.")
    .argument("<store>", storeHelp)
    .addOption(limitOption("snapshots"))
    .action(async (store: string, { limit, json }: SnapshotsOptions) => {
      const found = await reading(store, (catalog) => catalog.snapshots(limit === undefined ? {} : { limit }));
      if (json === true) printJson(context, { snapshots: found.map(asJson) });
      else printAsTable(context, found);
    });
  withCommonOptions(command, "moraine snapshots .moraine/demo/store --limit 5");
}

function asJson(snapshot: SnapshotRecord): { readonly [key: string]: string | bigint | null } {
  return {
    id: snapshot.id,
    time: timeText(snapshot.timeMicros),
    schemaVersion: snapshot.schemaVersion,
    changes: snapshot.changes,
    author: snapshot.author ?? null,
    message: snapshot.message ?? null,
    extraInfo: snapshot.extraInfo ?? null,
  };
}

function printAsTable(context: Context, snapshots: readonly SnapshotRecord[]): void {
  printTable(
    context,
    [
      { title: "id", text: ({ id }) => id.toString(), right: true },
      { title: "time (UTC)", text: ({ timeMicros }) => timeText(timeMicros).replace("T", " ").replace("Z", "") },
      { title: "schema version", text: ({ schemaVersion }) => schemaVersion.toString(), right: true },
      { title: "changes", text: ({ changes }) => changes },
      { title: "by", text: ({ author, message }) => [author, message].filter((text) => text !== undefined).join(": ") },
    ],
    snapshots,
  );
}
