import {
  chunkLocatorKey,
  chunkLocatorPrefix,
  CorruptionError,
  decodeKey,
  decodeValue,
  InlineChunkRangeValue,
  InlineChunkValue,
  inlineChunkKey,
  inlineChunkPrefix,
  InlineInlineDeleteValue,
  inlineRowTombstonePrefix,
  prefixEnd,
} from "@moraine/codec";
import { getOne, type ReadView, rowKey, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";

/** Names one chunk of inline rows within its table. */
export interface ChunkId {
  readonly schemaVersion: bigint;
  readonly beginSnapshot: bigint;
  readonly chunkSeq: bigint;
}

/** A chunk of consecutive row ids that one commit inlined. */
export interface InlineChunk extends ChunkId {
  readonly rowIdStart: bigint;
  readonly rowCount: number;
  readonly body: Uint8Array;
}

export function sameChunk(a: ChunkId, b: ChunkId): boolean {
  return a.schemaVersion === b.schemaVersion && a.beginSnapshot === b.beginSnapshot && a.chunkSeq === b.chunkSeq;
}

/** For each row id the snapshots at which a version of it ended, ascending. */
export type Tombstones = ReadonlyMap<bigint, readonly bigint[]>;

/** All chunks of a table, or of one of its schema versions, in key order: by schema version, then by snapshot. */
export async function* scanChunks(
  view: ReadView,
  tableId: bigint,
  schemaVersion?: bigint,
): AsyncIterableIterator<InlineChunk> {
  for await (const block of view.scan(rangeOfPrefix(inlineChunkPrefix(tableId, schemaVersion)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "inline" || key.kind !== "chunk")
        throw new CorruptionError("a foreign key among the inline chunks");
      const value = decodeValue(InlineChunkValue, rowValue(block, i));
      yield chunkOf(key, value);
    }
  }
}

/** A chunk out of its key and its record. Errors: `corruption` for more rows than its body can hold. */
export function chunkOf({ schemaVersion, beginSnapshot, chunkSeq }: ChunkId, value: InlineChunkValue): InlineChunk {
  const { rowIdStart, body } = value;
  return { schemaVersion, beginSnapshot, chunkSeq, rowIdStart, rowCount: checkedRowCount(value), body };
}

/** A record may say anything; no column takes less than a bit for a row, so that a body bounds its rows. */
function checkedRowCount({ body, rowCount }: InlineChunkValue): number {
  if (rowCount > 8n * BigInt(body.byteLength))
    throw new CorruptionError("an inline chunk of more rows than its body can hold");
  return Number(rowCount);
}

/** Tombstones of a table, or of one of its rows. */
export async function readTombstones(view: ReadView, tableId: bigint, rowId?: bigint): Promise<Tombstones> {
  const ends = new Map<bigint, bigint[]>();
  for await (const block of view.scan(rangeOfPrefix(inlineRowTombstonePrefix(tableId, rowId)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "inline" || key.kind !== "row_tombstone")
        throw new CorruptionError("a foreign key among the inline tombstones");
      const { endSnapshot } = decodeValue(InlineInlineDeleteValue, rowValue(block, i));
      const known = ends.get(key.rowId);
      if (known === undefined) ends.set(key.rowId, [endSnapshot]);
      else known.push(endSnapshot);
    }
  }
  return ends;
}

/** When the version of a row that began at `begin` ended: at its smallest tombstone above `begin` (format.md 4.3), or not yet. */
export function endOf(tombstones: Tombstones, rowId: bigint, begin: bigint): bigint | undefined {
  return tombstones.get(rowId)?.find((end) => end > begin);
}

/** Where a live inline row is kept. */
export interface LiveRow {
  readonly chunk: InlineChunk;
  readonly offset: number;
}

/**
 * Finds the live inline version of a row through the chunk locators: the locators are ordered by the last row id of their
 * chunk, so the walk begins at the first that can hold the row. Returns `undefined` for a row that is not inline or has ended.
 */
export async function findLiveRow(view: ReadView, tableId: bigint, rowId: bigint): Promise<LiveRow | undefined> {
  const range = { start: chunkLocatorPrefix(tableId, rowId), end: prefixEnd(chunkLocatorPrefix(tableId)) };
  let tombstones: Tombstones | undefined;
  for await (const block of view.scan(range)) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "inline" || key.kind !== "chunk_locator")
        throw new CorruptionError("a foreign key among the chunk locators");
      const locator = decodeValue(InlineChunkRangeValue, rowValue(block, i));
      if (locator.rowIdStart > rowId) continue;
      tombstones ??= await readTombstones(view, tableId, rowId);
      if (endOf(tombstones, rowId, key.beginSnapshot) !== undefined) continue;
      const bytes = await getOne(view, inlineChunkKey(tableId, key.schemaVersion, key.beginSnapshot, key.chunkSeq));
      if (bytes === undefined)
        throw new CorruptionError(`a chunk locator of table ${tableId} names a chunk that does not exist`);
      const chunk = chunkOf(key, decodeValue(InlineChunkValue, bytes));
      return { chunk, offset: Number(rowId - chunk.rowIdStart) };
    }
  }
  return undefined;
}

/** The locator key of a chunk. */
export function locatorKeyOf(tableId: bigint, chunk: InlineChunk): Uint8Array {
  return chunkLocatorKey(
    tableId,
    chunk.rowIdStart + BigInt(chunk.rowCount) - 1n,
    chunk.schemaVersion,
    chunk.beginSnapshot,
    chunk.chunkSeq,
  );
}
