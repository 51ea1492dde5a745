import {
  currentKey,
  DataFileValue,
  decodeValue,
  encodeValue,
  IndexDefinitionValue,
  type IndexId,
  type TableId,
} from "@moraine/codec";
import { BatchBuilder, DataStoreSet, getOne, openStore, type ReadView } from "@moraine/store";
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
  return await planted(lake, async (store, batch) => {
    const key = currentKey("index", table, index);
    const definition = decodeValue(IndexDefinitionValue, (await getOne(store, key))!);
    const changed = state === "poisoned" ? { ...definition, poisoned: true } : { ...definition, buildState: state };
    batch.put(key, encodeValue(IndexDefinitionValue, changed));
  });
}

/** Lets every data file of a table claim so many rows, as a large one would have, and opens the catalog again. */
export async function plantRecordCounts(lake: Lake, table: TableId, recordCount: bigint): Promise<Catalog> {
  const files = (await lake.catalog.snapshot()).dataFilesOf(table);
  return await planted(lake, async (store, batch) => {
    for (const { id } of files) {
      const key = currentKey("data_file", table, id);
      const file = decodeValue(DataFileValue, (await getOne(store, key))!);
      batch.put(key, encodeValue(DataFileValue, { ...file, recordCount }));
    }
  });
}

async function planted(lake: Lake, plant: (store: ReadView, batch: BatchBuilder) => Promise<void>): Promise<Catalog> {
  await lake.catalog.close();
  const store = await openStore(lake.location);
  const batch = new BatchBuilder();
  await plant(store, batch);
  await store.write(batch.finish());
  await store.close();
  const catalog = await Catalog.open({
    store: await openStore(lake.location),
    openDataFiles: (path) => new DataStoreSet(path),
  });
  onTestFinished(() => catalog.close());
  return catalog;
}
