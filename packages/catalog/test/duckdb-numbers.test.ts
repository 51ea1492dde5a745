import { decodeValue, snapshotKey, SnapshotValue } from "@moraine/codec";
import { getOne } from "@moraine/store";
import { expect, it } from "vitest";
import { Lake } from "./support/lake.js";

/** The numbers of the newest snapshot by which DuckLake knows whether what it remembers is still right. */
async function numbersOf(lake: Lake): Promise<{ schemaVersion: bigint; nextFileId: bigint }> {
  const bytes = await getOne(lake.store.inner, snapshotKey(await lake.head()));
  const { schemaVersion, nextFileId } = decodeValue(SnapshotValue, bytes!);
  return { schemaVersion, nextFileId };
}

it("a commit that inlines rows moves what DuckLake goes by, as one of DuckLake's own does", async () => {
  const lake = await Lake.open();
  const table = await lake.table("t", { k: "BIGINT" });
  expect(await numbersOf(lake)).toEqual({ schemaVersion: 1n, nextFileId: 0n });
  // The table of inlined rows comes into being: DuckLake has to look for it.
  await lake.insert(table, { k: 1n });
  expect(await numbersOf(lake)).toEqual({ schemaVersion: 2n, nextFileId: 1n });
  // From here on only the statistics change, and with them the next row id.
  await lake.insert(table, { k: 2n });
  expect(await numbersOf(lake)).toEqual({ schemaVersion: 2n, nextFileId: 2n });
  // A file has an id of its own.
  await lake.register(table, [{ k: 3n }]);
  expect(await numbersOf(lake)).toEqual({ schemaVersion: 2n, nextFileId: 3n });
  await lake.commit((tx) => tx.inlineDelete({ table, rowId: 0n }));
  expect(await numbersOf(lake)).toEqual({ schemaVersion: 2n, nextFileId: 3n });
});
