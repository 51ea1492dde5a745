// A process that commits to a catalog until it is killed. Arguments: location of the store, commits in flight.
// Commit `i` inserts rows 2i and 2i+1 into table `t` and deletes row 2(i-20) where that one is there; `acknowledged i` is
// printed once the catalog has answered. Row 2i+1 is never deleted, so that it tells whether commit `i` landed.
import { writeSync } from "node:fs";
import { CommitConflictError, type IndexId, type SchemaId, type TableId } from "@moraine/codec";
import { openStore } from "@moraine/store";
import { Catalog } from "../../src/index.js";

const [location = "", inFlight = "1", first = "0"] = process.argv.slice(2);
const catalog = await Catalog.open({ store: await openStore(location, { walObjectsPerCheckpoint: 8 }) });
const snapshot = await catalog.snapshot();
const table = snapshot.tableByName(0n as SchemaId, "t")?.id;
const index = table === undefined ? undefined : snapshot.indexByName(table, "t_k")?.id;
if (table === undefined || index === undefined) throw new Error("the table is not there");
let next = Number(first);

async function commit(i: number, tableId: TableId, indexId: IndexId): Promise<void> {
  const [old] = i < 20 ? [] : await catalog.indexLookup({ index: indexId, key: [BigInt(2 * (i - 20))] });
  await catalog.commit((tx) => {
    tx.inlineInsert({ table: tableId, rows: [0, 1].map((j) => ({ k: BigInt(2 * i + j), s: `s${i % 7}` })) });
    if (old !== undefined) tx.inlineDelete({ table: tableId, rowId: old });
  });
}

async function commitLoop(tableId: TableId, indexId: IndexId): Promise<void> {
  for (;;) {
    const i = next++;
    for (;;) {
      try {
        await commit(i, tableId, indexId);
        break;
      } catch (error) {
        // Two commits that delete rows of one table may conflict; then this one has not landed.
        if (!(error instanceof CommitConflictError)) throw error;
      }
    }
    writeSync(1, `acknowledged ${i}\n`);
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, () => commitLoop(table, index)));
