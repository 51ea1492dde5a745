import { CorruptionError, InvalidArgumentError } from "@moraine/codec";
import { BatchBuilder } from "@moraine/store";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstProvisionalRowId, verifyIndex } from "../src/index.js";
import { change, commit, type IndexedRow, keysOf, layout, numberedRows, withStore } from "./support.js";

const u = layout(7n, "unique", "int64");
const m = layout(8n, "multi", "int64");
const clean = (count: number) => ({ stored: count, expected: count, missing: 0, dead: 0, mismatched: 0 });

describe("verifyIndex", () => {
  it("compares how many rows an entry stands for, where several may have one row id", async () => {
    await withStore(async (store) => {
      const twice = firstProvisionalRowId + 5n;
      await commit(store, change(m, { add: [[[1n], twice]] }));
      await commit(store, change(m, { add: [[[1n], twice]] }));
      const rows = (times: number): IndexedRow[] => Array.from({ length: times }, () => [[1n], twice]);
      expect(await verifyIndex(store, m, [keysOf(m, rows(2))])).toEqual(clean(1));
      expect(await verifyIndex(store, m, [keysOf(m, rows(1)), keysOf(m, rows(1))])).toEqual(clean(1));
      for (const times of [1, 3])
        expect(await verifyIndex(store, m, [keysOf(m, rows(times))])).toEqual({ ...clean(1), mismatched: 1 });
      await commit(store, change(m, { remove: rows(1) }));
      expect(await verifyIndex(store, m, [keysOf(m, rows(1))])).toEqual(clean(1));
      await commit(store, change(m, { remove: rows(1) }));
      expect(await verifyIndex(store, m, [])).toEqual(clean(0));
    });
  });

  it("agrees with the rows it was built from, in any number of lists and order", async () => {
    await withStore(async (store) => {
      const rows: IndexedRow[] = [...numberedRows(0, 500), [[null], 900], [[null], 901]];
      await commit(store, change(u, { add: rows }), change(m, { add: rows }));
      const lists = [keysOf(u, rows.slice(300).toReversed()), keysOf(u, []), keysOf(u, rows.slice(0, 300))];
      expect(await verifyIndex(store, u, lists)).toEqual(clean(502));
      async function* later() {
        yield keysOf(m, rows.slice(0, 10));
        await Promise.resolve();
        yield keysOf(m, rows.slice(10));
      }
      expect(await verifyIndex(store, m, later())).toEqual(clean(502));
      expect(await verifyIndex(store, layout(99n, "unique", "int64"), [])).toEqual(clean(0));
    });
  });

  it("counts missing, dead and mismatched entries apart", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[1n], 1],
            [[2n], 2],
            [[3n], 3],
            [[null], 4],
          ],
        }),
      );
      const required = keysOf(u, [
        [[1n], 1],
        [[2n], 22],
        [[5n], 5],
        [[null], 6],
      ]);
      expect(await verifyIndex(store, u, [required])).toEqual({
        stored: 4,
        expected: 4,
        missing: 2,
        dead: 2,
        mismatched: 1,
      });
      await commit(
        store,
        change(m, {
          add: [
            [[1n], 1],
            [[1n], 2],
          ],
        }),
      );
      expect(
        await verifyIndex(store, m, [
          keysOf(m, [
            [[1n], 2],
            [[1n], 3],
          ]),
        ]),
      ).toEqual({
        stored: 2,
        expected: 2,
        missing: 1,
        dead: 1,
        mismatched: 0,
      });
    });
  });

  it("counts an entry that is given twice once, and two rows of one value apart", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[1n], 1]] }));
      const twice = keysOf(u, [
        [[1n], 1],
        [[1n], 1],
        [[2n], 2],
        [[2n], 2],
      ]);
      expect(await verifyIndex(store, u, [twice])).toMatchObject({ expected: 2, missing: 1, dead: 0 });
      for (const rows of [
        [1, 9, 9, 1],
        [9, 1, 9],
      ]) {
        const claimed = keysOf(
          u,
          rows.map((rowId): IndexedRow => [[1n], rowId]),
        );
        expect(await verifyIndex(store, u, [claimed])).toEqual({
          stored: 1,
          expected: 2,
          missing: 0,
          dead: 0,
          mismatched: 1,
        });
      }
      const absent = keysOf(u, [
        [[1n], 1],
        [[3n], 3],
        [[3n], 4],
        [[3n], 4],
      ]);
      expect(await verifyIndex(store, u, [absent])).toMatchObject({ expected: 3, missing: 2, mismatched: 0 });
    });
  });

  it("counts entries of the wrong shape as dead", async () => {
    await withStore(async (store) => {
      const asUnique = layout(8n, "unique", "int64");
      await commit(store, change(asUnique, { add: [[[1n], 1]] }));
      expect(await verifyIndex(store, m, [keysOf(m, [[[1n], 1]])])).toEqual({
        stored: 1,
        expected: 1,
        missing: 1,
        dead: 1,
        mismatched: 0,
      });
    });
  });

  it("refuses expected entries of another index, and reports damaged entries", async () => {
    await withStore(async (store) => {
      await expect(verifyIndex(store, u, [keysOf(m, [[[1n], 1]])])).rejects.toThrow(InvalidArgumentError);
      const keys = keysOf(u, [[[1n], 1]]);
      const batch = new BatchBuilder();
      batch.put(keys.data.slice(0, keys.ends[0]), Uint8Array.of(1));
      await store.write(batch.finish());
      await expect(verifyIndex(store, u, [])).rejects.toThrow(CorruptionError);
    });
  });

  it("counts set differences for random stored and required rows", async () => {
    await withStore(async (store) => {
      const value = fc.option(fc.integer({ min: 0, max: 6 }), { freq: 4 });
      const row = fc.tuple(value, fc.integer({ min: 0, max: 3 }));
      let id = 100n;
      await fc.assert(
        fc.asyncProperty(
          fc.boolean(),
          fc.array(row, { maxLength: 12 }),
          fc.array(row, { maxLength: 12 }),
          async (unique, stored, required) => {
            const of = layout(id++, unique ? "unique" : "multi", "int64");
            const oneRowAValue = (rows: readonly (readonly [number | null, number])[]): [number | null, number][] => {
              const byKey = new Map(
                rows.map(([a, b]) => [unique && a !== null ? `${a}` : `${a},${b}`, [a, b] as [number | null, number]]),
              );
              return [...byKey.values()];
            };
            const toRows = (rows: [number | null, number][]): IndexedRow[] =>
              rows.map(([a, b]) => [[a === null ? null : BigInt(a)], b]);
            const [have, want] = [oneRowAValue(stored), oneRowAValue(required)];
            await commit(store, change(of, { add: toRows(have) }));
            const same =
              ([a, b]: [number | null, number]) =>
              (other: [number | null, number]) =>
                other[0] === a && other[1] === b;
            const sameKey = (entry: [number | null, number]) => (other: [number | null, number]) =>
              unique && entry[0] !== null ? other[0] === entry[0] : same(entry)(other);
            const expected = {
              stored: have.length,
              expected: want.length,
              missing: want.filter((entry) => !have.some(sameKey(entry))).length,
              dead: have.filter((entry) => !want.some(sameKey(entry))).length,
              mismatched: want.filter((entry) => have.some(sameKey(entry)) && !have.some(same(entry))).length,
            };
            expect(await verifyIndex(store, of, [keysOf(of, toRows(want))])).toEqual(expected);
          },
        ),
        { numRuns: 150 },
      );
    });
  });
});
