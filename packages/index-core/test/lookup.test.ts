import { CorruptionError, equalityPrefixes, InvalidArgumentError } from "@moraine/codec";
import { BatchBuilder, type PackedKeys } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { lookup, lookupMany, type LookupReport } from "../src/index.js";
import { manyLookupKeys, manyLookupProbeKeys } from "../src/limits.js";
import { change, commit, CountingView, keysOf, layout, numberedRows, withStore } from "./support.js";

const u = layout(7n, "unique", "int64");
const m = layout(8n, "multi", "int64");
const pair = layout(9n, "unique", "string", "int64");

const emptyReport = (): LookupReport => ({ requested: 0, distinct: 0, hits: 0, misses: 0, peakInFlight: 0 });

describe("lookup", () => {
  it("resolves a value of a unique index to its row, or to none, with one read of one key", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[10n], 0],
            [[20n], 1],
            [[30n], 2],
          ],
        }),
      );
      const view = new CountingView(store);
      expect([...(await lookup(view, u, [20n]))]).toEqual([1n]);
      expect([...(await lookup(view, u, [99n]))]).toEqual([]);
      expect([view.windows, view.scans]).toEqual([[1, 1], []]);
    });
  });

  it("returns all rows of a value of a non-unique index, ascending", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(m, {
          add: [
            [[10n], 2],
            [[20n], 1],
            [[10n], 0],
            [[10n], 1n << 63n],
            [[11n], 5],
          ],
        }),
      );
      expect([...(await lookup(store, m, [10n]))]).toEqual([0n, 2n, 1n << 63n]);
      expect([...(await lookup(store, m, [12n]))]).toEqual([]);
    });
  });

  it("finds composite keys of mixed types and keeps neighbours apart (S62)", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(pair, {
          add: [
            [["ab", 1n], 1],
            [["a", 1n], 2],
            [["a\0", 1n], 3],
            [["", -1n], 4],
          ],
        }),
      );
      for (const [values, row] of [
        [["ab", 1n], 1n],
        [["a", 1n], 2n],
        [["a\0", 1n], 3n],
        [["", -1n], 4n],
      ] as const) {
        expect([...(await lookup(store, pair, values))]).toEqual([row]);
      }
      expect([...(await lookup(store, pair, ["b", 1n]))]).toEqual([]);
    });
  });

  it("finds zero by either sign and NaN by any payload (S68, S69)", async () => {
    await withStore(async (store) => {
      const floats = layout(10n, "multi", "float64");
      await commit(
        store,
        change(floats, {
          add: [
            [[0], 1],
            [[-0], 2],
            [[Number.NaN], 3],
          ],
        }),
      );
      expect([...(await lookup(store, floats, [-0]))]).toEqual([1n, 2n]);
      const negativeNaN = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0001n]).buffer)[0]!;
      expect([...(await lookup(store, floats, [negativeNaN]))]).toEqual([3n]);
    });
  });

  it("refuses a key with the wrong number of values or with a NULL, for which it names the NULL lookup", async () => {
    await withStore(async (store) => {
      for (const values of [[], ["a"], ["a", 1n, 2n]]) {
        await expect(lookup(store, pair, values)).rejects.toThrow(InvalidArgumentError);
      }
      const refused = await lookup(store, pair, ["a", null]).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(InvalidArgumentError);
      expect((refused as InvalidArgumentError).remedy).toMatch(/NULL lookup/);
    });
  });

  it("reports entries that are not row ids as corruption", async () => {
    await withStore(async (store) => {
      const single = keysOf(u, [[[1n], 1]]);
      const rows = keysOf(m, [[[1n], 1]]);
      const batch = new BatchBuilder();
      batch.put(single.data.slice(0, single.ends[0]), new Uint8Array(7));
      batch.put(rows.data.slice(0, rows.ends[0]), new Uint8Array(1));
      await store.write(batch.finish());
      await expect(lookup(store, u, [1n])).rejects.toThrow(CorruptionError);
      await expect(lookup(store, m, [1n])).rejects.toThrow(CorruptionError);
      await expect(lookupMany(store, m, equalityPrefixes(m, [[1n]]))).rejects.toThrow(CorruptionError);
    });
  });
});

describe("lookupMany", () => {
  it("returns the union of distinct keys, ascending, each probed once", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[10n], 1],
            [[20n], 0],
          ],
        }),
      );
      const report = emptyReport();
      const view = new CountingView(store);
      const found = await lookupMany(view, u, equalityPrefixes(u, [[20n], [10n], [20n], [99n]]), report);
      expect([...found]).toEqual([0n, 1n]);
      expect(report).toEqual({ requested: 4, distinct: 3, hits: 2, misses: 1, peakInFlight: 3 });
      expect(view.windows).toEqual([3]);
    });
  });

  it("asks for very many keys in larger windows, and finds each", { timeout: 60_000 }, async () => {
    await withStore(async (store) => {
      const count = manyLookupKeys + 1;
      await commit(store, change(u, { add: Array.from({ length: count }, (_, i) => [[BigInt(i * 2)], i]) }));
      const view = new CountingView(store);
      const keys = Array.from({ length: count * 2 }, (_, i) => [BigInt(i)]);
      const found = await lookupMany(view, u, equalityPrefixes(u, keys));
      expect([...found]).toEqual(Array.from({ length: count }, (_, i) => BigInt(i)));
      expect(Math.max(...view.windows)).toBe(manyLookupProbeKeys);
      expect(view.windows.reduce((sum, window) => sum + window, 0)).toBe(count * 2);
    });
  });

  it("accepts no keys, and leaves out keys with a NULL", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(pair, {
          add: [
            [["a", null], 1],
            [["a", 1n], 2],
          ],
        }),
      );
      const view = new CountingView(store);
      expect([...(await lookupMany(view, pair, equalityPrefixes(pair, [])))]).toEqual([]);
      expect(view.windows).toEqual([]);
      expect([
        ...(await lookupMany(
          view,
          pair,
          equalityPrefixes(pair, [
            ["a", null],
            ["a", 1n],
          ]),
        )),
      ]).toEqual([2n]);
      expect(() => equalityPrefixes(pair, [["a", 1n], [null]])).toThrow(InvalidArgumentError);
      expect(() => equalityPrefixes(pair, [[1n, 1n]])).toThrow(InvalidArgumentError);
    });
  });

  it("asks for 512 at once, in parts: 601 requested, 600 distinct and absent", async () => {
    await withStore(async (store) => {
      const keys = Array.from({ length: 601 }, (_, i) => [BigInt(i % 600)]);
      const report = emptyReport();
      const view = new CountingView(store);
      expect((await lookupMany(view, u, equalityPrefixes(u, keys), report)).length).toBe(0);
      expect(report).toEqual({ requested: 601, distinct: 600, hits: 0, misses: 600, peakInFlight: 512 });
      expect(view.windows).toEqual([128, 128, 128, 128, 88]);
      expect(view.peakInFlight).toBe(4);
    });
  });

  it("asks for nothing more once a part has failed, and settles the others first", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      let asked = 0;
      const failing = {
        getMany: (keys: PackedKeys) => (++asked === 2 ? Promise.reject(new Error("cut off")) : view.getMany(keys)),
        scan: view.scan.bind(view),
      };
      const keys = Array.from({ length: 5000 }, (_, i) => [BigInt(i)]);
      await expect(lookupMany(failing, u, equalityPrefixes(u, keys))).rejects.toThrow("cut off");
      expect(asked).toBe(4);
      expect(view.inFlight).toBe(0);
    });
  });

  it("scans the keys of a non-unique index, at most 32 at a time, and drops repeated rows", async () => {
    await withStore(async (store) => {
      const rows = [...numberedRows(0, 200), ...numberedRows(0, 200, (value) => value + 1)];
      await commit(store, change(m, { add: rows }));
      const keys = Array.from({ length: 150 }, (_, i) => [BigInt(i)]);
      const report = emptyReport();
      const view = new CountingView(store);
      const found = await lookupMany(view, m, equalityPrefixes(m, [...keys, [1000n]]), report);
      expect([...found]).toEqual(Array.from({ length: 151 }, (_, i) => BigInt(i)));
      expect(report).toEqual({ requested: 151, distinct: 151, hits: 150, misses: 1, peakInFlight: 32 });
      expect(view.peakInFlight).toBe(32);
    });
  });

  it.each([
    ["close together", 1, 3_000],
    ["with a few rows of other keys between them", 7, 3_000],
    ["far from each other", 40, 700],
    ["close together and then far from each other", 0, 1_500],
  ])("finds the rows of many keys of a non-unique index that lie %s", async (_, step, count) => {
    await withStore(async (store) => {
      const rows = [...Array(30_000).keys()].map((row): [bigint[], number] => [[BigInt(row >> 1)], row]);
      await commit(store, change(m, { add: rows }));
      const valueAt = (i: number): number => (step > 0 ? i * step : i < 700 ? i : 700 + (i - 700) * 50);
      const values = [...Array(count).keys()].map(valueAt);
      const keys = values.map((value) => [BigInt(value)]).toReversed();
      const report = emptyReport();
      const view = new CountingView(store);
      const found = await lookupMany(view, m, equalityPrefixes(m, [...keys, ...keys.slice(0, 5)]), report);
      const present = values.filter((value) => value < 15_000);
      expect([...found]).toEqual(present.flatMap((value) => [BigInt(2 * value), BigInt(2 * value + 1)]));
      expect(report).toMatchObject({ distinct: count, hits: present.length, misses: count - present.length });
      expect(view.inFlight).toBe(0);
      if (step === 1) expect(view.scans.length).toBeLessThan(count / 4);
    });
  });

  it("stops starting scans once one has failed, and settles the others first", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      let asked = 0;
      const failing = {
        getMany: view.getMany.bind(view),
        async *scan(...args: Parameters<CountingView["scan"]>) {
          if (++asked === 3) throw new Error("cut off");
          yield* view.scan(...args);
        },
      };
      const keys = Array.from({ length: 200 }, (_, i) => [BigInt(i)]);
      await expect(lookupMany(failing, m, equalityPrefixes(m, keys))).rejects.toThrow("cut off");
      expect(asked).toBeLessThan(70);
      expect(view.inFlight).toBe(0);
    });
  });
});
