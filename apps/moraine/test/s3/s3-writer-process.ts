// A process that commits to a lake in S3 until it is killed. Arguments: store, data path, commits in flight, number of the first
// commit. Commit `i` inserts events 2i and 2i+1 and deletes event 2(i-10) where that one is there. `acknowledged i` is printed
// once the catalog has answered. Event 2i+1 is never deleted: it tells whether commit `i` landed, and by its name whether it
// deleted the other event. Now and then the inline rows are flushed to an object.
import { writeSync } from "node:fs";
import { Catalog, CommitConflictError, mainSchema, RetryBudgetExhaustedError } from "moraine";

const flushEveryCommits = 6;
const deleteAfterCommits = 10;

const [store = "", dataPath = "", inFlight = "1", first = "0"] = process.argv.slice(2);
const catalog = await Catalog.open({ store, dataPath });
const snapshot = await catalog.snapshot();
const table = snapshot.tableByName(mainSchema, "events")!.id;
const index = snapshot.indexBySchemaName(mainSchema, "events_id")!.id;
let next = Number(first);

async function commit(i: number): Promise<void> {
  const key = [2 * (i - deleteAfterCommits)];
  const [old] = i < deleteAfterCommits ? [] : await catalog.indexLookup({ index, key });
  await catalog.commit((tx) => {
    const name = old === undefined ? "kept" : "deleted";
    tx.inlineInsert({ table, rows: [0, 1].map((j) => ({ id: 2 * i + j, name, score: i % 7 })) });
    if (old !== undefined) tx.inlineDelete({ table, rowId: old });
  });
}

async function flush(): Promise<void> {
  writeSync(1, "flushing\n");
  try {
    await catalog.flushInlined({ table });
    writeSync(1, "flushed\n");
  } catch (error) {
    // The other commits delete rows faster than they can be written to an object.
    if (!(error instanceof RetryBudgetExhaustedError)) throw error;
  }
}

async function commitLoop(): Promise<void> {
  for (;;) {
    const i = next++;
    for (;;) {
      try {
        await commit(i);
        break;
      } catch (error) {
        // Two commits that delete rows of one table may conflict; then this one has not landed.
        if (!(error instanceof CommitConflictError)) throw error;
      }
    }
    writeSync(1, `acknowledged ${i}\n`);
    if (i % flushEveryCommits === flushEveryCommits - 1) await flush();
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, () => commitLoop()));
