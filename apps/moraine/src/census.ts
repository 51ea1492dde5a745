import {
  changelogPrefix,
  currentPrefix,
  historyPrefix,
  type IndexId,
  indexPrefix,
  inlineSchemaPrefix,
  schemaVersionPrefix,
  snapshotPrefix,
  sysHeadKey,
} from "@moraine/codec";
import { type IndexSize as MeasuredIndex, measureIndexes } from "@moraine/index-core";
import { type KeyRange, loopsInUse, type ReadView } from "@moraine/store";
import type {
  CatalogSnapshot,
  Census,
  CensusOptions,
  IndexInfo,
  IndexSize,
  StoreSize,
  SubspaceSize,
} from "./interface.js";
import { censusBlockRows } from "./limits.js";

type Counts = { -readonly [Name in keyof StoreSize]: StoreSize[Name] };

/** Names of the subspaces by the first byte of their keys. */
const subspaceNames: ReadonlyMap<number, string> = new Map(
  (
    [
      [sysHeadKey, "system"],
      [snapshotPrefix(), "snapshot"],
      [currentPrefix("table"), "current"],
      [historyPrefix("table"), "history"],
      [inlineSchemaPrefix(0n), "inline"],
      [indexPrefix("unique"), "index"],
      [schemaVersionPrefix(), "schema_version"],
      [changelogPrefix(), "changelog"],
    ] as const
  ).map(([key, name]) => [key[0] ?? 0, name]),
);

const indexSubspace = indexPrefix("unique")[0] ?? 0;

/** Counts the records of a whole store, and the entries of each index. */
export async function measureStore(
  view: ReadView,
  location: string,
  snapshot: CatalogSnapshot,
  onProgress: CensusOptions["onProgress"],
): Promise<Census> {
  const counts = new Map<number, Counts>();
  let counted = 0;
  const onCounted = (records: number): void => onProgress?.((counted += records));
  await countRecords(view, { end: Uint8Array.of(indexSubspace) }, counts, onCounted);
  await countRecords(view, { start: Uint8Array.of(indexSubspace + 1) }, counts, onCounted);
  const indexes = describeIndexes(await measureIndexes(view, onCounted), snapshot);
  if (indexes.some(({ entries }) => entries > 0)) counts.set(indexSubspace, sumOf(indexes));
  const subspaces = [...counts]
    .sort(([left], [right]) => left - right)
    .map(([tag, size]): SubspaceSize => ({ subspace: subspaceNames.get(tag) ?? unknownName(tag), ...size }));
  return { location, loops: loopsInUse(), subspaces, indexes, total: sumOf(subspaces) };
}

async function countRecords(
  view: ReadView,
  range: KeyRange,
  counts: Map<number, Counts>,
  onCounted: (records: number) => void,
): Promise<void> {
  for await (const block of view.scan(range, { blockRows: censusBlockRows })) {
    for (let row = 0, start = 0; row < block.count; row++) {
      const keyEnd = block.ends[2 * row] ?? 0;
      const valueEnd = block.ends[2 * row + 1] ?? 0;
      const tag = block.data[start] ?? 0;
      let size = counts.get(tag);
      if (size === undefined) counts.set(tag, (size = { entries: 0, keyBytes: 0, valueBytes: 0 }));
      size.entries++;
      size.keyBytes += keyEnd - start;
      size.valueBytes += valueEnd - keyEnd;
      start = valueEnd;
    }
    onCounted(block.count);
  }
}

/** Every index that is defined or holds entries. */
function describeIndexes(measured: readonly MeasuredIndex[], snapshot: CatalogSnapshot): IndexSize[] {
  const defined = new Map<bigint, IndexInfo>();
  for (const schema of snapshot.schemas()) {
    for (const table of snapshot.tablesIn(schema.id)) {
      for (const index of snapshot.indexesOf(table.id)) defined.set(index.id, index);
    }
  }
  const sizes = new Map(measured.map((size) => [size.indexId, size]));
  const ids = [...new Set([...defined.keys(), ...sizes.keys()])].sort((left, right) => (left < right ? -1 : 1));
  return ids.map((id): IndexSize => {
    const info = defined.get(id);
    const size = sizes.get(id);
    return {
      indexId: id as IndexId,
      name: info?.name,
      tableId: info?.tableId,
      state: info?.state ?? "dropped",
      entries: (size?.uniqueEntries ?? 0) + (size?.multiEntries ?? 0),
      uniqueEntries: size?.uniqueEntries ?? 0,
      keyBytes: size?.keyBytes ?? 0,
      valueBytes: size?.valueBytes ?? 0,
    };
  });
}

function sumOf(sizes: readonly StoreSize[]): StoreSize {
  const sum = { entries: 0, keyBytes: 0, valueBytes: 0 };
  for (const { entries, keyBytes, valueBytes } of sizes) {
    sum.entries += entries;
    sum.keyBytes += keyBytes;
    sum.valueBytes += valueBytes;
  }
  return sum;
}

function unknownName(tag: number): string {
  return `unknown(0x${tag.toString(16).padStart(2, "0")})`;
}
