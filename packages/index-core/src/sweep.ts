import { compareBytes, ConfigurationError, indexPrefix, prefixEnd } from "@moraine/codec";
import { keyAt, type PackedKeys, type ReadView, type RowBlock } from "@moraine/store";
import { successor } from "./bytes.js";
import { indexIdOfKey } from "./index-id-of-key.js";
import { scanBlockRows } from "./limits.js";

const shapes = ["unique", "multi"] as const;

/** One bounded step of reclaiming a dropped index. */
export interface SweepStep {
  /** Keys to delete in one batch. */
  readonly dead: PackedKeys;
  /** Where the next step begins; `undefined` when the index holds nothing beyond these keys. */
  readonly resumeAt: Uint8Array | undefined;
}

/**
 * Up to `limit` entries of an index that no live definition names, to be deleted. Nothing is written here, and the caller
 * answers for the index being dead. Pass the last step's `resumeAt` on, so that a step does not walk over the
 * tombstones that the steps before it left (specification, "Reclamation").
 *
 * @throws ConfigurationError when `limit` is not a whole number above 0.
 */
export async function sweepIndex(
  view: ReadView,
  indexId: bigint,
  limit: number,
  resumeAt?: Uint8Array,
): Promise<SweepStep> {
  if (!(Number.isSafeInteger(limit) && limit > 0)) {
    throw new ConfigurationError("limit of a sweep is not a whole number above 0", {
      remedy: "Give the number of entries that one batch may delete.",
    });
  }
  const blocks: RowBlock[] = [];
  let left = limit;
  for (const shape of shapes) {
    if (left === 0) break;
    const prefix = indexPrefix(shape, indexId);
    const end = prefixEnd(prefix);
    const start = resumeAt !== undefined && later(resumeAt, prefix) ? resumeAt : prefix;
    if (end !== undefined && !later(end, start)) continue;
    for await (const block of view.scan({ start, end }, { limit: left, blockRows: Math.min(left, scanBlockRows) })) {
      blocks.push(block);
      left -= block.count;
    }
  }
  const dead = keysOf(blocks);
  return { dead, resumeAt: left === 0 ? successor(keyAt(dead, limit - 1)) : undefined };
}

/** The keys of rows, back to back. */
function keysOf(blocks: readonly RowBlock[]): PackedKeys {
  let rows = 0;
  let bytes = 0;
  for (const { count, data } of blocks) {
    rows += count;
    bytes += data.length;
  }
  const keys = new Uint8Array(bytes);
  const ends = new Uint32Array(rows);
  let at = 0;
  let row = 0;
  for (const block of blocks) {
    for (let i = 0, from = 0; i < block.count; i++) {
      const keyEnd = block.ends[2 * i]!;
      for (; from < keyEnd; from++) keys[at++] = block.data[from]!;
      ends[row++] = at;
      from = block.ends[2 * i + 1]!;
    }
  }
  return { data: keys.subarray(0, at), ends };
}

/**
 * Ids of the indexes that hold entries although `isLive` does not know them, ascending. Each index found costs one seek a
 * shape: the search steps over a whole index at once and never reads on in it. Ids are not reused, so that a dead id stays
 * dead.
 */
export async function findDeadIndexes(view: ReadView, isLive: (indexId: bigint) => boolean): Promise<bigint[]> {
  const dead = new Set<bigint>();
  for (const shape of shapes) {
    const end = prefixEnd(indexPrefix(shape));
    let start: Uint8Array | undefined = indexPrefix(shape);
    while (start !== undefined) {
      const indexId = await firstIndexId(view, start, end);
      if (indexId === undefined) break;
      if (!isLive(indexId)) dead.add(indexId);
      start = prefixEnd(indexPrefix(shape, indexId));
    }
  }
  return [...dead].toSorted((left, right) => (left < right ? -1 : 1));
}

async function firstIndexId(
  view: ReadView,
  start: Uint8Array,
  end: Uint8Array | undefined,
): Promise<bigint | undefined> {
  for await (const block of view.scan({ start, end }, { limit: 1, blockRows: 1 })) {
    if (block.count > 0) return indexIdOfKey(block.data, 0, block.ends[0]!);
  }
  return undefined;
}

function later(left: Uint8Array, right: Uint8Array): boolean {
  return compareBytes(left, right) > 0;
}
