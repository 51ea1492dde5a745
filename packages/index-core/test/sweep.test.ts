import { ConfigurationError, CorruptionError, indexPrefix } from "@moraine/codec";
import { BatchBuilder, type WritableStore } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { findDeadIndexes, measureIndex, measureIndexes, sweepIndex } from "../src/index.js";
import {
  change,
  commit,
  CountingView,
  encodedEntries,
  keysOf,
  layout,
  numberedRows,
  storedEntries,
  withStore,
} from "./support.js";

const rows = [
  [[1n], 1],
  [[2n], 2],
  [[null], 3],
] as const;

/** Sweeps one index in steps, writing each; the number of deletes of each step. */
async function sweepAll(store: WritableStore, indexId: bigint, limit: number): Promise<number[]> {
  const counts: number[] = [];
  let resumeAt: Uint8Array | undefined;
  do {
    const step = await sweepIndex(store, indexId, limit, resumeAt);
    counts.push(step.dead.ends.length);
    const batch = new BatchBuilder();
    batch.deletePacked(step.dead);
    if (batch.count > 0) await store.write(batch.finish());
    resumeAt = step.resumeAt;
  } while (resumeAt !== undefined);
  return counts;
}

describe("sweepIndex", () => {
  it("deletes 2, then 1, then 0 of three entries with a limit of 2", async () => {
    await withStore(async (store) => {
      await commit(store, change(layout(5n, "unique", "int64"), { add: rows }));
      expect(await sweepAll(store, 5n, 2)).toEqual([2, 1]);
      expect(await sweepAll(store, 5n, 2)).toEqual([0]);
      expect(await storedEntries(store)).toEqual(new Map());
    });
  });

  it.each([1, 2, 3, 7, 100])(
    "resumes each step where the last one stopped (limit %d) and spares its neighbours",
    async (limit) => {
      await withStore(async (store) => {
        const spared = [layout(4n, "unique", "int64"), layout(6n, "unique", "int64")];
        for (const of of spared) await commit(store, change(of, { add: rows }));
        const of = layout(5n, "unique", "int64", "int64");
        const add = Array.from({ length: 20 }, (_, i) => [[BigInt(i), i % 2 === 0 ? null : 0n], i] as const);
        await commit(store, change(of, { add }));
        const counts = await sweepAll(store, 5n, limit);
        expect(counts.reduce((sum, n) => sum + n, 0)).toBe(20);
        expect(counts.slice(0, -1).every((n) => n === limit)).toBe(true);
        expect(await storedEntries(store)).toEqual(
          new Map(spared.flatMap((other) => encodedEntries(keysOf(other, rows)))),
        );
      });
    },
  );

  it("does not walk over what an earlier step deleted", async () => {
    await withStore(async (store) => {
      await commit(store, change(layout(5n, "multi", "int64"), { add: numberedRows(0, 30) }));
      const first = await sweepIndex(store, 5n, 10);
      const view = new CountingView(store);
      await sweepIndex(view, 5n, 10, first.resumeAt);
      expect(view.scans.map(({ rows: read }) => read)).toEqual([10]);
    });
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses a limit of %d", async (limit) => {
    await withStore(async (store) => {
      await expect(sweepIndex(store, 5n, limit)).rejects.toThrow(ConfigurationError);
    });
  });
});

describe("findDeadIndexes", () => {
  it("finds ids without a live definition among interleaved live ones, each once", async () => {
    await withStore(async (store) => {
      for (const id of [1n, 2n, 3n, 200n, 201n, 1n << 40n, (1n << 64n) - 1n]) {
        await commit(store, change(layout(id, "unique", "int64"), { add: rows }));
      }
      await commit(store, change(layout(77n, "multi", "int64"), { add: rows }));
      const live = new Set([2n, 200n, 1n << 40n]);
      expect(await findDeadIndexes(store, (id) => live.has(id))).toEqual([1n, 3n, 77n, 201n, (1n << 64n) - 1n]);
      expect(await findDeadIndexes(store, () => true)).toEqual([]);
    });
  });

  it("finds nothing in an empty store", async () => {
    await withStore(async (store) => {
      expect(await findDeadIndexes(store, () => false)).toEqual([]);
    });
  });

  it("reads one entry an index and shape, never on through a live index", async () => {
    await withStore(async (store) => {
      await commit(store, change(layout(1n, "unique", "int64"), { add: [...numberedRows(0, 5000), [[null], 9999]] }));
      await commit(store, change(layout(2n, "multi", "int64"), { add: numberedRows(0, 5000) }));
      const view = new CountingView(store);
      expect(await findDeadIndexes(view, (id) => id === 1n)).toEqual([2n]);
      expect(view.scans.map(({ rows: read }) => read)).toEqual([1, 0, 1, 1, 0]);
    });
  });

  it("finds each dead index of a dropped table, sweeps them once, and then nothing", async () => {
    await withStore(async (store) => {
      for (const id of [1n, 2n, 3n])
        await commit(store, change(layout(id, "multi", "int64"), { add: numberedRows(0, 25) }));
      const isLive = (id: bigint): boolean => id === 2n;
      for (const id of await findDeadIndexes(store, isLive)) await sweepAll(store, id, 10);
      expect(await findDeadIndexes(store, isLive)).toEqual([]);
      expect((await storedEntries(store)).size).toBe(25);
    });
  });

  it("reports a key too short for an index id as corruption", async () => {
    await withStore(async (store) => {
      const batch = new BatchBuilder();
      batch.put(indexPrefix("unique", 5n), new Uint8Array(8));
      await store.write(batch.finish());
      await expect(findDeadIndexes(store, () => true)).rejects.toThrow(CorruptionError);
      await expect(measureIndexes(store)).rejects.toThrow(CorruptionError);
    });
  });
});

describe("measureIndexes", () => {
  it("counts entries and bytes of each index by shape", async () => {
    await withStore(async (store) => {
      const first = layout(5n, "unique", "int64");
      const second = layout(6n, "multi", "int8");
      await commit(store, change(second, { add: [[[2n], 1]] }), change(first, { add: rows }));
      const bytesOf = (keys: ReturnType<typeof keysOf>): number => keys.ends[keys.count - 1]!;
      const expected = [
        { indexId: 5n, uniqueEntries: 2, multiEntries: 1, keyBytes: bytesOf(keysOf(first, rows)), valueBytes: 16 },
        {
          indexId: 6n,
          uniqueEntries: 0,
          multiEntries: 1,
          keyBytes: bytesOf(keysOf(second, [[[2n], 1]])),
          valueBytes: 0,
        },
      ];
      expect(await measureIndexes(store)).toEqual(expected);
      expect(await measureIndex(store, 5n)).toEqual(expected[0]);
      expect(await measureIndex(store, 9n)).toEqual({
        indexId: 9n,
        uniqueEntries: 0,
        multiEntries: 0,
        keyBytes: 0,
        valueBytes: 0,
      });
    });
  });
});
