import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatchBuilder } from "./batch-builder.js";
import { absent, type WriteBatch } from "./interface.js";
import { limits } from "./limits.js";
import { packKeys } from "./packed.js";

const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

function entriesOf(batch: WriteBatch): [string, string | null][] {
  const entries: [string, string | null][] = [];
  const text = (start: number, end: number): string => new TextDecoder().decode(batch.data.subarray(start, end));
  let start = 0;
  for (let i = 0; i < batch.count; i++) {
    const keyEnd = batch.ends[2 * i] ?? 0;
    const valueEnd = batch.ends[2 * i + 1] ?? 0;
    entries.push([text(start, keyEnd), valueEnd === absent ? null : text(keyEnd, valueEnd)]);
    start = valueEnd === absent ? keyEnd : valueEnd;
  }
  return entries;
}

describe("BatchBuilder", () => {
  test("entries keep their order, whatever sizes they have", () => {
    const entry = fc.tuple(
      fc.string({ minLength: 1, maxLength: 100, unit: "grapheme-ascii" }),
      fc.option(fc.string({ maxLength: 5000, unit: "grapheme-ascii" })),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 200 }), fc.nat(100), (entries, capacity) => {
        const batch = new BatchBuilder(capacity);
        for (const [key, value] of entries) {
          if (value === null) batch.delete(bytes(key));
          else batch.put(bytes(key), bytes(value));
        }
        expect(batch.count).toBe(entries.length);
        expect(batch.bytes).toBe(entries.reduce((sum, [key, value]) => sum + key.length + (value?.length ?? 0), 0));
        expect(entriesOf(batch.finish())).toEqual(entries);
      }),
    );
  });

  test("packed keys with packed values, with none, and packed deletes", () => {
    const batch = new BatchBuilder();
    batch.putPacked(packKeys([bytes("a"), bytes("bb")]), packKeys([bytes("1"), bytes("")]));
    batch.putPacked(packKeys([bytes("c")]));
    batch.deletePacked(packKeys([bytes("d"), bytes("ee")]));
    expect(entriesOf(batch.finish())).toEqual([
      ["a", "1"],
      ["bb", ""],
      ["c", ""],
      ["d", null],
      ["ee", null],
    ]);
  });

  test("parts of larger buffers", () => {
    const batch = new BatchBuilder();
    const source = bytes("xxkeyyyvaluezz");
    batch.putRange(source, 2, 5, source, 7, 12);
    batch.deleteRange(source, 0, 2);
    expect(entriesOf(batch.finish())).toEqual([
      ["key", "value"],
      ["xx", null],
    ]);
  });

  test("what is added is copied", () => {
    const batch = new BatchBuilder();
    const key = bytes("a");
    batch.put(key, key);
    key[0] = 0x7a;
    expect(entriesOf(batch.finish())).toEqual([["a", "a"]]);
  });

  test("bad arguments leave the batch as it was", () => {
    const batch = new BatchBuilder();
    batch.put(bytes("a"), bytes("1"));
    expect(() => batch.put(bytes(""), bytes("1"))).toThrow(/a key is empty/u);
    expect(() => batch.delete(bytes(""))).toThrow(/a key is empty/u);
    expect(() => batch.put(new Uint8Array(limits.keyBytes + 1), bytes("1"))).toThrow(/more than 65535/u);
    expect(() => batch.putRange(bytes("abc"), 1, 9, bytes("v"), 0, 1)).toThrow(/outside its buffer/u);
    expect(() => batch.putRange(bytes("abc"), 0, 1, bytes("v"), 1, 0)).toThrow(/outside its buffer/u);
    expect(() => batch.putPacked(packKeys([bytes("b")]), packKeys([]))).toThrow(/0 entries for 1 keys/u);
    expect(() => new BatchBuilder(-1)).toThrow(/initialCapacityBytes/u);
    expect(entriesOf(batch.finish())).toEqual([["a", "1"]]);
  });

  test("a finished batch takes no more", () => {
    const batch = new BatchBuilder();
    batch.put(bytes("a"), bytes("1"));
    batch.finish();
    expect(() => batch.put(bytes("b"), bytes("1"))).toThrow(/already finished/u);
    expect(() => batch.finish()).toThrow(/already finished/u);
  });
});
