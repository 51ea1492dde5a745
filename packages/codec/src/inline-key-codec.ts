import { inlineOperationTags, inlineTags, packIds, subspaceTags } from "./keys.js";
import type { KeyReader } from "./key-reader.js";

/** Key of the schema record of inline rows, or of the marker that it takes no more rows. */
export interface InlineSchemaKey {
  readonly subspace: "inline";
  readonly kind: "schema" | "schema_dropped";
  readonly tableId: bigint;
  readonly schemaVersion: bigint;
}

/** Key of a chunk of inline rows. Nothing writes archived ones. */
export interface InlineChunkKey {
  readonly subspace: "inline";
  readonly kind: "chunk";
  readonly archived: boolean;
  readonly tableId: bigint;
  readonly schemaVersion: bigint;
  readonly beginSnapshot: bigint;
  readonly chunkSeq: bigint;
}

/** Key of an inline row's tombstone in formats 1 to 8. Format 9 writes `InlineRowTombstoneKey`. */
export interface InlineRowDeleteKey {
  readonly subspace: "inline";
  readonly kind: "row_delete";
  readonly archived: boolean;
  readonly tableId: bigint;
  readonly rowId: bigint;
}

/** Key of one deletion of an inline row. */
export interface InlineRowTombstoneKey {
  readonly subspace: "inline";
  readonly kind: "row_tombstone";
  readonly tableId: bigint;
  readonly rowId: bigint;
  readonly endSnapshot: bigint;
}

/** Key of one deleted row of a data file, by physical position. Nothing writes archived ones. */
export interface InlineFileDeleteKey {
  readonly subspace: "inline";
  readonly kind: "file_delete";
  readonly archived: boolean;
  readonly tableId: bigint;
  readonly dataFileId: bigint;
  readonly position: bigint;
}

/** Key of the marker that a table has had inline file deletes. */
export interface InlineFileDeleteTableKey {
  readonly subspace: "inline";
  readonly kind: "file_delete_table";
  readonly tableId: bigint;
}

/** Key of a chunk's locator. */
export interface ChunkLocatorKey {
  readonly subspace: "inline";
  readonly kind: "chunk_locator";
  readonly tableId: bigint;
  readonly rowIdEnd: bigint;
  readonly schemaVersion: bigint;
  readonly beginSnapshot: bigint;
  readonly chunkSeq: bigint;
}

/** Key of a chunk's locator in formats 6 and 7. Never written. */
export interface ChunkRangeKey {
  readonly subspace: "inline";
  readonly kind: "chunk_range";
  readonly tableId: bigint;
  readonly rowIdEnd: bigint;
}

/** The keys of inline data. */
export type InlineKey =
  | InlineSchemaKey
  | InlineChunkKey
  | InlineRowDeleteKey
  | InlineRowTombstoneKey
  | InlineFileDeleteKey
  | InlineFileDeleteTableKey
  | ChunkLocatorKey
  | ChunkRangeKey;

function inlineIds(key: InlineKey): [tags: readonly number[], ids: readonly bigint[], names: readonly string[]] {
  switch (key.kind) {
    case "schema":
    case "schema_dropped":
      return [[inlineTags[key.kind]], [key.tableId, key.schemaVersion], ["tableId", "schemaVersion"]];
    case "chunk":
      return [
        [key.archived ? inlineTags.archived : inlineTags.live, inlineOperationTags.chunk],
        [key.tableId, key.schemaVersion, key.beginSnapshot, key.chunkSeq],
        ["tableId", "schemaVersion", "beginSnapshot", "chunkSeq"],
      ];
    case "row_delete":
      return [
        [key.archived ? inlineTags.archived : inlineTags.live, inlineOperationTags.row_delete],
        [key.tableId, key.rowId],
        ["tableId", "rowId"],
      ];
    case "row_tombstone":
      return [
        [inlineTags.row_tombstone],
        [key.tableId, key.rowId, key.endSnapshot],
        ["tableId", "rowId", "endSnapshot"],
      ];
    case "file_delete":
      return [
        [key.archived ? inlineTags.archived : inlineTags.live, inlineOperationTags.file_delete],
        [key.tableId, key.dataFileId, key.position],
        ["tableId", "dataFileId", "position"],
      ];
    case "file_delete_table":
      return [[inlineTags.file_delete_table], [key.tableId], ["tableId"]];
    case "chunk_locator":
      return [
        [inlineTags.chunk_locator],
        [key.tableId, key.rowIdEnd, key.schemaVersion, key.beginSnapshot, key.chunkSeq],
        ["tableId", "rowIdEnd", "schemaVersion", "beginSnapshot", "chunkSeq"],
      ];
    case "chunk_range":
      return [[inlineTags.chunk_range], [key.tableId, key.rowIdEnd], ["tableId", "rowIdEnd"]];
  }
}

/** Bytes of an inline key. */
export function encodeInlineKey(key: InlineKey): Uint8Array {
  const [tags, ids, names] = inlineIds(key);
  return packIds([subspaceTags.inline, ...tags], ids, names);
}

/** Reads an inline key after its subspace byte. */
export function readInlineKey(reader: KeyReader): InlineKey {
  const kind = reader.byte();
  switch (kind) {
    case inlineTags.schema:
    case inlineTags.schema_dropped:
      return {
        subspace: "inline",
        kind: kind === inlineTags.schema ? "schema" : "schema_dropped",
        tableId: reader.id(),
        schemaVersion: reader.id(),
      };
    case inlineTags.live:
    case inlineTags.archived:
      return readOperationKey(reader, kind === inlineTags.archived);
    case inlineTags.file_delete_table:
      return { subspace: "inline", kind: "file_delete_table", tableId: reader.id() };
    case inlineTags.chunk_range:
      return { subspace: "inline", kind: "chunk_range", tableId: reader.id(), rowIdEnd: reader.id() };
    case inlineTags.chunk_locator:
      return {
        subspace: "inline",
        kind: "chunk_locator",
        tableId: reader.id(),
        rowIdEnd: reader.id(),
        schemaVersion: reader.id(),
        beginSnapshot: reader.id(),
        chunkSeq: reader.id(),
      };
    case inlineTags.row_tombstone:
      return {
        subspace: "inline",
        kind: "row_tombstone",
        tableId: reader.id(),
        rowId: reader.id(),
        endSnapshot: reader.id(),
      };
    default:
      throw reader.unknown("inline kind", kind);
  }
}

function readOperationKey(reader: KeyReader, archived: boolean): InlineKey {
  const operation = reader.byte();
  switch (operation) {
    case inlineOperationTags.chunk:
      return {
        subspace: "inline",
        kind: "chunk",
        archived,
        tableId: reader.id(),
        schemaVersion: reader.id(),
        beginSnapshot: reader.id(),
        chunkSeq: reader.id(),
      };
    case inlineOperationTags.row_delete:
      return { subspace: "inline", kind: "row_delete", archived, tableId: reader.id(), rowId: reader.id() };
    case inlineOperationTags.file_delete:
      return {
        subspace: "inline",
        kind: "file_delete",
        archived,
        tableId: reader.id(),
        dataFileId: reader.id(),
        position: reader.id(),
      };
    default:
      throw reader.unknown("inline operation", operation);
  }
}
