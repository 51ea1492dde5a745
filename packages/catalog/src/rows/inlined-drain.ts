import { inlineRowTombstoneKey } from "@moraine/codec";
import type { WriteSet } from "../engine/pending-writes.js";
import { endOf, type InlineChunk, readTombstones, scanChunks, type Tombstones } from "../inline/chunks.js";
import type { InlineSchema } from "../inline/arrow-schema.js";
import { stageChunk, stageDrain, unstageChunk } from "../inline/staging.js";
import type { ReadView } from "@moraine/store";
import { decodeChunkColumns, encodeChunkColumns } from "./inline-columns.js";
import type { RowSet } from "./row-set.js";
import { sliceColumn } from "./slice-columns.js";

/** A chunk of which rows are deleted, with their positions, and those of them that were live. */
export interface DrainedChunk {
  readonly chunk: InlineChunk;
  readonly offsets: readonly number[];
  readonly alive: readonly number[];
}

export function isAlive(tombstones: Tombstones, chunk: InlineChunk, offset: number): boolean {
  return endOf(tombstones, chunk.rowIdStart + BigInt(offset), chunk.beginSnapshot) === undefined;
}

/**
 * Removes rows from the chunks of one inlined table, with the tombstones of their versions. What is left of a chunk is written
 * again, in runs of consecutive rows. Rows that no chunk holds stay in `wanted`.
 */
export async function drainRows(
  view: ReadView,
  table: { readonly tableId: bigint; readonly schemaVersion: bigint; readonly schema: InlineSchema },
  wanted: RowSet,
  writes: WriteSet,
): Promise<DrainedChunk[]> {
  const { tableId, schemaVersion, schema } = table;
  const tombstones = await readTombstones(view, tableId);
  const drained: DrainedChunk[] = [];
  const lastSequence = new Map<bigint, bigint>();
  for await (const chunk of scanChunks(view, tableId)) {
    if (chunk.schemaVersion !== schemaVersion) continue;
    lastSequence.set(chunk.beginSnapshot, chunk.chunkSeq);
    const offsets = wanted.takeFrom(chunk);
    if (offsets.length === 0) continue;
    drained.push({ chunk, offsets, alive: offsets.filter((offset) => isAlive(tombstones, chunk, offset)) });
  }
  for (const { chunk, offsets } of drained) {
    if (offsets.length === chunk.rowCount) {
      stageDrain(tableId, chunk, tombstones, writes);
      continue;
    }
    unstageChunk(tableId, chunk, writes);
    for (const offset of offsets) {
      const rowId = chunk.rowIdStart + BigInt(offset);
      const end = endOf(tombstones, rowId, chunk.beginSnapshot);
      if (end !== undefined) writes.delete(inlineRowTombstoneKey(tableId, rowId, end));
    }
    let chunkSeq = chunk.chunkSeq;
    for (const rest of restOf(schema, chunk, new Set(offsets))) {
      stageChunk(tableId, { ...rest, chunkSeq }, writes);
      // The first part keeps the chunk's number, the others take the next ones that are free.
      chunkSeq = (lastSequence.get(chunk.beginSnapshot) ?? 0n) + 1n;
      lastSequence.set(chunk.beginSnapshot, chunkSeq);
    }
  }
  return drained;
}

/** What is left of a chunk without some of its rows. */
function* restOf(schema: InlineSchema, chunk: InlineChunk, gone: ReadonlySet<number>): IterableIterator<InlineChunk> {
  const columns = decodeChunkColumns(schema, chunk.body, chunk.rowCount);
  let first = 0;
  while (first < chunk.rowCount) {
    let end = first;
    while (end < chunk.rowCount && !gone.has(end)) end += 1;
    const rowCount = end - first;
    if (rowCount > 0) {
      const { body } = encodeChunkColumns(
        columns.map((column) => sliceColumn(column, first, end)),
        rowCount,
      );
      yield { ...chunk, rowIdStart: chunk.rowIdStart + BigInt(first), rowCount, body };
    }
    first = end + 1;
  }
}
