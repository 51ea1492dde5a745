import { expect, test } from "vitest";
import { BatchBuilder } from "./batch-builder.js";
import { combineBatches } from "./combine-batches.js";
import { absent, type WriteBatch } from "./interface.js";

type Entry = readonly [key: string, value: string | null];

function batchOf(...entries: readonly Entry[]): WriteBatch {
  const builder = new BatchBuilder();
  for (const [key, value] of entries) {
    if (value === null) builder.delete(Buffer.from(key));
    else builder.put(Buffer.from(key), Buffer.from(value));
  }
  return builder.finish();
}

function entriesOf({ count, data, ends }: WriteBatch): Entry[] {
  const text = Buffer.from(data);
  let start = 0;
  return Array.from({ length: count }, (_, i) => {
    const keyEnd = ends[2 * i]!;
    const valueEnd = ends[2 * i + 1]!;
    const key = text.toString("latin1", start, keyEnd);
    start = valueEnd === absent ? keyEnd : valueEnd;
    return [key, valueEnd === absent ? null : text.toString("latin1", keyEnd, valueEnd)];
  });
}

test("entries follow one another, deletes and empty values included", () => {
  const parts: Entry[][] = [
    [
      ["a", "1"],
      ["b", null],
    ],
    [["a", ""]],
    [
      ["b", "22"],
      ["c", null],
    ],
  ];
  const { combined, batch } = combineBatches(parts.map((part) => batchOf(...part)));
  expect(combined).toBe(3);
  expect(entriesOf(batch)).toEqual(parts.flat());
});

test("one batch stays as it is, and bytes behind the last entry are left out", () => {
  const one = batchOf(["a", "1"]);
  expect(combineBatches([one])).toEqual({ combined: 1, batch: one });
  const longer = { ...one, data: Buffer.concat([one.data, Buffer.from("rest")]) };
  expect(entriesOf(combineBatches([longer, batchOf(["b", null])]).batch)).toEqual([
    ["a", "1"],
    ["b", null],
  ]);
});

test("what does not fit into one is left", () => {
  // Never touched, so that it takes no memory.
  const data = new Uint8Array(2 ** 31);
  const large: WriteBatch = { count: 1, data, ends: Uint32Array.of(1, 2 ** 31) };
  expect(combineBatches([large, large, large])).toEqual({ combined: 1, batch: large });
});
