import { type SchemaId, StoreError, StoreUnavailableError } from "@moraine/codec";
import { openStore } from "@moraine/store";
import { describe, expect, it, onTestFinished } from "vitest";
import { Catalog } from "../src/index.js";
import { failureOf, outcomeOf } from "./support/errors.js";
import { temporaryFolder } from "./support/folders.js";
import { Gate, turnOfTheLoop } from "./support/gate.js";
import { Lake } from "./support/lake.js";

/** A table with an index, and some rows that were acknowledged. */
async function openTable() {
  const lake = await Lake.open();
  const table = await lake.table("t", { k: "BIGINT" });
  const index = await lake.index(table, ["k"], { unique: true });
  await lake.insert(table, { k: 0n }, { k: 1n });
  return { lake, table, index };
}

/** The same behind a new handle, which has no filter yet and has to read for uniqueness. */
async function openUnfiltered() {
  const { lake: before, table, index } = await openTable();
  const lake = await before.reopen();
  // The schema of the table's inline rows is remembered from here on.
  await lake.insert(table, { k: null });
  return { lake, table, index };
}

async function reopen(lake: Lake): Promise<Catalog> {
  await lake.catalog.close();
  const catalog = await Catalog.open({ store: await openStore(lake.location) });
  onTestFinished(() => catalog.close());
  return catalog;
}

describe("a write that fails", () => {
  it.each([
    ["a typed error", new StoreUnavailableError("planned", { remedy: "Try again." }), "store_unavailable"],
    ["any other error", new Error("planned"), "store"],
  ])(
    "with %s reaches every commit that waits, ends the handle, and loses nothing acknowledged",
    async (_, error, code) => {
      const { lake, table, index } = await openTable();
      const gate = new Gate();
      lake.store.hooks.write = async () => {
        await gate.pass();
        throw error;
      };
      const closureGate = new Gate();
      const waiting = [
        outcomeOf(lake.insert(table, { k: 10n })),
        outcomeOf(lake.insert(table, { k: 11n })),
        // In its closure when the write fails.
        outcomeOf(
          lake.commit(async (tx) => {
            await closureGate.pass();
            return tx.inlineInsert({ table, rows: [{ k: 12n }] });
          }),
        ),
      ];
      await gate.reached;
      await closureGate.reached;
      // Staged behind the write.
      waiting.push(outcomeOf(lake.insert(table, { k: 13n })));
      await turnOfTheLoop();
      gate.open();
      closureGate.open();
      expect(await Promise.all(waiting)).toEqual([code, code, code, code]);
      expect(await outcomeOf(lake.insert(table, { k: 14n }))).toBe(code);
      expect(await outcomeOf(lake.catalog.maintain())).not.toBe("corruption");

      const again = await reopen(lake);
      expect((await again.recentRows({ table })).map(({ values }) => values["k"])).toEqual([0n, 1n]);
      expect(await again.indexRange({ index })).toEqual([0n, 1n]);
      // The ids that were never acknowledged are given out.
      expect((await again.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 10n }] }))).value).toBe(2n);
    },
  );

  it("whose outcome nobody knows may be there on reopening, whole: rows, entries and statistics", async () => {
    const { lake, table, index } = await openTable();
    lake.store.hooks.write = async (next) => {
      await next();
      throw new StoreError("the acknowledgement was lost", { remedy: "Open the store again." });
    };
    const outcomes = await Promise.all([
      outcomeOf(lake.insert(table, { k: 10n })),
      outcomeOf(lake.insert(table, { k: 11n })),
    ]);
    expect(outcomes).toEqual(["store", "store"]);
    const again = await reopen(lake);
    expect(await again.indexRange({ index })).toEqual([0n, 1n, 2n, 3n]);
    expect((await again.recentRows({ table })).map(({ values }) => values["k"])).toEqual([0n, 1n, 10n, 11n]);
    expect((await again.snapshot()).tableStats(table)).toMatchObject({ recordCount: 4n, nextRowId: 4n });
  });

  it("does not hang a commit whose closure ends in the same moment", async () => {
    const { lake, table } = await openTable();
    lake.store.hooks.write = async () => {
      throw new Error("planned");
    };
    const outcomes: Promise<string>[] = [];
    for (let i = 0; i < 30; i++) {
      outcomes.push(
        outcomeOf(
          lake.commit(async (tx) => {
            for (let wait = 0; wait < i; wait++) await Promise.resolve();
            return tx.inlineInsert({ table, rows: [{ k: BigInt(100 + i) }] });
          }),
        ),
      );
    }
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["store"]));
    await turnOfTheLoop();
    await lake.catalog.close();
  });
});

describe("a read that fails while a commit is prepared", () => {
  const unavailable = new StoreUnavailableError("planned", { remedy: "Try again." });

  it("of the check for duplicates reaches the commits of that batch, and the handle goes on", async () => {
    const { lake, table, index } = await openUnfiltered();
    let failing = true;
    lake.store.hooks.beforeGet = async () => {
      if (failing) throw unavailable;
    };
    const outcomes = await Promise.all([10n, 11n, 12n].map((k) => outcomeOf(lake.insert(table, { k }))));
    expect(outcomes).toEqual(["store_unavailable", "store_unavailable", "store_unavailable"]);
    failing = false;
    expect(await lake.insert(table, { k: 10n })).toBe(3n);
    expect(await lake.lookup(index, 10n)).toEqual([3n]);
    await lake.expectVerified(table);
  });

  it("does not take along commits that were staged behind it", async () => {
    const { lake, table } = await openUnfiltered();
    const gate = new Gate();
    let gets = 0;
    lake.store.hooks.beforeGet = async () => {
      gets += 1;
      if (gets > 1) return;
      await gate.pass();
      throw unavailable;
    };
    const first = outcomeOf(lake.insert(table, { k: 10n }));
    await gate.reached;
    const second = lake.insert(table, { k: 11n });
    gate.open();
    expect(await first).toBe("store_unavailable");
    expect(await second).toBe(3n);
    await lake.expectVerified(table);
  });

  it("of rows to be deleted reaches that commit alone", async () => {
    const { lake, table } = await openTable();
    let failing = true;
    lake.store.hooks.beforeScan = async () => {
      if (failing) throw unavailable;
    };
    expect(await outcomeOf(lake.delete(table, 0n))).toBe("store_unavailable");
    expect(await lake.insert(table, { k: 10n })).toBe(2n);
    failing = false;
    await lake.delete(table, 0n);
    await lake.expectVerified(table);
  });
});

describe("a store that opens itself again after the process stood still", () => {
  it("lets reads and commits go on, and a scope that was open says that it is over", async () => {
    let now = 1_000_000_000;
    const location = temporaryFolder();
    const catalog = await Catalog.open({ store: await openStore(location, { now: () => now }) });
    onTestFinished(() => catalog.close());
    const { value: table } = await catalog.commit((tx) =>
      tx.createTable({ schema: 0n as SchemaId, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] }),
    );
    const { value: index } = await catalog.commit((tx) =>
      tx.createIndex({ table, name: "t_k", columns: ["k"], unique: true }),
    );
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 1n }] }));
    expect(await catalog.indexLookup({ index, key: [1n] })).toEqual([0n]);
    for (let round = 2n; round < 5n; round++) {
      using scope = await catalog.reads();
      now += 40 * 60_000;
      await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k: round }] }));
      expect((await failureOf(scope.indexLookup({ index, key: [1n] }))).code).toBe("closed");
      now += 40 * 60_000;
      // Nothing is committed in between: a read alone has to get over it.
      expect(await catalog.indexRange({ index })).toEqual(Array.from({ length: Number(round) }, (_, i) => BigInt(i)));
      expect((await catalog.recentRows({ table })).length).toBe(Number(round));
    }
  });
});

describe("closing", () => {
  it("lets what was committed land first, and a handle that opens then finds it", async () => {
    const { lake, table, index } = await openTable();
    const gate = new Gate();
    lake.store.hooks.write = async (next) => {
      await gate.pass();
      return await next();
    };
    const commits = Array.from({ length: 10 }, (_, i) => lake.insert(table, { k: BigInt(10 + i) }));
    await gate.reached;
    commits.push(...Array.from({ length: 10 }, (_, i) => lake.insert(table, { k: BigInt(30 + i) })));
    let closed = false;
    const closing = lake.catalog.close().then(() => {
      closed = true;
    });
    await turnOfTheLoop();
    expect(closed).toBe(false);
    expect(await outcomeOf(lake.insert(table, { k: 50n }))).toBe("closed");
    gate.open();
    expect(await Promise.all(commits)).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i + 2)));
    await closing;
    const again = await reopen(lake);
    expect((await again.indexRange({ index })).length).toBe(22);
  });

  it("does not wait for a closure that never ends; its commit fails with closed", async () => {
    const { lake, table } = await openTable();
    const gate = new Gate();
    const stuck = outcomeOf(
      lake.commit(async (tx) => {
        await gate.pass();
        return tx.inlineInsert({ table, rows: [{ k: 10n }] });
      }),
    );
    await gate.reached;
    await lake.catalog.close();
    gate.open();
    expect(await stuck).toBe("closed");
  });

  it("twice is harmless, and everything after it fails with closed", async () => {
    const { lake, table, index } = await openTable();
    const scope = await lake.catalog.reads();
    await Promise.all([lake.catalog.close(), lake.catalog.close()]);
    await lake.catalog.close();
    const calls: (() => Promise<unknown>)[] = [
      () => lake.catalog.commit(() => 1),
      () => lake.catalog.commitGroup([]),
      () => lake.catalog.snapshot(),
      () => lake.catalog.snapshotAt(0n as never),
      () => lake.catalog.reads(),
      () => lake.catalog.recentRows({ table }),
      () => lake.catalog.indexLookup({ index, key: [1n] }),
      () => lake.catalog.flushInlined({ table }),
      () => lake.catalog.maintain(),
      () => lake.catalog.reclaimIndexEntries({ index, limit: 1 }),
      () => lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "t", steps: [] }),
      () => lake.catalog.maintenanceStatus(),
      () => scope.indexLookup({ index, key: [1n] }),
    ];
    for (const call of calls) expect((await failureOf(call)).code).toBe("closed");
    scope.release();
    scope.release();
  });
});
