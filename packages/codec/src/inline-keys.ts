import { inlineOperationTags, inlineTags, packIds, subspaceTags } from "./keys.js";

const ofTable = ["tableId"];

/** Key of the Arrow schema that the inline rows of one table and schema version share. */
export function inlineSchemaKey(tableId: bigint, schemaVersion: bigint): Uint8Array {
  return packIds([subspaceTags.inline, inlineTags.schema], [tableId, schemaVersion], ["tableId", "schemaVersion"]);
}

export function inlineSchemaPrefix(tableId?: bigint): Uint8Array {
  return packIds([subspaceTags.inline, inlineTags.schema], tableId === undefined ? [] : [tableId], ofTable);
}

/** Key of one chunk of inline rows. */
export function inlineChunkKey(
  tableId: bigint,
  schemaVersion: bigint,
  beginSnapshot: bigint,
  chunkSeq: bigint,
): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.live, inlineOperationTags.chunk],
    [tableId, schemaVersion, beginSnapshot, chunkSeq],
    ["tableId", "schemaVersion", "beginSnapshot", "chunkSeq"],
  );
}

/** Prefix of the chunks of one table, or of one of its schema versions. */
export function inlineChunkPrefix(tableId: bigint, schemaVersion?: bigint): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.live, inlineOperationTags.chunk],
    schemaVersion === undefined ? [tableId] : [tableId, schemaVersion],
    ["tableId", "schemaVersion"],
  );
}

/** Key of one deletion of one inline row (format 9). It ends the versions of the row that began before `endSnapshot`. */
export function inlineRowTombstoneKey(tableId: bigint, rowId: bigint, endSnapshot: bigint): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.row_tombstone],
    [tableId, rowId, endSnapshot],
    ["tableId", "rowId", "endSnapshot"],
  );
}

export function inlineRowTombstonePrefix(tableId: bigint, rowId?: bigint): Uint8Array {
  return packIds([subspaceTags.inline, inlineTags.row_tombstone], rowId === undefined ? [tableId] : [tableId, rowId], [
    "tableId",
    "rowId",
  ]);
}

/** Key of one deleted row of a data file, by its physical position (counted from 0 over the whole file). */
export function inlineFileDeleteKey(tableId: bigint, dataFileId: bigint, position: bigint): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.live, inlineOperationTags.file_delete],
    [tableId, dataFileId, position],
    ["tableId", "dataFileId", "position"],
  );
}

export function inlineFileDeletePrefix(tableId: bigint, dataFileId?: bigint): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.live, inlineOperationTags.file_delete],
    dataFileId === undefined ? [tableId] : [tableId, dataFileId],
    ["tableId", "dataFileId"],
  );
}

/** Key of the marker that a table has had inline file deletes. */
export function inlineFileDeleteTableKey(tableId: bigint): Uint8Array {
  return packIds([subspaceTags.inline, inlineTags.file_delete_table], [tableId], ofTable);
}

/** Prefix of the markers of all tables that have had inline file deletes. */
export function inlineFileDeleteTablePrefix(): Uint8Array {
  return packIds([subspaceTags.inline, inlineTags.file_delete_table], [], ofTable);
}

/** Key of the marker that a schema version takes no more inline rows. */
export function inlineSchemaDroppedKey(tableId: bigint, schemaVersion: bigint): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.schema_dropped],
    [tableId, schemaVersion],
    ["tableId", "schemaVersion"],
  );
}

/** Of one table, or of all of them. */
export function inlineSchemaDroppedPrefix(tableId?: bigint): Uint8Array {
  return packIds([subspaceTags.inline, inlineTags.schema_dropped], tableId === undefined ? [] : [tableId], ofTable);
}

/** Key of the locator of a chunk, sorted by its last row id (inclusive), so that a row finds its chunk by one seek. */
export function chunkLocatorKey(
  tableId: bigint,
  rowIdEnd: bigint,
  schemaVersion: bigint,
  beginSnapshot: bigint,
  chunkSeq: bigint,
): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.chunk_locator],
    [tableId, rowIdEnd, schemaVersion, beginSnapshot, chunkSeq],
    ["tableId", "rowIdEnd", "schemaVersion", "beginSnapshot", "chunkSeq"],
  );
}

export function chunkLocatorPrefix(tableId: bigint, rowIdEnd?: bigint): Uint8Array {
  return packIds(
    [subspaceTags.inline, inlineTags.chunk_locator],
    rowIdEnd === undefined ? [tableId] : [tableId, rowIdEnd],
    ["tableId", "rowIdEnd"],
  );
}
