import { type Bound, CorruptionError, type IndexValue, InvalidArgumentError } from "@moraine/codec";
import { BatchBuilder } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { collectNulls, collectRange, lookupNulls, lookupRange } from "../src/index.js";
import { change, commit, CountingView, hex, keysOf, layout, numberedRows, withStore } from "./support.js";

const at = (...values: IndexValue[]): Bound => ({ values, inclusive: true });
const beyond = (...values: IndexValue[]): Bound => ({ values, inclusive: false });
const numbers = (rows: BigUint64Array): number[] => [...rows].map(Number);

const u = layout(7n, "unique", "int64");
const m = layout(8n, "multi", "int64");

describe("lookupRange", () => {
  it("selects unique values in a bounded interval, in either order", async () => {
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
      const range = async (lower?: Bound, upper?: Bound, reverse = false) =>
        numbers(await collectRange(store, u, lower, upper, { reverse }));
      expect(await range(at(15n), at(25n))).toEqual([1]);
      expect(await range(beyond(20n))).toEqual([2]);
      expect(await range(undefined, at(20n))).toEqual([0, 1]);
      expect(await range(at(10n), at(30n))).toEqual([0, 1, 2]);
      expect(await range()).toEqual([0, 1, 2]);
      expect(await range(undefined, undefined, true)).toEqual([2, 1, 0]);
      expect(await range(at(30n), at(10n))).toEqual([]);
      expect(await range(beyond(10n), beyond(10n))).toEqual([]);
    });
  });

  it("returns every matching row of a non-unique index", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(m, {
          add: [
            [[10n], 0],
            [[20n], 1],
            [[10n], 2],
          ],
        }),
      );
      expect(numbers(await collectRange(store, m, undefined, beyond(20n)))).toEqual([0, 2]);
      expect(numbers(await collectRange(store, m, at(20n), undefined))).toEqual([1]);
    });
  });

  it.each(["int64", "int64 first", "int64 desc", "int64 desc first"])(
    "keeps NULLs out of an open side (%s)",
    async (spec) => {
      for (const kind of ["unique", "multi"] as const) {
        await withStore(async (store) => {
          const of = layout(5n, kind, spec);
          await commit(
            store,
            change(of, {
              add: [
                [[1n], 1],
                [[null], 2],
                [[3n], 3],
              ],
            }),
          );
          const expected = spec.includes("desc") ? [3, 1] : [1, 3];
          expect(numbers(await collectRange(store, of, undefined, undefined))).toEqual(expected);
          expect(numbers(await collectRange(store, of, at(1n), undefined))).toEqual(expected);
          expect(numbers(await collectRange(store, of, undefined, at(3n)))).toEqual(expected);
        });
      }
    },
  );

  it("delivers high values of a descending index first", async () => {
    await withStore(async (store) => {
      const of = layout(5n, "unique", "int64 desc");
      await commit(
        store,
        change(of, {
          add: [
            [[10n], 0],
            [[20n], 1],
            [[30n], 2],
          ],
        }),
      );
      expect(numbers(await collectRange(store, of, at(10n), at(30n)))).toEqual([2, 1, 0]);
      expect(numbers(await collectRange(store, of, beyond(15n), undefined))).toEqual([2, 1]);
      expect(numbers(await collectRange(store, of, undefined, at(20n)))).toEqual([1, 0]);
    });
  });

  it("spans a composite prefix and a window", async () => {
    for (const kind of ["unique", "multi"] as const) {
      await withStore(async (store) => {
        const of = layout(5n, kind, "int64", "int64");
        await commit(
          store,
          change(of, {
            add: [
              [[5n, 10n], 0],
              [[5n, 20n], 1],
              [[7n, 10n], 2],
            ],
          }),
        );
        expect(numbers(await collectRange(store, of, at(5n), at(5n)))).toEqual([0, 1]);
        expect(numbers(await collectRange(store, of, at(5n, 20n), at(7n, 10n)))).toEqual([1, 2]);
        expect(numbers(await collectRange(store, of, beyond(5n), undefined))).toEqual([2]);
        expect(numbers(await collectRange(store, of, undefined, undefined))).toEqual([0, 1, 2]);
        expect(numbers(await collectRange(store, of, undefined, undefined, { reverse: true }))).toEqual([2, 1, 0]);
      });
    }
  });

  it("carries a prefix bound over a descending value", async () => {
    await withStore(async (store) => {
      const of = layout(5n, "multi", "int64 desc", "int64 desc");
      await commit(
        store,
        change(of, {
          add: [
            [[256n, 1n], 0],
            [[256n, 2n], 1],
            [[512n, 1n], 2],
          ],
        }),
      );
      expect(numbers(await collectRange(store, of, at(256n), at(256n)))).toEqual([1, 0]);
      expect(numbers(await collectRange(store, of, beyond(256n), undefined))).toEqual([2]);
    });
  });

  it("requires a pinned prefix over mixed directions", async () => {
    await withStore(async (store) => {
      const of = layout(5n, "multi", "int64", "int64 desc");
      await commit(
        store,
        change(of, {
          add: [
            [[5n, 10n], 0],
            [[5n, 20n], 1],
            [[7n, 10n], 2],
          ],
        }),
      );
      expect(() => lookupRange(store, of, at(5n, 10n), at(7n, 10n))).toThrow(InvalidArgumentError);
      expect(numbers(await collectRange(store, of, at(5n, 10n), at(5n, 20n)))).toEqual([1, 0]);
      expect(numbers(await collectRange(store, of, at(7n), undefined))).toEqual([2]);
    });
  });

  it("includes rows of a unique index with a NULL in a later column, merged in value order", async () => {
    await withStore(async (store) => {
      const last = layout(5n, "unique", "int64", "int64");
      const first = layout(6n, "unique", "int64", "int64 first");
      const rows = [
        [[1n, 2n], 1],
        [[1n, null], 2],
        [[2n, null], 3],
        [[2n, null], 4],
        [[2n, 0n], 5],
        [[null, 1n], 6],
        [[3n, 1n], 7],
      ] as const;
      await commit(store, change(last, { add: rows }), change(first, { add: rows }));
      expect(numbers(await collectRange(store, last, undefined, undefined))).toEqual([1, 2, 5, 3, 4, 7]);
      expect(numbers(await collectRange(store, first, undefined, undefined))).toEqual([2, 1, 3, 4, 5, 7]);
      expect(numbers(await collectRange(store, last, at(1n), at(2n), { reverse: true }))).toEqual([4, 3, 5, 2, 1]);
      expect(numbers(await collectRange(store, last, at(2n), at(2n), { limit: 2 }))).toEqual([5, 3]);
      expect(numbers(await collectRange(store, last, at(2n), at(2n), { limit: 2, reverse: true }))).toEqual([4, 3]);
    });
  });

  it("leaves out rows that cannot be compared with a bound, and keeps those that can", async () => {
    for (const kind of ["unique", "multi"] as const) {
      for (const second of ["int64", "int64 first"]) {
        await withStore(async (store) => {
          const of = layout(5n, kind, "int64", second);
          await commit(
            store,
            change(of, {
              add: [
                [[5n, 10n], 0],
                [[5n, null], 1],
                [[6n, null], 2],
                [[7n, null], 3],
                [[7n, 10n], 4],
              ],
            }),
          );
          // a = 5 AND b > 1 and (5, 1) <= (a, b) <= (7, 50): (5, NULL) and (7, NULL) are unknown, (6, NULL) is inside.
          expect(numbers(await collectRange(store, of, beyond(5n, 1n), at(5n)))).toEqual([0]);
          expect(numbers(await collectRange(store, of, at(5n), at(5n, 50n)))).toEqual([0]);
          expect(numbers(await collectRange(store, of, at(5n, 1n), at(7n, 50n)))).toEqual([0, 2, 4]);
          expect(numbers(await collectRange(store, of, at(5n, 1n), at(7n, 50n), { reverse: true }))).toEqual([4, 2, 0]);
        });
      }
    }
  });

  it("refuses bounds that name no column, too many columns, or a NULL, in the call", async () => {
    await withStore(async (store) => {
      for (const bound of [at(), at(1n, 2n), at(null)]) {
        expect(() => lookupRange(store, u, bound, undefined)).toThrow(InvalidArgumentError);
        expect(() => lookupRange(store, u, undefined, bound)).toThrow(InvalidArgumentError);
        await expect(collectRange(store, u, bound, undefined)).rejects.toThrow(InvalidArgumentError);
      }
    });
  });

  it.each([-1, 1.5, Number.NaN])("refuses a limit of %d", async (limit) => {
    await withStore(async (store) => {
      expect(() => lookupRange(store, u, undefined, undefined, { limit })).toThrow(InvalidArgumentError);
      expect(() => lookupNulls(store, u, [null], { limit })).toThrow(InvalidArgumentError);
    });
  });

  it("yields blocks, reads no further than asked, and ends its scans when left early", async () => {
    await withStore(async (store) => {
      const of = layout(5n, "unique", "int64", "int64");
      const rows = Array.from({ length: 10_000 }, (_, i) => [[BigInt(i), i % 3 === 0 ? null : 1n], i] as const);
      await commit(store, change(of, { add: rows }));
      const view = new CountingView(store);
      let seen = 0;
      for await (const block of lookupRange(view, of, undefined, undefined)) {
        expect(block.length).toBe(4096);
        seen += block.length;
        if (seen > 4096) break;
      }
      expect(view.inFlight).toBe(0);
      expect(numbers(await collectRange(view, of, undefined, undefined))).toEqual(rows.map(([, rowId]) => rowId));
      view.scans.length = 0;
      expect(numbers(await collectRange(view, of, undefined, undefined, { limit: 5 }))).toEqual([0, 1, 2, 3, 4]);
      for (const scan of view.scans) expect(scan.rows).toBeLessThanOrEqual(5);
      expect(numbers(await collectRange(view, of, undefined, undefined, { limit: 0 }))).toEqual([]);
    });
  });

  it("scans only the value-keyed entries of a unique index with one column", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      await collectRange(view, u, undefined, undefined);
      expect(view.scans.map(({ range }) => hex(range.start!.subarray(0, 2)))).toEqual(["0702"]);
    });
  });

  it("fails when one of two merged scans fails, and closes the other", async () => {
    await withStore(async (store) => {
      const of = layout(5n, "unique", "int64", "int64");
      await commit(
        store,
        change(of, {
          add: [
            [[1n, 1n], 1],
            [[1n, null], 2],
          ],
        }),
      );
      const keys = keysOf(of, [[[2n, 2n], 1]]);
      const batch = new BatchBuilder();
      batch.put(keys.data.slice(0, keys.ends[0]), new Uint8Array(3));
      await store.write(batch.finish());
      const view = new CountingView(store);
      await expect(collectRange(view, of, undefined, undefined)).rejects.toThrow(CorruptionError);
      expect(view.inFlight).toBe(0);
    });
  });
});

describe("lookupNulls", () => {
  it("finds NULL rows of a unique index in both orders", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[10n], 0],
            [[null], 1],
            [[null], 2],
          ],
        }),
      );
      expect(numbers(await collectNulls(store, u, [null]))).toEqual([1, 2]);
      expect(numbers(await collectNulls(store, u, [null], { reverse: true }))).toEqual([2, 1]);
      expect(numbers(await collectNulls(store, u, [null], { limit: 1 }))).toEqual([1]);
      expect(numbers(await collectNulls(store, u, [null], { limit: 1, reverse: true }))).toEqual([2]);
    });
  });

  it.each(["unique", "multi"] as const)("matches a leading prefix of a composite %s index", async (kind) => {
    await withStore(async (store) => {
      const of = layout(5n, kind, "int64", "int64");
      await commit(
        store,
        change(of, {
          add: [
            [[5n, null], 0],
            [[5n, 3n], 1],
            [[7n, null], 2],
          ],
        }),
      );
      expect(numbers(await collectNulls(store, of, [5n, null]))).toEqual([0]);
      expect(numbers(await collectNulls(store, of, [null]))).toEqual([]);
    });
  });

  it("covers every row that extends the prefix, whatever the later columns hold", async () => {
    await withStore(async (store) => {
      const of = layout(5n, "unique", "int64 desc", "string first", "int64");
      const rows = [
        [[1n, null, 1n], 1],
        [[1n, null, null], 2],
        [[1n, "", null], 3],
        [[null, "a", 5n], 4],
        [[2n, null, 1n], 5],
      ] as const;
      await commit(store, change(of, { add: rows }));
      expect(numbers(await collectNulls(store, of, [1n, null]))).toEqual([1, 2]);
      expect(numbers(await collectNulls(store, of, [null]))).toEqual([4]);
      expect(numbers(await collectNulls(store, of, [1n, "", null]))).toEqual([3]);
    });
  });

  it("refuses a prefix that is empty, too long or without NULL", async () => {
    await withStore(async (store) => {
      for (const prefix of [[], [1n], [null, null]]) {
        expect(() => lookupNulls(store, u, prefix)).toThrow(InvalidArgumentError);
      }
    });
  });

  it("reports a multi-shaped entry with a value as corruption", async () => {
    await withStore(async (store) => {
      const keys = keysOf(m, [[[null], 1]]);
      const batch = new BatchBuilder();
      batch.put(keys.data.slice(0, keys.ends[0]), Uint8Array.of(1));
      await store.write(batch.finish());
      await expect(collectNulls(store, m, [null])).rejects.toThrow(CorruptionError);
    });
  });
});

describe("large ranges", () => {
  it("returns 10,000 rows in order, forward and back", async () => {
    await withStore(async (store) => {
      await commit(store, change(m, { add: numberedRows(0, 10_000) }));
      const expected = Array.from({ length: 10_000 }, (_, i) => i);
      expect(numbers(await collectRange(store, m, undefined, undefined))).toEqual(expected);
      expect(numbers(await collectRange(store, m, undefined, undefined, { reverse: true }))).toEqual(
        expected.toReversed(),
      );
    });
  });
});
