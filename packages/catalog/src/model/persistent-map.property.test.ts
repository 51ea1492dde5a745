import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PersistentMap } from "./persistent-map.js";

type Step = readonly [kind: "set" | "delete", key: bigint, value: number];

/** Few distinct keys, so that sets overwrite and deletes hit; many steps, so that nodes split and merge. */
const steps = (keys: bigint, maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.tuple(fc.constantFrom("set" as const, "delete" as const), fc.bigInt(0n, keys), fc.integer()), {
    maxLength,
  });

function sortedEntries(model: ReadonlyMap<bigint, number>): [bigint, number][] {
  return [...model].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

describe("PersistentMap", () => {
  it("agrees with a plain map after every step, and never changes an older version", () => {
    fc.assert(
      fc.property(steps(200n, 400), (sequence) => {
        const model = new Map<bigint, number>();
        let map = PersistentMap.empty<bigint, number>();
        const kept: [PersistentMap<bigint, number>, [bigint, number][]][] = [];
        for (const [kind, key, value] of sequence) {
          if (kind === "set") model.set(key, value);
          else model.delete(key);
          map = kind === "set" ? map.set(key, value) : map.delete(key);
          expect(map.size).toBe(model.size);
          expect(map.get(key)).toBe(model.get(key));
          if (kept.length < 8) kept.push([map, sortedEntries(model)]);
        }
        expect([...map.entries()]).toEqual(sortedEntries(model));
        for (const [older, entries] of kept) expect([...older.entries()]).toEqual(entries);
      }),
      { numRuns: 60 },
    );
  });

  it("starts a scan at the first key that is not below the bound", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.bigInt(0n, 500n)), fc.bigInt(0n, 510n), (keys, from) => {
        let map = PersistentMap.empty<bigint, bigint>();
        for (const key of keys) map = map.set(key, key);
        const expected = keys.filter((key) => key >= from).sort((a, b) => (a < b ? -1 : 1));
        expect([...map.values(from)]).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it("builds from sorted keys what single insertions build", () => {
    for (const count of [0, 1, 31, 32, 33, 1024, 1025, 20_000]) {
      const keys = Array.from({ length: count }, (_, at) => BigInt(at) * 3n);
      const map = PersistentMap.fromSorted(keys, keys);
      expect(map.size).toBe(count);
      expect(map.toArray()).toEqual(keys);
      for (const at of [0, count >>> 1, count - 1]) expect(map.get(BigInt(at) * 3n)).toBe(keys[at]);
      expect(map.get(1n)).toBeUndefined();
    }
  });

  it("shrinks back to nothing whatever the order of deletes", () => {
    const keys = Array.from({ length: 1500 }, (_, at) => BigInt((at * 1_103) % 1500));
    for (const order of [keys, keys.toReversed(), keys.toSorted((a, b) => (a < b ? -1 : 1))]) {
      let map = PersistentMap.empty<bigint, bigint>();
      for (const key of keys) map = map.set(key, key);
      for (const [done, key] of order.entries()) {
        map = map.delete(key);
        expect(map.size).toBe(keys.length - done - 1);
      }
      expect([...map.entries()]).toEqual([]);
    }
  });

  it("gives the same map back when the key to delete is not there", () => {
    const map = PersistentMap.fromSorted<bigint, string>([1n, 2n], ["a", "b"]);
    expect(map.delete(3n)).toBe(map);
  });
});
