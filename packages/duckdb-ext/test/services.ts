import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Holder, isRunning, readHolder } from "@moraine/runtime";

/** Ends the services that were started in a test's folder, and waits until they are gone: those that come meanwhile as well. */
export async function stopServices(folder: string): Promise<void> {
  for (let found = holders(folder); found.length > 0; found = holders(folder)) {
    for (const { pid } of found) {
      try {
        process.kill(pid, "SIGTERM");
      } catch (error) {
        // It ended by itself meanwhile.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    }
    while (found.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Ids of the processes that hold a store of the folder. */
export function servicePids(folder: string): number[] {
  return holders(folder).map(({ pid }) => pid);
}

/** Processes that hold a store of the folder. */
function holders(folder: string): Holder[] {
  const runtime = join(folder, "run");
  if (!existsSync(runtime)) return [];
  // A service has a lock of its own and, once somebody writes, that of the store.
  const found = readdirSync(runtime)
    .filter((name) => name.endsWith(".lock"))
    .flatMap((name) => readHolder(join(runtime, name)) ?? []);
  const byPid = new Map(found.map((holder) => [holder.pid, holder]));
  return [...byPid.values()].filter((holder) => holder.pid !== process.pid && isRunning(holder));
}
