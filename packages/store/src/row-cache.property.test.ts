import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatchBuilder } from "./batch-builder.js";
import { limits } from "./limits.js";
import { RowCache } from "./row-cache.js";

type State = ReadonlyMap<number, number>;

/** A snapshot: what it holds, and the generation it was given. */
interface Cut {
  readonly state: State;
  readonly generation: number;
}

const keyCount = 6;
const keyOf = (key: number): Uint8Array => Uint8Array.of(0x6b, key);
const nameOf = (key: number): string => Buffer.from(keyOf(key)).toString("latin1");

const key = fc.nat(keyCount - 1);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      puts: fc.array(fc.tuple(key, fc.boolean()), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("large write" as const), key }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("applied" as const) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("cut" as const) }) },
  { weight: 25, arbitrary: fc.record({ kind: fc.constant("read" as const), back: fc.nat(4), key }) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant("note" as const), read: fc.nat() }) },
);

/** Runs steps on a cache beside the states that it is about. Gives how often the cache knew a value. */
function run(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]): number {
  // So few rows that the maps change.
  const cache = new RowCache(6);
  let state: State = new Map();
  let version = 0;
  let inFlight = 0;
  let hits = 0;
  const cuts: Cut[] = [];
  const reads: { readonly cut: Cut; readonly key: number }[] = [];
  const write = (entries: readonly (readonly [number, boolean])[], padding: number): void => {
    const next = new Map(state);
    const batch = new BatchBuilder();
    for (const [at, isPut] of entries) {
      if (isPut) {
        next.set(at, ++version);
        batch.put(keyOf(at), Uint8Array.of(version % 256));
      } else {
        next.delete(at);
        batch.delete(keyOf(at));
      }
    }
    for (let i = 0; i < padding; i++) batch.put(Uint8Array.of(0x70, i % 256, i >> 8), new Uint8Array(0));
    cache.issued(batch.finish());
    state = next;
    inFlight += 1;
  };
  for (const each of steps) {
    switch (each.kind) {
      case "write":
        write(each.puts, 0);
        break;
      case "large write":
        write([[each.key, true]], limits.rowCacheBatchEntries);
        break;
      case "applied":
        if (inFlight > 0) {
          inFlight -= 1;
          cache.applied();
        }
        break;
      case "cut":
        expect(cache.generation === null).toBe(inFlight > 0);
        if (cache.generation !== null) cuts.push({ state, generation: cache.generation });
        break;
      case "read": {
        const cut = cuts.at(-1 - each.back);
        if (cut === undefined) break;
        const known = cache.get(nameOf(each.key), cut.generation);
        const held = cut.state.get(each.key);
        if (known === undefined) {
          reads.push({ cut, key: each.key });
        } else {
          hits += 1;
          expect(known === null ? undefined : known[0]).toBe(held === undefined ? undefined : held % 256);
        }
        break;
      }
      case "note": {
        // A read that took long: others may have written meanwhile.
        const [read] = reads.splice(each.read % Math.max(1, reads.length), 1);
        if (read === undefined) break;
        const held = read.cut.state.get(read.key);
        cache.note(nameOf(read.key), held === undefined ? null : Uint8Array.of(held % 256), read.cut.generation);
        break;
      }
    }
  }
  return hits;
}

describe("RowCache", () => {
  test("knows of a snapshot only what that holds, whatever is written, cut and noted in between", () => {
    let hits = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 200 }), (steps) => {
        hits += run(steps);
      }),
      { numRuns: 1000 },
    );
    // Otherwise nothing was shown.
    expect(hits).toBeGreaterThan(1000);
  });

  test("is bounded, and keeps what is asked for", () => {
    const cache = new RowCache();
    cache.note("kept", Uint8Array.of(1), 0);
    for (let i = 0; i < 3 * limits.rowCacheRows; i++) {
      cache.note(`other ${i}`, null, 0);
      if (i % 1000 === 0) expect(cache.get("kept", 0)).toEqual(Uint8Array.of(1));
      if (i % 10_000 === 0) expect(cache.size).toBeLessThanOrEqual(limits.rowCacheRows);
    }
    expect(cache.get("other 0", 0)).toBeUndefined();
  });

  test("keeps no long keys and no long values", () => {
    const cache = new RowCache();
    const keyOfLength = (length: number): string => "k".repeat(length);
    cache.note(keyOfLength(limits.rowCacheKeyBytes), null, 0);
    cache.note("value", new Uint8Array(limits.rowCacheValueBytes), 0);
    expect(cache.size).toBe(2);
    cache.note(keyOfLength(limits.rowCacheKeyBytes + 1), null, 0);
    cache.note("other", new Uint8Array(limits.rowCacheValueBytes + 1), 0);
    expect(cache.size).toBe(2);
    // The longest that is kept is forgotten like any other when it is written.
    const batch = new BatchBuilder();
    batch.put(Buffer.from(keyOfLength(limits.rowCacheKeyBytes + 1)), new Uint8Array(0));
    batch.put(Buffer.from(keyOfLength(limits.rowCacheKeyBytes)), new Uint8Array(0));
    cache.issued(batch.finish());
    expect(cache.get(keyOfLength(limits.rowCacheKeyBytes), 1)).toBeUndefined();
    expect(cache.size).toBe(1);
  });

  test("keeps a copy of a value, not the buffer that it lies in", () => {
    const cache = new RowCache();
    // Whose own `slice` is a view.
    const buffer = Buffer.of(1, 2, 3);
    cache.note("key", buffer.subarray(1, 2), 0);
    buffer.fill(9);
    const value = cache.get("key", 0);
    expect(value).toEqual(Uint8Array.of(2));
    expect(value?.buffer.byteLength).toBeLessThan(3);
  });
});
