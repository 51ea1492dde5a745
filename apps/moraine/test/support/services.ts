import { listServices, stopService } from "@moraine/extension";

export { extensionAvailable } from "../../../../packages/duckdb-ext/test/extensions.js";

/** Ends the services of this test's runtime folder, and waits until they are gone. */
export async function stopServices(): Promise<void> {
  for (const { status } of await listServices()) if ("store" in status) await stopService(status.store);
}
