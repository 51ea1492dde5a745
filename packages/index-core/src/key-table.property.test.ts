import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyTable } from "./key-table.js";
import { rowIdWords } from "./row-id-words.js";

const key = fc.oneof(
  fc.uint8Array({ maxLength: 3 }),
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
  fc.integer({ min: 0, max: 300 }).map((n) => Uint8Array.of(7, 2, 0, 0, 0, 0, n >> 8, n & 255, 1, 0)),
);
const step = fc.record({
  key,
  state: fc.integer({ min: 0, max: 255 }),
  rowId: fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
  add: fc.boolean(),
});

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("KeyTable", () => {
  it("behaves as a Map from keys to state and row id, for any seed", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.integer(), fc.boolean(), (steps, seed, padded) => {
        const table = new KeyTable(0, seed);
        const model = new Map<string, { number: number; state: number; rowId: bigint }>();
        for (const { key: bytes, state, rowId, add } of steps) {
          const before = padded ? 5 : 0;
          const data = new Uint8Array(bytes.length + before + 3).fill(9);
          data.set(bytes, before);
          const known = model.get(text(bytes));
          expect(table.find(data, before, before + bytes.length)).toBe(known?.number ?? -1);
          if (!add) continue;
          const number = table.findOrAdd(data, before, before + bytes.length);
          expect(number).toBe(known?.number ?? model.size);
          if (known === undefined) expect([table.states[number], table.rowId(number)]).toEqual([0, 0n]);
          table.states[number] = state;
          const words = rowIdWords(BigUint64Array.of(rowId));
          table.rowWords[number * 2] = words[0]!;
          table.rowWords[number * 2 + 1] = words[1]!;
          model.set(text(bytes), { number, state, rowId });
        }
        expect(table.count).toBe(model.size);
        for (const [hex, { number, state, rowId }] of model) {
          expect(text(table.keyBytes.subarray(table.keyStart(number), table.keyEnd(number)))).toBe(hex);
          expect([table.states[number], table.rowId(number)]).toEqual([state, rowId]);
        }
      }),
    );
  });

  it("packs any run of its keys", () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 50, selector: text }), fc.nat(50), fc.nat(50), (keys, a, b) => {
        const table = new KeyTable();
        for (const bytes of keys) table.findOrAdd(bytes, 0, bytes.length);
        const first = Math.min(a, b, keys.length);
        const last = Math.min(Math.max(a, b), keys.length);
        const packed = table.packed(first, last);
        const unpacked = [...packed.ends].map((end, i) => text(packed.data.subarray(packed.ends[i - 1] ?? 0, end)));
        expect(unpacked).toEqual(keys.slice(first, last).map(text));
        expect(packed.data.length).toBe(packed.ends.at(-1) ?? 0);
      }),
    );
  });
});
