import { equalityPrefix, type IndexLayout, type IndexValue, prefixEnd } from "@moraine/codec";
import { absent, packKey, type PackedKeys, type PackedValues, type ReadView } from "@moraine/store";
import { keysInOrder, scanDense } from "./dense-scan.js";
import { KeyTable } from "./key-table.js";
import {
  denseScanKeys,
  lookupProbeKeys,
  lookupProbeWindowKeys,
  lookupScanConcurrency,
  manyLookupKeys,
  manyLookupProbeKeys,
  sparseRunsWithoutTry,
} from "./limits.js";
import { rowIdBytes, RowIdList, sortedDistinct } from "./row-id-words.js";
import { partsSideBySide, sideBySide } from "./side-by-side.js";
import { appendRowId, wrongValue } from "./stored-row-ids.js";

/** How one lookup was served; a caller passes one in to have it filled. */
export interface LookupReport {
  /** Keys asked for, and how many of them were different. */
  requested: number;
  distinct: number;
  /** Distinct keys under which at least one entry was found, and those without. */
  hits: number;
  misses: number;
  /** Most reads that were in flight together. */
  peakInFlight: number;
}

/**
 * Row ids of the rows whose indexed columns equal `values`, ascending: none or one under a unique index.
 *
 * @throws InvalidArgumentError when the number of values is not that of the index's columns, or one of them is NULL.
 */
export async function lookup(
  view: ReadView,
  layout: IndexLayout,
  values: readonly IndexValue[],
): Promise<BigUint64Array> {
  const key = equalityPrefix(layout, values);
  const found = new RowIdList(1);
  if (layout.unique) {
    appendValue(await view.getMany(packKey(key)), 0, found);
    return found.finish();
  }
  await scanPrefix(view, key, found);
  return sortedDistinct(found.finish());
}

/**
 * Row ids of all rows under any of the keys, ascending and without repeats. Each different key is read once, in windows
 * of point reads under a unique index; otherwise by scans over many neighbouring keys where they lie close together, and of
 * single keys at bounded concurrency where not. No keys: no rows.
 */
export async function lookupMany(
  view: ReadView,
  layout: IndexLayout,
  keys: PackedKeys,
  report?: LookupReport,
): Promise<BigUint64Array> {
  const distinct = new KeyTable(keys.ends.length);
  for (let i = 0, start = 0; i < keys.ends.length; i++) {
    const end = keys.ends[i]!;
    distinct.findOrAdd(keys.data, start, end);
    start = end;
  }
  const found = new RowIdList(distinct.count);
  const read = layout.unique ? await probeAll(view, distinct, found) : await scanAll(view, distinct, found);
  if (report !== undefined) {
    report.requested = keys.ends.length;
    report.distinct = distinct.count;
    report.hits = read.hits;
    report.misses = distinct.count - read.hits;
    report.peakInFlight = read.peakInFlight;
  }
  return sortedDistinct(found.finish());
}

interface ReadResult {
  readonly hits: number;
  readonly peakInFlight: number;
}

async function probeAll(view: ReadView, keys: KeyTable, found: RowIdList): Promise<ReadResult> {
  const partKeys = keys.count < manyLookupKeys ? lookupProbeKeys : manyLookupProbeKeys;
  const parts = { partKeys, windowKeys: lookupProbeWindowKeys };
  await partsSideBySide(keys.count, parts, async (first, last) => {
    const values = await view.getMany(keys.packed(first, last));
    for (let i = 0; i < last - first; i++) appendValue(values, i, found);
  });
  return { hits: found.count, peakInFlight: Math.min(keys.count, lookupProbeWindowKeys) };
}

async function scanAll(view: ReadView, keys: KeyTable, found: RowIdList): Promise<ReadResult> {
  const order = keysInOrder(keys);
  let hits = 0;
  let sparseRuns = 0;
  let peakInFlight = 0;
  for (let first = 0; first < order.length; first += denseScanKeys) {
    let run = order.subarray(first, first + denseScanKeys);
    if (run.length === denseScanKeys && sparseRuns === 0) {
      const dense = await scanDense(view, keys, run, found);
      hits += dense.hits;
      peakInFlight = Math.max(peakInFlight, 1);
      run = run.subarray(dense.done);
      if (run.length > 0) sparseRuns = sparseRunsWithoutTry;
    } else if (sparseRuns > 0) sparseRuns--;
    peakInFlight = Math.max(peakInFlight, Math.min(run.length, lookupScanConcurrency));
    await sideBySide(run.length, lookupScanConcurrency, async (at) => {
      const key = run[at]!;
      const prefix = keys.keyBytes.subarray(keys.keyStart(key), keys.keyEnd(key));
      if (await scanPrefix(view, prefix, found)) hits++;
    });
  }
  return { hits, peakInFlight };
}

/** Appends the rows of one value of a multi-shaped index; whether there were any. */
async function scanPrefix(view: ReadView, prefix: Uint8Array, found: RowIdList): Promise<boolean> {
  let any = false;
  for await (const block of view.scan({ start: prefix, end: prefixEnd(prefix) })) {
    for (let row = 0; row < block.count; row++) appendRowId(block, row, "multi", found);
    any ||= block.count > 0;
  }
  return any;
}

function appendValue(values: PackedValues, i: number, found: RowIdList): void {
  const length = values.lengths[i]!;
  if (length === absent) return;
  if (length !== rowIdBytes) throw wrongValue(length, rowIdBytes);
  found.appendBytes(values.data, values.offsets[i]!);
}
