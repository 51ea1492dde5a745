import { decodeValue, encodeValue, LakesValue, sysLakesKey } from "@moraine/codec";
import { BatchBuilder, getOne, type ReadView, type WritableStore } from "@moraine/store";

/** The lakes that a store says it has, by DuckLake's metadata schemas. */
export type StoreLakes = LakesValue;

/** What a store says that says nothing: it holds one lake. */
const one: StoreLakes = { ownSchema: "main", others: [] };

/** Reads which lakes a store has: its own, and those in places of their own below it. */
export async function readStoreLakes(view: ReadView): Promise<StoreLakes> {
  const bytes = await getOne(view, sysLakesKey);
  return bytes === undefined ? one : decodeValue(LakesValue, bytes);
}

/** Writes the record, durably. For whoever holds the store's writer; no commit reads or writes it. */
export async function writeStoreLakes(store: WritableStore, lakes: StoreLakes): Promise<void> {
  const batch = new BatchBuilder();
  batch.put(sysLakesKey, encodeValue(LakesValue, lakes));
  await store.write(batch.finish());
}
