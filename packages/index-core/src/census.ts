import { indexPrefix, prefixEnd } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { indexIdOfKey } from "./index-id-of-key.js";
import { scanBlockRows } from "./limits.js";

/** Entries and bytes of one index, as stored before compression. */
export interface IndexSize {
  readonly indexId: bigint;
  /** Entries keyed by value alone. */
  readonly uniqueEntries: number;
  /** Entries keyed by value and row id. */
  readonly multiEntries: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
}

type Counts = { -readonly [Name in keyof IndexSize]: IndexSize[Name] };

const shapes = ["unique", "multi"] as const;

/**
 * Sizes of every index that holds entries, dead ones included, by ascending id. Reads the whole index subspace, and tells
 * how many more entries it has counted after each block.
 */
export async function measureIndexes(view: ReadView, onCounted?: (entries: number) => void): Promise<IndexSize[]> {
  const sizes = new Map<bigint, Counts>();
  for (const shape of shapes) await measureRange(view, shape, undefined, sizes, onCounted);
  return [...sizes.values()].toSorted((left, right) => (left.indexId < right.indexId ? -1 : 1));
}

/** Size of one index; reads all its entries. */
export async function measureIndex(view: ReadView, indexId: bigint): Promise<IndexSize> {
  const sizes = new Map<bigint, Counts>();
  for (const shape of shapes) await measureRange(view, shape, indexId, sizes);
  return sizes.get(indexId) ?? emptyCounts(indexId);
}

async function measureRange(
  view: ReadView,
  shape: "unique" | "multi",
  indexId: bigint | undefined,
  sizes: Map<bigint, Counts>,
  onCounted?: (entries: number) => void,
): Promise<void> {
  const prefix = indexPrefix(shape, indexId);
  let counts: Counts | undefined;
  for await (const block of view.scan({ start: prefix, end: prefixEnd(prefix) }, { blockRows: scanBlockRows })) {
    for (let row = 0, start = 0; row < block.count; row++) {
      const keyEnd = block.ends[2 * row]!;
      const valueEnd = block.ends[2 * row + 1]!;
      const id = indexIdOfKey(block.data, start, keyEnd);
      if (counts?.indexId !== id) {
        counts = sizes.get(id);
        if (counts === undefined) sizes.set(id, (counts = emptyCounts(id)));
      }
      if (shape === "unique") counts.uniqueEntries++;
      else counts.multiEntries++;
      counts.keyBytes += keyEnd - start;
      counts.valueBytes += valueEnd - keyEnd;
      start = valueEnd;
    }
    onCounted?.(block.count);
  }
}

function emptyCounts(indexId: bigint): Counts {
  return { indexId, uniqueEntries: 0, multiEntries: 0, keyBytes: 0, valueBytes: 0 };
}
