import { currentKey, decodeValue, encodeValue, IndexDefinitionValue, type IndexId, type TableId } from "@moraine/codec";
import { BatchBuilder, DataStoreSet, getOne, openStore } from "@moraine/store";
import { onTestFinished } from "vitest";
import { Catalog } from "../../src/index.js";
import type { Lake } from "./lake.js";

/**
 * Puts an index into a state that this version's verbs do not lead to, by rewriting its definition in the store, and opens the
 * catalog again: an older or a newer writer may leave such a definition.
 */
export async function plantIndexState(
  lake: Lake,
  table: TableId,
  index: IndexId,
  state: "building" | "maintaining" | "poisoned",
): Promise<Catalog> {
  await lake.catalog.close();
  const store = await openStore(lake.location);
  const key = currentKey("index", table, index);
  const definition = decodeValue(IndexDefinitionValue, (await getOne(store, key))!);
  const batch = new BatchBuilder();
  const planted = state === "poisoned" ? { ...definition, poisoned: true } : { ...definition, buildState: state };
  batch.put(key, encodeValue(IndexDefinitionValue, planted));
  await store.write(batch.finish());
  await store.close();
  const catalog = await Catalog.open({
    store: await openStore(lake.location),
    openDataFiles: (path) => new DataStoreSet(path),
  });
  onTestFinished(() => catalog.close());
  return catalog;
}
