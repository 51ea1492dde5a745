import { genesisOf, type RowChanges } from "@moraine/catalog";
import { ConfigurationError } from "@moraine/codec";
import type { WritableLake } from "./lake.js";

/**
 * Refuses the transaction by which a client makes a lake that another client has made meanwhile, unless it would have made the same
 * one. Errors: `configuration`.
 */
export async function requireSameLake(catalog: WritableLake, changes: RowChanges): Promise<void> {
  const { dataPath, encrypted } = genesisOf(changes);
  const snapshot = await catalog.snapshot();
  const recorded = snapshot.dataPath();
  if (recorded !== dataPath) {
    throw new ConfigurationError(
      `another client has made the lake meanwhile, with the data path ${recorded ?? "unset"} in place of ${dataPath}`,
      { remedy: "Detach, and attach it without DATA_PATH: the recorded one counts." },
    );
  }
  if ((snapshot.option("global", "encrypted") === "true") === encrypted) return;
  throw new ConfigurationError(`another client has made the lake meanwhile, ${encrypted ? "not " : ""}encrypted`, {
    remedy: "Detach, and attach it without ENCRYPTED: what was recorded counts.",
  });
}
