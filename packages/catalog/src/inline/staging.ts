import {
  ConstraintError,
  encodeValue,
  InlineChunkRangeValue,
  InlineChunkValue,
  inlineChunkKey,
  inlineFileDeleteKey,
  inlineFileDeleteTableKey,
  InlineFileDeleteTableValue,
  InlineFileDeleteValue,
  InlineInlineDeleteValue,
  inlineRowTombstoneKey,
  inlineSchemaKey,
  InlineSchemaValue,
} from "@moraine/codec";
import type { WriteSet } from "../engine/pending-writes.js";
import type { InsertOp } from "../operations.js";
import { endOf, type InlineChunk, locatorKeyOf, type Tombstones } from "./chunks.js";
import { typeText } from "./arrow-access.js";
import type { InlineSchema } from "./arrow-schema.js";
import type { RegisteredSchema } from "./registry.js";
import { withoutRows } from "./slice.js";

/** An insert whose schema version is settled. */
export interface SettledInsert {
  readonly op: InsertOp;
  readonly schemaVersion: bigint;
  readonly schema: RegisteredSchema;
  /** Positions of rows that the same commit deleted again: they are never written. */
  readonly dead: ReadonlySet<number>;
}

/** Numbers the chunks of one commit: 0, 1, .. for each table and schema version (format.md 6.2). */
export class ChunkSequence {
  readonly #next = new Map<string, bigint>();

  take(tableId: bigint, schemaVersion: bigint): bigint {
    const key = `${tableId}/${schemaVersion}`;
    const next = this.#next.get(key) ?? 0n;
    this.#next.set(key, next + 1n);
    return next;
  }
}

/** Puts an insert's chunks and their locators. */
export function stageInsert(
  insert: SettledInsert,
  snapshotId: bigint,
  sequence: ChunkSequence,
  writes: WriteSet,
): void {
  const { op, schemaVersion, schema, dead } = insert;
  const runs =
    dead.size === 0
      ? [{ offset: 0, rowCount: op.rowCount, body: op.body }]
      : withoutRows(schema.parsed, op.body, op.rowCount, dead);
  for (const run of runs) {
    const chunk: InlineChunk = {
      schemaVersion,
      beginSnapshot: snapshotId,
      chunkSeq: sequence.take(op.tableId, schemaVersion),
      rowIdStart: op.rowIdStart + BigInt(run.offset),
      rowCount: run.rowCount,
      body: run.body,
    };
    stageChunk(op.tableId, chunk, writes);
  }
}

/** Puts a chunk and its locator. */
export function stageChunk(tableId: bigint, chunk: InlineChunk, writes: WriteSet): void {
  const { schemaVersion, beginSnapshot, chunkSeq, rowIdStart, rowCount, body } = chunk;
  writes.put(
    inlineChunkKey(tableId, schemaVersion, beginSnapshot, chunkSeq),
    encodeValue(InlineChunkValue, { body, rowIdStart, rowCount: BigInt(rowCount), dataFileId: undefined }),
  );
  writes.put(
    locatorKeyOf(tableId, chunk),
    encodeValue(InlineChunkRangeValue, { rowIdStart, schemaVersion, beginSnapshot, chunkSeq }),
  );
}

/** Removes a chunk and its locator. */
export function unstageChunk(tableId: bigint, chunk: InlineChunk, writes: WriteSet): void {
  writes.delete(inlineChunkKey(tableId, chunk.schemaVersion, chunk.beginSnapshot, chunk.chunkSeq));
  writes.delete(locatorKeyOf(tableId, chunk));
}

/** Puts the schema record of a version that has none; refuses another schema for one that has (format.md 6.2). */
export function stageSchema(
  tableId: bigint,
  schemaVersion: bigint,
  recorded: RegisteredSchema | null,
  wanted: RegisteredSchema,
  writes: WriteSet,
): void {
  if (recorded === wanted) return;
  if (recorded === null) {
    writes.put(
      inlineSchemaKey(tableId, schemaVersion),
      encodeValue(InlineSchemaValue, { arrowSchema: wanted.bytes, sameAsVersion: undefined }),
    );
    return;
  }
  if (!sameFields(recorded.parsed, wanted.parsed)) {
    throw new ConstraintError(
      `schema version ${schemaVersion} of table ${tableId} has inline rows of another Arrow schema`,
      {
        remedy: "Insert rows with the Arrow schema that this version began with.",
      },
    );
  }
}

/** Two writers may describe the same columns in different bytes: metadata, flags. Names and types decide. */
function sameFields(a: InlineSchema, b: InlineSchema): boolean {
  return (
    a.fields.length === b.fields.length &&
    a.fields.every(
      (field, i) => field.name === b.fields[i]?.name && typeText(field.type) === typeText(b.fields[i].type),
    )
  );
}

/** Ends a row with this commit. */
export function stageTombstone(tableId: bigint, rowId: bigint, snapshotId: bigint, writes: WriteSet): void {
  writes.put(
    inlineRowTombstoneKey(tableId, rowId, snapshotId),
    encodeValue(InlineInlineDeleteValue, { endSnapshot: snapshotId }),
  );
}

/** Records rows of data files as deleted, by position, with the marker that the table has such records. */
export function stageFileRowDeletes(
  tableId: bigint,
  positionsByFile: ReadonlyMap<bigint, ReadonlySet<number>>,
  snapshotId: bigint,
  writes: WriteSet,
): void {
  for (const [dataFileId, positions] of positionsByFile) {
    for (const position of positions) {
      writes.put(
        inlineFileDeleteKey(tableId, dataFileId, BigInt(position)),
        encodeValue(InlineFileDeleteValue, { beginSnapshot: snapshotId }),
      );
    }
  }
  if (positionsByFile.size > 0) {
    writes.put(inlineFileDeleteTableKey(tableId), encodeValue(InlineFileDeleteTableValue, {}));
  }
}

/** Removes a drained chunk, its locator and the tombstones of its rows' versions. */
export function stageDrain(tableId: bigint, chunk: InlineChunk, tombstones: Tombstones, writes: WriteSet): void {
  unstageChunk(tableId, chunk, writes);
  for (let offset = 0; offset < chunk.rowCount; offset++) {
    const rowId = chunk.rowIdStart + BigInt(offset);
    const end = endOf(tombstones, rowId, chunk.beginSnapshot);
    if (end !== undefined) writes.delete(inlineRowTombstoneKey(tableId, rowId, end));
  }
}
