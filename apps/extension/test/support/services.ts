import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Ends the services that were started in a test's folder, and waits until they are gone. */
export async function stopServices(folder: string): Promise<void> {
  for (const pid of servicePids(folder)) {
    end(pid);
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Processes that hold a store of the folder. */
export function servicePids(folder: string): number[] {
  const runtime = join(folder, "run");
  if (!existsSync(runtime)) return [];
  // A service has a lock of its own and, once somebody writes, that of the store.
  const pids = readdirSync(runtime)
    .filter((name) => name.endsWith(".lock"))
    .map((name) => (JSON.parse(readFileSync(join(runtime, name), "utf8")) as { readonly pid: number }).pid);
  return [...new Set(pids)].filter((pid) => pid !== process.pid && isRunning(pid));
}

/** One that is gone by now needs no ending. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
