import { IndexKeyBuilder, type IndexKeys, type IndexValue } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyFilter } from "./key-filter.js";

const count = 50_000;

function keysOf(valueType: "int64" | "string", valueAt: (i: number) => IndexValue): IndexKeys {
  const layout = { indexId: 3n, unique: true, columns: [{ valueType, descending: false, nullsFirst: false }] };
  const builder = new IndexKeyBuilder(layout);
  for (let i = 0; i < count; i++) builder.append([valueAt(i)], BigInt(i));
  return builder.finish();
}

function each(keys: IndexKeys, use: (data: Uint8Array, start: number, end: number) => void): void {
  for (let i = 0, start = 0; i < keys.count; i++) {
    use(keys.data, start, keys.ends[i]!);
    start = keys.ends[i]!;
  }
}

/** A full-period generator: all its values differ. */
function scattered(i: number): number {
  return (Math.imul(i, 0x9e37_79b1) ^ 0x5bd1_e995) >>> 0;
}

/** The share of keys that look as if they were there. */
function shareOf(filter: KeyFilter, keys: IndexKeys): number {
  let held = 0;
  each(keys, (...key) => void (filter.mayHold(...key) && held++));
  return held / keys.count;
}

/** Keys that are put in, and keys that are not, of the kinds that indexes hold. */
const kinds: { name: string; present: () => IndexKeys; absent: () => IndexKeys }[] = [
  {
    name: "a counter",
    present: () => keysOf("int64", BigInt),
    absent: () => keysOf("int64", (i) => BigInt(count + i)),
  },
  {
    name: "every other number",
    present: () => keysOf("int64", (i) => BigInt(2 * i)),
    absent: () => keysOf("int64", (i) => BigInt(2 * i + 1)),
  },
  {
    name: "microseconds of a clock",
    present: () => keysOf("int64", (i) => 1_700_000_000_000_000n + BigInt(i) * 1_000_000n),
    absent: () => keysOf("int64", (i) => 1_700_000_000_500_000n + BigInt(i) * 1_000_000n),
  },
  {
    name: "numbers in no order",
    present: () => keysOf("int64", (i) => BigInt(scattered(i)) << 21n),
    absent: () => keysOf("int64", (i) => BigInt(scattered(i + count)) << 21n),
  },
  {
    name: "texts with a counter",
    present: () => keysOf("string", (i) => `customer-${i}@example.org`),
    absent: () => keysOf("string", (i) => `customer-${i + count}@example.org`),
  },
  {
    name: "texts in no order",
    present: () => keysOf("string", (i) => `${scattered(i).toString(16)}-${scattered(i * 7).toString(36)}`),
    absent: () => keysOf("string", (i) => `${scattered(i + count).toString(16)}-${scattered(i * 7).toString(36)}`),
  },
];

describe("KeyFilter", () => {
  it.each(kinds)("holds all of $name, and takes few others for present", ({ present, absent }) => {
    for (const seed of [0, 1, 0x8000_0000, 0xffff_ffff]) {
      const filter = new KeyFilter(count, seed);
      const keys = present();
      each(keys, (...key) => filter.add(...key));
      expect(shareOf(filter, keys)).toBe(1);
      expect(filter.isFull).toBe(filter.keys >= count);
      expect(filter.keys).toBeGreaterThan(count * 0.995);
      const share = shareOf(filter, absent());
      expect(share).toBeLessThan(0.0025);
      expect(share).toBeGreaterThan(0.0003);
    }
  });

  it("keeps every key when it grows by layers, and its answers good", () => {
    const filter = new KeyFilter(100, 7);
    const keys = keysOf("int64", BigInt);
    each(keys, (...key) => {
      if (filter.isFull) filter.extend(3 * filter.keys);
      filter.add(...key);
    });
    expect(shareOf(filter, keys)).toBe(1);
    // Five full layers beside the one that is being filled, each with its own share of wrong answers.
    expect(
      shareOf(
        filter,
        keysOf("int64", (i) => BigInt(count + i)),
      ),
    ).toBeLessThan(0.012);
    expect(filter.bytes).toBeLessThan(KeyFilter.bytesFor(4 * count) * 1.01);
  });

  it("counts keys once, and those that are gone until they come back", () => {
    const filter = new KeyFilter(1000, 7);
    const key = Uint8Array.of(1, 2, 3);
    filter.noteGone();
    expect([filter.keys, filter.gone]).toEqual([0, 0]);
    filter.add(key, 0, 3);
    filter.add(key, 0, 3);
    expect([filter.keys, filter.gone]).toEqual([1, 0]);
    filter.noteGone();
    filter.noteGone();
    expect([filter.keys, filter.gone, filter.mayHold(key, 0, 3)]).toEqual([1, 1, true]);
    filter.add(key, 0, 3);
    expect([filter.keys, filter.gone]).toEqual([1, 0]);
  });

  it("never takes a key that was added for absent, whatever its bytes, place, size and seed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 0, maxLength: 40 }), { maxLength: 300 }),
        fc.integer({ min: 1, max: 200 }),
        fc.integer(),
        fc.nat(5),
        (keys, expectedKeys, seed, before) => {
          const filter = new KeyFilter(expectedKeys, seed);
          for (const key of keys) {
            if (filter.isFull && key.length % 2 === 0) filter.extend(filter.keys);
            filter.add(key, 0, key.length);
          }
          for (const key of keys) {
            const data = new Uint8Array(before + key.length + 3).fill(9);
            data.set(key, before);
            expect(filter.mayHold(data, before, before + key.length)).toBe(true);
          }
        },
      ),
    );
  });
});
