import type { IndexId } from "@moraine/codec";
import { openStore, openStoreReader } from "@moraine/store";
import { describe, expect, it, onTestFinished } from "vitest";
import { Catalog, ReadOnlyCatalog } from "../../src/index.js";
import { failureOf, outcomeOf } from "../support/errors.js";
import { temporaryFolder } from "../support/folders.js";
import { Gate } from "../support/gate.js";
import { HookedStore } from "../support/hooked-store.js";
import { Lake } from "../support/lake.js";

describe("uniqueness across writers", () => {
  it("S14 a deleted value can be inserted again while a reader that began earlier still sees the old row", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const first = await lake.insert(table, { k: 1n }, { k: 2n });
    using reader = await lake.catalog.reads();
    await lake.delete(table, first + 1n);
    const again = await lake.insert(table, { k: 2n });
    expect(await reader.indexLookup({ index: unique, key: [2n] })).toEqual([first + 1n]);
    expect((await reader.recentRows({ table })).map(({ rowId }) => rowId)).toEqual([0n, 1n]);
    expect(await lake.lookup(unique, 2n)).toEqual([again]);
    await lake.expectVerified(table);
  });

  it("S15 of two commits that each delete nothing and insert one key, one lands and the other is refused", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { id: "BIGINT" });
    const unique = await lake.index(table, ["id"], { unique: true });
    const replaceSeven = (): Promise<unknown> =>
      lake.commit(async (tx) => {
        for (const rowId of await lake.lookup(unique, 7n)) tx.inlineDelete({ table, rowId });
        return tx.inlineInsert({ table, rows: [{ id: 7n }] });
      });
    const outcomes = await Promise.all([outcomeOf(replaceSeven()), outcomeOf(replaceSeven())]);
    expect(outcomes.sort()).toEqual(["constraint", "landed"]);
    expect(await lake.column(table, "id")).toEqual([7n]);
    // Repeated on what is there now it is an update, and lands.
    await replaceSeven();
    expect(await lake.column(table, "id")).toEqual([7n]);
    await lake.expectVerified(table);
  });

  it("S15 of two replacements of one row that began on one snapshot, one lands and the other gets a conflict", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { id: "BIGINT" });
    const unique = await lake.index(table, ["id"], { unique: true });
    const row = await lake.insert(table, { id: 7n });
    const gate = new Gate();
    const late = lake.commit(async (tx) => {
      const [found] = await lake.lookup(unique, 7n);
      await gate.pass();
      tx.inlineDelete({ table, rowId: found! });
      return tx.inlineInsert({ table, rows: [{ id: 7n }] });
    });
    const outcome = outcomeOf(late);
    await gate.reached;
    await lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: row });
      return tx.inlineInsert({ table, rows: [{ id: 7n }] });
    });
    gate.open();
    expect(await outcome).toBe("commit_conflict");
    expect(await lake.column(table, "id")).toEqual([7n]);
    await lake.expectVerified(table);
  });

  async function missingKeys(lake: Lake, look: IndexId, keys: readonly bigint[]): Promise<bigint[]> {
    const missing: bigint[] = [];
    for (const key of keys) if ((await lake.lookup(look, key)).length === 0) missing.push(key);
    return missing;
  }
  /** Five writers that each merge ten of the keys 0..19, as a caller does it: what is there is left, the rest is inserted. */
  const ranges = Array.from({ length: 5 }, (_, writer) =>
    Array.from({ length: 10 }, (__, i) => BigInt((writer * 4 + i) % 20)),
  );

  it("S16 five writers that merge overlapping keys leave every key once, and each ends in success or a typed refusal", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const repeated: string[][] = [];
    await Promise.all(
      ranges.map(async (keys) => {
        const merge = (): Promise<unknown> =>
          lake.commit(async (tx) => {
            const missing = await missingKeys(lake, unique, keys);
            if (missing.length > 0) tx.inlineInsert({ table, rows: missing.map((k) => ({ k })) });
          });
        const outcomes: string[] = [];
        do outcomes.push(await outcomeOf(merge()));
        while (outcomes.at(-1) !== "landed" && outcomes.length < 20);
        repeated.push(outcomes);
      }),
    );
    for (const outcomes of repeated) {
      expect(outcomes.at(-1)).toBe("landed");
      expect(
        outcomes.slice(0, -1).filter((outcome) => outcome !== "constraint" && outcome !== "commit_conflict"),
      ).toEqual([]);
    }
    const keys = (await lake.column(table, "k")) as bigint[];
    expect(keys.sort((a, b) => Number(a - b))).toEqual(Array.from({ length: 20 }, (_, k) => BigInt(k)));
    await lake.expectVerified(table);
  });

  it("S16 without an index that refuses duplicates the same writers leave duplicates and no error", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const multi = await lake.index(table, ["k"]);
    // Everybody has looked before anybody writes, and nobody looks again.
    const missing = await Promise.all(ranges.map((keys) => missingKeys(lake, multi, keys)));
    const outcomes = missing.map((keys) =>
      outcomeOf(lake.commit((tx) => tx.inlineInsert({ table, rows: keys.map((k) => ({ k })) }))),
    );
    expect(await Promise.all(outcomes)).toEqual(ranges.map(() => "landed"));
    expect((await lake.column(table, "k")).length).toBe(50);
    await lake.expectVerified(table);
  });

  it("S19 rows inserted while a flush runs are there exactly once, and so are their entries", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    let next = 0n;
    const insert = async (): Promise<void> => {
      const k = next++;
      await lake.insert(table, { k });
    };
    for (let i = 0; i < 10; i++) await insert();
    let flushed = 0;
    for (let round = 0; round < 5; round++) {
      const [{ rowCount }] = await Promise.all([
        lake.catalog.flushInlined({ table }),
        ...Array.from({ length: 8 }, insert),
      ]);
      flushed += rowCount;
    }
    expect(flushed).toBeGreaterThanOrEqual(10);
    const rows = await lake.scan(table);
    expect(rows.map(({ rowId }) => rowId)).toEqual(Array.from({ length: 50 }, (_, i) => BigInt(i)));
    expect((await lake.catalog.indexRange({ index: unique })).length).toBe(50);
    await lake.expectVerified(table);
  });

  it("S21 a commit that loses its race takes its ids anew: row, file, snapshot and index ids, and entries under the final row ids", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const file = await lake.writeFile(table, [{ k: 10n }, { k: 11n }]);
    const gate = new Gate();
    const seen: { readonly file: bigint; readonly row: bigint }[] = [];
    const late = lake.catalog.commit(async (tx) => {
      const { dataFileId, rowIdStart } = tx.registerDataFile({ table, file, entries: "scoped-read" });
      seen.push({ file: dataFileId, row: rowIdStart });
      await gate.pass();
      return dataFileId;
    });
    await gate.reached;
    const winner = await lake.register(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    gate.open();
    const { value, snapshotId } = await late;
    expect(seen).toEqual([
      { file: winner.dataFileId, row: 0n },
      { file: winner.dataFileId + 1n, row: 3n },
    ]);
    const snapshot = await lake.catalog.snapshot();
    expect(snapshot.currentSnapshot.id).toBe(snapshotId);
    expect(
      snapshot.dataFilesOf(table).map(({ id, rowIdStart, beginSnapshot }) => [id, rowIdStart, beginSnapshot]),
    ).toEqual([
      [winner.dataFileId, 0n, snapshotId - 1n],
      [value, 3n, snapshotId],
    ]);
    expect(await lake.lookup(unique, 10n)).toEqual([3n]);
    expect(await lake.lookup(unique, 11n)).toEqual([4n]);
    await lake.expectVerified(table);
  });

  it("S21 two indexes that are created at once get ids of their own", async () => {
    const lake = await Lake.open();
    const left = await lake.table("left", { k: "BIGINT" });
    const right = await lake.table("right", { k: "BIGINT" });
    const gate = new Gate();
    const slow = lake.commit(async (tx) => {
      const id = tx.createIndex({ table: left, name: "left_k", columns: ["k"], unique: true });
      await gate.pass();
      return id;
    });
    await gate.reached;
    const quick = await lake.index(right, ["k"], { unique: true, name: "right_k" });
    gate.open();
    expect(await slow).toBe(quick + 1n);
    await lake.insert(left, { k: 1n });
    await lake.insert(right, { k: 1n });
    expect(await lake.lookup(await slow, 1n)).toEqual([0n]);
    await lake.expectVerified(left);
    await lake.expectVerified(right);
  });
});

describe("a second writer", () => {
  it.each(["memory", "file"])(
    "S20 a writer that stalls in a write and is displaced gets a terminal error, and nothing acknowledged is missing (%s)",
    async (kind) => {
      const location = kind === "memory" ? `memory://displaced-${process.pid}` : temporaryFolder();
      const first = new HookedStore(await openStore(location));
      const old = await Catalog.open({ store: first });
      onTestFinished(() => old.close().catch(() => undefined));
      const { value: table } = await old.commit((tx) =>
        tx.createTable({ schema: 0n as never, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] }),
      );
      const { value: index } = await old.commit((tx) =>
        tx.createIndex({ table, name: "t_k", columns: ["k"], unique: true }),
      );
      await old.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 1n }] }));

      const gate = new Gate();
      first.hooks.write = async (next) => {
        await gate.pass();
        return await next();
      };
      const stalled = outcomeOf(old.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 2n }] })));
      await gate.reached;

      const second = await openStore(location);
      const heir = await Catalog.open({ store: second });
      onTestFinished(() => heir.close());
      await heir.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 3n }] }));
      await second.checkpointMemory();
      gate.open();

      expect(await stalled).toBe("fenced");
      expect((await failureOf(old.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 4n }] })))).code).toBe("fenced");
      expect(await heir.indexLookupMany({ index, keys: [[1n], [2n], [3n], [4n]] })).toEqual([0n, 1n]);
      await heir.close();
      const reopened = await Catalog.open({ store: await openStore(location) });
      onTestFinished(() => reopened.close());
      expect((await reopened.recentRows({ table })).map(({ values }) => values["k"])).toEqual([1n, 3n]);
      expect(await reopened.indexRange({ index })).toEqual([0n, 1n]);
    },
  );

  it("S66 a second handle in the process displaces the first with a clear error, and readers go on with right answers", async () => {
    const location = temporaryFolder();
    const first = await Catalog.open({ store: await openStore(location) });
    onTestFinished(() => first.close().catch(() => undefined));
    const { value: table } = await first.commit((tx) =>
      tx.createTable({ schema: 0n as never, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] }),
    );
    const { value: index } = await first.commit((tx) =>
      tx.createIndex({ table, name: "t_k", columns: ["k"], unique: true }),
    );
    await first.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 1n }, { k: 2n }] }));
    const reader = await ReadOnlyCatalog.open({ store: await openStoreReader(location, { pollIntervalMs: 20 }) });
    onTestFinished(() => reader.close());
    expect(await reader.indexLookup({ index, key: [2n] })).toEqual([1n]);

    const second = await Catalog.open({ store: await openStore(location) });
    onTestFinished(() => second.close());
    expect(await second.indexLookup({ index, key: [2n] })).toEqual([1n]);
    const failure = await failureOf(first.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 3n }] })));
    expect(failure.code).toBe("fenced");
    expect(failure.remedy).toMatch(/open/iu);
    expect(await reader.indexLookup({ index, key: [2n] })).toEqual([1n]);

    const { snapshotId } = await second.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 3n }] }));
    await expect
      .poll(async () => (await reader.snapshot()).currentSnapshot.id, { timeout: 20_000, interval: 20 })
      .toBe(snapshotId);
    expect(await reader.indexLookup({ index, key: [3n] })).toEqual([2n]);
    // What the first one answers from here on, if anything, is what it had when it was displaced.
    const late = await first.indexLookup({ index, key: [2n] }).catch((error: unknown) => error);
    expect(late).toSatisfy((answer) =>
      Array.isArray(answer) ? answer[0] === 1n : (answer as { code?: string }).code === "fenced",
    );
  });
});
