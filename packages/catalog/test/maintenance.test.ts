import { currentPrefix, type DataFileId, historyKey, prefixEnd, type TableId } from "@moraine/codec";
import { BatchBuilder, collectRows } from "@moraine/store";
import { describe, expect, it } from "vitest";
import type { MaintainReport } from "../src/index.js";
import { failureOf, outcomeOf } from "./support/errors.js";
import { Gate, turnOfTheLoop } from "./support/gate.js";
import { storedEntries } from "./support/index-oracle.js";
import { Lake } from "./support/lake.js";

/** Statistics records that the store holds for columns of files. */
async function fileStatistics(lake: Lake): Promise<number> {
  const prefix = currentPrefix("file_column_stats");
  return (await collectRows(lake.store.inner.scan({ start: prefix, end: prefixEnd(prefix) }))).length;
}

async function registerWithStatistics(lake: Lake, table: TableId, k: bigint): Promise<DataFileId> {
  const columnId = await lake.columnId(table, "k");
  const file = await lake.writeFile(table, [{ k }]);
  const columnStats = [{ columnId, columnSizeBytes: 8, valueCount: 1, nullCount: 0, min: `${k}`, max: `${k}` }];
  return await lake.commit((tx) => tx.registerDataFile({ table, file: { ...file, columnStats } }).dataFileId);
}

describe("maintain", () => {
  it("takes statistics of files that no snapshot can see, and leaves those that the past still resolves", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const files: DataFileId[] = [];
    for (let k = 0n; k < 5n; k++) files.push(await registerWithStatistics(lake, table, k));
    expect(await fileStatistics(lake)).toBe(5);
    expect(await lake.catalog.maintain()).toMatchObject({ fileColumnStatsReclaimed: 0 });
    await lake.commit((tx) => {
      for (const file of files.slice(0, 3)) tx.expireDataFile({ table, file });
    });
    // Expired, and still there for who travels back.
    expect(await lake.catalog.maintain()).toMatchObject({ fileColumnStatsReclaimed: 0 });
    const batch = new BatchBuilder();
    for (const file of files.slice(0, 2)) batch.delete(historyKey("data_file", [table, file], await lake.head()));
    await lake.store.inner.write(batch.finish());
    const progress: MaintainReport[] = [];
    const report = await lake.catalog.maintain({ batchSize: 1, onProgress: (step) => progress.push(step) });
    expect(report).toEqual({ indexesSwept: 0, indexEntriesReclaimed: 0, fileColumnStatsReclaimed: 2 });
    expect(progress.map(({ fileColumnStatsReclaimed }) => fileColumnStatsReclaimed)).toEqual([1, 2]);
    expect(await fileStatistics(lake)).toBe(3);
    expect(await lake.catalog.maintain()).toMatchObject({ fileColumnStatsReclaimed: 0 });
  });

  it("does what it is asked for and nothing else", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const index = await lake.index(table, ["k"]);
    await lake.insert(table, { k: 1n }, { k: 2n });
    await lake.commit((tx) => tx.dropIndex({ index }));
    const head = await lake.head();
    expect(await lake.catalog.maintain({ sweepIndexes: false })).toEqual({
      indexesSwept: 0,
      indexEntriesReclaimed: 0,
      fileColumnStatsReclaimed: 0,
    });
    expect((await storedEntries(lake.store.inner, index)).length).toBe(2);
    expect(await lake.catalog.maintain({ sweepFileStatistics: false })).toMatchObject({ indexEntriesReclaimed: 2 });
    expect(await lake.head()).toBe(head);
  });

  it("goes on in the next run where a failing store has stopped it", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const index = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, ...Array.from({ length: 20 }, (_, k) => ({ k: BigInt(k) })));
    await lake.commit((tx) => tx.dropIndex({ index }));
    let writes = 0;
    lake.store.hooks.write = async (next) => {
      writes += 1;
      if (writes > 2) throw new Error("planned");
      return await next();
    };
    expect(await outcomeOf(lake.catalog.maintain({ batchSize: 4 }))).toBe("store");
    await lake.catalog.close();
    const again = await Lake.open({ location: lake.location, dataPath: lake.dataPath! });
    expect((await storedEntries(again.store.inner, index)).length).toBe(12);
    expect(await again.catalog.maintain({ batchSize: 5 })).toMatchObject({
      indexesSwept: 1,
      indexEntriesReclaimed: 12,
    });
    expect(await storedEntries(again.store.inner, index)).toEqual([]);
  });

  it("spares the entries of an index that a commit in flight creates", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.insert(table, ...Array.from({ length: 50 }, (_, k) => ({ k: BigInt(k) })));
    // The entries can be read as soon as they are written; the definition counts when the write is acknowledged.
    const gate = new Gate();
    lake.store.hooks.write = async (next) => {
      const receipt = await next();
      await gate.pass();
      return receipt;
    };
    const creation = lake.index(table, ["k"]);
    await gate.reached;
    const sweep = lake.catalog.maintain();
    await turnOfTheLoop(20);
    gate.open();
    expect(await sweep).toMatchObject({ indexesSwept: 0, indexEntriesReclaimed: 0 });
    expect((await storedEntries(lake.store.inner, await creation)).length).toBe(50);
    await lake.expectVerified(table);
  });
});

describe("the record of maintenance passes", () => {
  it("keeps the 16 newest, makes no snapshot, and loses none of those that are recorded at once", async () => {
    const lake = await Lake.open();
    const head = await lake.head();
    const record = (at: number): Promise<void> =>
      lake.catalog.recordMaintenancePass({
        startedAtMicros: BigInt(at),
        trigger: "scheduled",
        steps: [{ step: "sweep", status: "ran", detail: `pass ${at}` }],
      });
    for (let at = 1; at <= 10; at++) await record(at);
    await Promise.all(Array.from({ length: 10 }, (_, i) => record(11 + i)));
    const passes = await lake.catalog.maintenanceStatus();
    expect(passes.map(({ startedAtMicros }) => Number(startedAtMicros))).toEqual(
      Array.from({ length: 16 }, (_, i) => 20 - i),
    );
    expect(passes[0]).toEqual({
      startedAtMicros: 20n,
      trigger: "scheduled",
      steps: [{ step: "sweep", status: "ran", detail: "pass 20" }],
    });
    expect(await lake.head()).toBe(head);
    await lake.catalog.close();
    const again = await Lake.open({ location: lake.location, dataPath: lake.dataPath! });
    expect(await again.catalog.maintenanceStatus()).toEqual(passes);
  });

  it.each([
    undefined,
    {},
    { startedAtMicros: 1n, trigger: "", steps: [] },
    { startedAtMicros: 1n, trigger: "t", steps: [{ step: "s", status: "done", detail: "" }] },
    { startedAtMicros: 1, trigger: "t", steps: [] },
  ])("refuses what is no pass: %o", async (pass) => {
    const lake = await Lake.open();
    expect((await failureOf(lake.catalog.recordMaintenancePass(pass as never))).code).toBe("invalid_argument");
    expect(await lake.catalog.maintenanceStatus()).toEqual([]);
  });
});
