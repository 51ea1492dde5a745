import { changelogKey, snapshotKey, sysFormatKey, sysHeadKey, sysMigrationKey, type TableId } from "@moraine/codec";
import { BatchBuilder, getOne, openStore, openStoreReader, type ReadableStore } from "@moraine/store";
import { describe, expect, it, onTestFinished } from "vitest";
import { ReadOnlyCatalog } from "../src/index.js";
import { catalogText } from "./support/catalog-text.js";
import { failureOf } from "./support/errors.js";
import { temporaryFolder } from "./support/folders.js";
import { Gate } from "./support/gate.js";
import { Lake, main } from "./support/lake.js";

/** A reader's store that looks straight into the writer's, counts what is read, and lets a test step in. */
class WatchedReader implements ReadableStore {
  scans = 0;
  gets = 0;
  readonly failure = null;
  beforeGet: (() => Promise<void>) | undefined;
  beforeScan: (() => Promise<void>) | undefined;
  readonly #lake: Lake;

  constructor(lake: Lake) {
    this.#lake = lake;
  }

  get location(): string {
    return this.#lake.location;
  }

  getMany: ReadableStore["getMany"] = async (keys) => {
    this.gets += 1;
    await this.beforeGet?.();
    return await this.#lake.store.inner.getMany(keys);
  };

  scan: ReadableStore["scan"] = (range, options) => this.#scan(range, options);

  async *#scan(...args: Parameters<ReadableStore["scan"]>): ReturnType<ReadableStore["scan"]> {
    this.scans += 1;
    await this.beforeScan?.();
    yield* this.#lake.store.inner.scan(...args);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Scans that a read needs. */
  async scansOf(read: () => Promise<unknown>): Promise<number> {
    const before = this.scans;
    await read();
    return this.scans - before;
  }
}

async function openReader(lake: Lake): Promise<{ readonly reader: ReadOnlyCatalog; readonly watched: WatchedReader }> {
  const watched = new WatchedReader(lake);
  const reader = await ReadOnlyCatalog.open({ store: watched });
  onTestFinished(() => reader.close());
  return { reader, watched };
}

/** Enough objects that a few changes are not half of the catalog. */
async function openLake(): Promise<{ readonly lake: Lake; readonly table: TableId }> {
  const lake = await Lake.open();
  const table = await lake.commit((tx) => {
    for (let i = 0; i < 40; i++) tx.createSchema({ name: `s${i}` });
    return tx.createTable({ schema: main, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] });
  });
  return { lake, table };
}

describe("a read-only catalog", () => {
  it(
    "follows a writer on disk: what it shows after each commit is what the writer shows and what a fresh load reads",
    { timeout: 120_000 },
    async () => {
      const folder = temporaryFolder();
      const lake = await Lake.open({ location: `${folder}/store`, dataPath: `${folder}/data` });
      const reader = await ReadOnlyCatalog.open({
        store: await openStoreReader(`${folder}/store`, { pollIntervalMs: 10 }),
      });
      onTestFinished(() => reader.close());
      const table = await lake.table("t", { k: "BIGINT", s: "VARCHAR" });
      const index = await lake.index(table, ["k"], { unique: true });
      const changes: (() => Promise<unknown>)[] = [
        () => lake.insert(table, { k: 1n, s: "a" }, { k: 2n, s: "b" }),
        () => lake.commit((tx) => tx.createSchema({ name: "s" })),
        () =>
          lake.register(table, [
            { k: 3n, s: "c" },
            { k: 4n, s: "d" },
          ]),
        () => lake.delete(table, 0n),
        async () => lake.commit((tx) => tx.setOption({ scope: "global", key: "k", value: "v" })),
        () => lake.catalog.flushInlined({ table }),
        async () => {
          const column = await lake.columnId(table, "s");
          await lake.commit((tx) => tx.renameColumn({ table, column, name: "text" }));
        },
        () => lake.insert(table, { k: 5n, text: "e" }),
        () => lake.catalog.maintain(),
        () => lake.commit((tx) => tx.createView({ schema: main, name: "v", dialect: "duckdb", sql: "SELECT 1" })),
        () => lake.index(table, ["text"], { name: "late" }),
      ];
      for (const change of changes) {
        await change();
        const expected = await catalogText(lake.catalog);
        await expect.poll(() => catalogText(reader), { timeout: 20_000, interval: 10 }).toBe(expected);
        // A batch of options makes no snapshot, so that the texts may be equal before the reader has it.
        const option = (await lake.catalog.snapshot()).option("global", "k");
        await expect
          .poll(async () => (await reader.snapshot()).option("global", "k"), { timeout: 20_000 })
          .toBe(option);
        const fresh = await ReadOnlyCatalog.open({
          store: await openStoreReader(`${folder}/store`, { pollIntervalMs: 10 }),
        });
        expect(await catalogText(fresh)).toBe(expected);
        await fresh.close();
        expect(await reader.indexRange({ index })).toEqual(await lake.catalog.indexRange({ index }));
        expect(await reader.recentRows({ table })).toEqual(await lake.catalog.recentRows({ table }));
      }
      // The writer was never displaced, nor held up.
      await lake.insert(table, { k: 6n });
      await lake.expectVerified(table);
    },
  );

  it("offers no verb that writes, and refuses a store that nobody has created without creating it", async () => {
    const { lake } = await openLake();
    const { reader } = await openReader(lake);
    for (const verb of [
      "commit",
      "commitGroup",
      "flushInlined",
      "maintain",
      "reclaimIndexEntries",
      "recordMaintenancePass",
    ]) {
      expect(verb in reader, verb).toBe(false);
    }
    const folder = temporaryFolder();
    const store = await openStore(folder);
    await store.close();
    const empty = await openStoreReader(folder);
    onTestFinished(() => empty.close());
    expect((await failureOf(ReadOnlyCatalog.open({ store: empty }))).code).toBe("corruption");
    const again = await openStore(folder);
    expect(await getOne(again, sysFormatKey)).toBeUndefined();
    expect(await getOne(again, sysHeadKey)).toBeUndefined();
    await again.close();
  });

  it("replays changelogs without a scan, and keeps what it has while the head stands", async () => {
    const { lake } = await openLake();
    const { reader, watched } = await openReader(lake);
    expect(await watched.scansOf(() => reader.snapshot())).toBe(0);
    for (let i = 0; i < 5; i++) {
      for (let n = 0; n <= i; n++) await lake.commit((tx) => tx.createSchema({ name: `x${i}_${n}` }));
      expect(await watched.scansOf(() => reader.snapshot())).toBe(0);
      expect(await catalogText(reader)).toBe(await catalogText(lake.catalog));
    }
    const gets = watched.gets;
    await reader.snapshot();
    // The head, before and after.
    expect(watched.gets - gets).toBe(2);
  });

  it.each([
    [
      "a batch that made no snapshot",
      async (lake: Lake) => lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "t", steps: [] }),
    ],
    [
      "a batch without a snapshot between two that made one",
      async (lake: Lake) => {
        await lake.commit((tx) => tx.createSchema({ name: "x" }));
        await lake.commit((tx) => tx.setOption({ scope: "global", key: "between", value: "v" }));
        await lake.commit((tx) => tx.createSchema({ name: "y" }));
      },
    ],
    [
      "a changelog that is gone",
      async (lake: Lake) => {
        await lake.commit((tx) => tx.createSchema({ name: "x" }));
        const batch = new BatchBuilder();
        batch.delete(changelogKey(await lake.head()));
        await lake.store.inner.write(batch.finish());
      },
    ],
    [
      "more snapshots than the changelog keeps",
      async (lake: Lake) => {
        for (let i = 0; i < 66; i++)
          await lake.commit((tx) => tx.setTag({ target: { schema: main }, key: "k", value: `${i}` }));
      },
    ],
    [
      "more changes than half of the catalog",
      async (lake: Lake) =>
        lake.commit((tx) => {
          for (let i = 0; i < 60; i++) tx.createSchema({ name: `x${i}` });
        }),
    ],
    [
      "a snapshot record that is gone",
      async (lake: Lake) => {
        await lake.commit((tx) => tx.createSchema({ name: "x" }));
        const head = await lake.head();
        await lake.commit((tx) => tx.createSchema({ name: "y" }));
        const batch = new BatchBuilder();
        batch.delete(snapshotKey(head));
        batch.delete(changelogKey(head));
        await lake.store.inner.write(batch.finish());
      },
    ],
  ])("loads afresh over %s", async (_, change) => {
    const { lake } = await openLake();
    const { reader, watched } = await openReader(lake);
    await change(lake);
    expect(await watched.scansOf(() => reader.snapshot())).toBeGreaterThan(0);
    expect(await catalogText(reader)).toBe(await catalogText(lake.catalog));
    const option = (await lake.catalog.snapshot()).option("global", "between");
    expect((await reader.snapshot()).option("global", "between")).toBe(option);
    expect(await watched.scansOf(() => reader.snapshot())).toBe(0);
  });

  it("runs a read again that the writer overtook, so that no answer mixes two states", async () => {
    const { lake, table } = await openLake();
    const index = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n }, { k: 2n });
    const { reader, watched } = await openReader(lake);
    let overtakes = 2;
    watched.beforeScan = async () => {
      if (overtakes-- <= 0) return;
      const [live] = await lake.catalog.recentRows({ table });
      await lake.commit((tx) => {
        tx.inlineDelete({ table, rowId: live!.rowId });
        tx.inlineInsert({ table, rows: [{ k: live!.values["k"] }] });
      });
    };
    const rows = await reader.recentRows({ table });
    expect(overtakes).toBeLessThan(0);
    expect(rows.map(({ rowId }) => rowId)).toEqual([2n, 3n]);
    expect(await reader.indexLookupMany({ index, keys: [[1n], [2n]] })).toEqual([2n, 3n]);
  });

  it("gives up a read that is overtaken again and again with an error that can be retried", async () => {
    const { lake, table } = await openLake();
    const { reader, watched } = await openReader(lake);
    let reads = 0;
    watched.beforeScan = async () => {
      reads += 1;
      await lake.insert(table, { k: BigInt(reads) });
    };
    const failure = await failureOf(reader.recentRows({ table }));
    expect([failure.code, failure.retryable]).toEqual(["store_unavailable", true]);
    expect(reads).toBeGreaterThanOrEqual(8);
    watched.beforeScan = undefined;
    expect((await reader.recentRows({ table })).length).toBe(reads);
  });

  it("does not report the failure of a read that was overtaken, and does report one that was not", async () => {
    const { lake, table } = await openLake();
    const index = await lake.index(table, ["k"]);
    await lake.insert(table, { k: 1n });
    const { reader, watched } = await openReader(lake);
    let once = true;
    watched.beforeScan = async () => {
      if (!once) return;
      once = false;
      await lake.insert(table, { k: 2n });
      throw new Error("a table of the store was gone");
    };
    expect(await reader.indexRange({ index })).toEqual([0n, 1n]);
    watched.beforeScan = async () => {
      throw new Error("a table of the store is gone");
    };
    await expect(reader.indexRange({ index })).rejects.toThrow("is gone");
  });

  it("answers reads that come while it follows from the newer state, never from the one that it leaves behind", async () => {
    const { lake, table } = await openLake();
    const { reader, watched } = await openReader(lake);
    await lake.commit((tx) => tx.createSchema({ name: "first" }));
    const gate = new Gate();
    let gets = 0;
    watched.beforeGet = async () => {
      gets += 1;
      // The last look at the head, when following is as good as done.
      if (gets === 7) await gate.pass();
    };
    const early = reader.snapshot();
    await Promise.race([gate.reached, early]);
    watched.beforeGet = undefined;
    await lake.commit((tx) => tx.createSchema({ name: "second" }));
    const late = reader.snapshot();
    gate.open();
    expect((await late).schemaByName("second")).toBeDefined();
    await early;
    expect((await reader.snapshot()).tableById(table)).toBeDefined();
  });

  it("refuses to read on once a migration has begun", async () => {
    const { lake, table } = await openLake();
    const { reader } = await openReader(lake);
    const batch = new BatchBuilder();
    batch.put(sysMigrationKey, Uint8Array.of(1));
    await lake.store.inner.write(batch.finish());
    await lake.insert(table, { k: 1n });
    expect((await failureOf(reader.snapshot())).code).toBe("migration_required");
    expect((await failureOf(reader.recentRows({ table }))).code).toBe("migration_required");
  });

  it("fails with closed after it was closed, and closing twice is harmless", async () => {
    const { lake, table } = await openLake();
    const { reader } = await openReader(lake);
    await reader.close();
    await reader.close();
    expect((await failureOf(reader.snapshot())).code).toBe("closed");
    expect((await failureOf(reader.recentRows({ table }))).code).toBe("closed");
  });

  it("shows maintenance passes, and the past as the writer does", async () => {
    const { lake } = await openLake();
    const { reader } = await openReader(lake);
    for (let i = 1n; i <= 20n; i++) {
      await lake.catalog.recordMaintenancePass({
        startedAtMicros: i,
        trigger: "scheduled",
        steps: [{ step: "sweep", status: "ran", detail: `${i}` }],
      });
    }
    const passes = await reader.maintenanceStatus();
    expect(passes.map(({ startedAtMicros }) => startedAtMicros)).toEqual(
      Array.from({ length: 16 }, (_, i) => 20n - BigInt(i)),
    );
    expect(passes).toEqual(await lake.catalog.maintenanceStatus());
    expect((await reader.snapshotAt(0n as never)).schemas().length).toBe(1);
  });
});
