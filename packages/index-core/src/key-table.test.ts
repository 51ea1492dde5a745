import { describe, expect, it } from "vitest";
import { hashRange } from "./key-hash.js";
import { KeyTable } from "./key-table.js";

/** The key of a unique int64 index: the escaped, framed form in which neighbours differ in few bits. */
function int64Key(value: number): Uint8Array {
  const raw = new Uint8Array(8);
  new DataView(raw.buffer).setBigUint64(0, (1n << 63n) ^ BigInt(value));
  const framed: number[] = [7, 2, 0, 0, 0, 0, 0, 0, 0, 5];
  for (const byte of [1, 0, ...raw]) framed.push(...(byte < 2 ? [1, 1, 1, byte] : [byte]));
  return Uint8Array.from([...framed, 0]);
}

describe("KeyTable", () => {
  it("keeps numbers stable over 200,000 keys and many growths", () => {
    const table = new KeyTable();
    const count = 200_000;
    for (let i = 0; i < count; i++) {
      const key = int64Key(i);
      table.findOrAdd(key, 0, key.length);
    }
    expect(table.count).toBe(count);
    for (let i = 0; i < count; i += 777) {
      const key = int64Key(i);
      expect(table.find(key, 0, key.length)).toBe(i);
    }
    const missing = int64Key(count);
    expect(table.find(missing, 0, missing.length)).toBe(-1);
  });

  it("tells keys apart that differ only in length or in one trailing byte", () => {
    const table = new KeyTable();
    const keys = [[], [0], [0, 0], [0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]];
    const numbers = keys.map((key) => table.findOrAdd(Uint8Array.from(key), 0, key.length));
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it.each([0, 1, 0x1234_5678])("spreads neighbouring keys over the low bits of the hash (seed %d)", (seed) => {
    const buckets = new Uint32Array(1 << 16);
    const count = 1 << 16;
    for (let i = 0; i < count; i++) {
      const key = int64Key(i);
      const bucket = hashRange(key, 0, key.length, seed) & (buckets.length - 1);
      buckets[bucket] = buckets[bucket]! + 1;
    }
    // A random function leaves 1/e of the buckets empty.
    const empty = buckets.filter((n) => n === 0).length;
    expect(empty / buckets.length).toBeGreaterThan(0.33);
    expect(empty / buckets.length).toBeLessThan(0.41);
    expect(Math.max(...buckets)).toBeLessThan(14);
  });
});
