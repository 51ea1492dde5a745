// A process that commits to a catalog until it is killed. Arguments: location of the store, data path, commits in flight, number
// of the first commit.
// Commit `i` inserts rows 2i and 2i+1 into table `t` and deletes row 2(i-10) where that one is there; `acknowledged i` is
// printed once the catalog has answered. Row 2i+1 is never deleted: it tells whether commit `i` landed, and in its text whether
// it deleted the other row. Now and then the inline rows are flushed to a file.
import { writeSync } from "node:fs";
import {
  CommitConflictError,
  type IndexId,
  RetryBudgetExhaustedError,
  type SchemaId,
  type TableId,
} from "@moraine/codec";
import { DataStoreSet, openStore } from "@moraine/store";
import { Catalog } from "../../src/index.js";

const flushEveryCommits = 8;
const deleteAfterCommits = 10;

const [location = "", dataPath = "", inFlight = "1", first = "0"] = process.argv.slice(2);
const catalog = await Catalog.open({
  store: await openStore(location, { walObjectsPerCheckpoint: 8 }),
  dataPath,
  openDataFiles: (path) => new DataStoreSet(path),
});
const snapshot = await catalog.snapshot();
const table = snapshot.tableByName(0n as SchemaId, "t")?.id;
const index = table === undefined ? undefined : snapshot.indexByName(table, "t_k")?.id;
if (table === undefined || index === undefined) throw new Error("the table is not there");
let next = Number(first);

async function commit(i: number, tableId: TableId, indexId: IndexId): Promise<void> {
  const [old] =
    i < deleteAfterCommits
      ? []
      : await catalog.indexLookup({ index: indexId, key: [BigInt(2 * (i - deleteAfterCommits))] });
  await catalog.commit((tx) => {
    const s = old === undefined ? "kept" : "deleted";
    tx.inlineInsert({ table: tableId, rows: [0, 1].map((j) => ({ k: BigInt(2 * i + j), s })) });
    if (old !== undefined) tx.inlineDelete({ table: tableId, rowId: old });
  });
}

async function flush(tableId: TableId): Promise<void> {
  writeSync(1, "flushing\n");
  try {
    await catalog.flushInlined({ table: tableId });
    writeSync(1, "flushed\n");
  } catch (error) {
    // The other commits delete rows faster than they can be written to a file.
    if (!(error instanceof RetryBudgetExhaustedError)) throw error;
  }
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
    if (i % flushEveryCommits === flushEveryCommits - 1) await flush(tableId);
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, () => commitLoop(table, index)));
