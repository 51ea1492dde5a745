import { checkU64, putU64 } from "./bytes.js";
import { type EntityKind, entityKinds } from "./entity-kinds.js";
import { InvalidArgumentError } from "./errors.js";

/** First byte of every key: the subspace, which is also the store's segment. Permanent. */
export const subspaceTags = {
  sys: 0x02,
  snapshot: 0x03,
  current: 0x04,
  history: 0x05,
  inline: 0x06,
  index: 0x07,
  schema_version: 0x08,
  changelog: 0x09,
} as const;

/** Second byte of a `current` key. */
export const currentTags = { entity: 0x02, gc_file: 0x03 } as const;

/** Second byte of a `sys` key. */
export const sysTags = {
  format: 0x02,
  head: 0x03,
  migration: 0x04,
  maintenance_status: 0x05,
  loose_rows: 0x06,
  lakes: 0x07,
} as const;

/** Second byte of an `inline` key; `live` and `archived` are followed by a byte of `inlineOperationTags`. */
export const inlineTags = {
  schema: 0x02,
  live: 0x03,
  archived: 0x04,
  file_delete_table: 0x05,
  chunk_range: 0x06,
  schema_dropped: 0x07,
  chunk_locator: 0x08,
  row_tombstone: 0x09,
} as const;

/** Third byte of an `inline` key of the `live` or `archived` form. */
export const inlineOperationTags = { chunk: 0x02, row_delete: 0x03, file_delete: 0x04 } as const;

/** Second byte of an `index` key. */
export const indexShapeTags = { unique: 0x02, multi: 0x03 } as const;

/** A key's shape inside an index: one row per value, or value then row id. */
export type IndexShape = keyof typeof indexShapeTags;

/** Length of one id inside a key, in bytes. */
export const idBytes = 8;

/** Tag bytes followed by ids: the form of every key but an index entry's. `names` are for messages. */
export function packIds(tags: readonly number[], ids: readonly bigint[], names: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(tags.length + idBytes * ids.length);
  for (let i = 0; i < tags.length; i++) bytes[i] = tags[i] as number;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as bigint;
    checkU64(id, names[i] ?? "id");
    putU64(bytes, tags.length + idBytes * i, id);
  }
  return bytes;
}

function checkCount(kind: EntityKind, count: number, exact: boolean): void {
  const { components } = entityKinds[kind];
  if (count > components || (exact && count !== components)) {
    throw new InvalidArgumentError(`a ${kind} key takes ${exact ? "" : "at most "}${components} ids, got ${count}`, {
      remedy: "Pass the ids in the order that entityKinds documents.",
    });
  }
}

function checkVersioned(kind: EntityKind): void {
  if (!entityKinds[kind].versioned) {
    throw new InvalidArgumentError(`${kind} records have no history`, { remedy: "Use the current key of this kind." });
  }
}

const none: readonly string[] = [];
const ofTable = ["tableId"];

// Constants of single records. Callers must not write into them.
export const sysFormatKey: Uint8Array = packIds([subspaceTags.sys, sysTags.format], [], none);
export const sysHeadKey: Uint8Array = packIds([subspaceTags.sys, sysTags.head], [], none);
export const sysMigrationKey: Uint8Array = packIds([subspaceTags.sys, sysTags.migration], [], none);
export const sysMaintenanceStatusKey: Uint8Array = packIds([subspaceTags.sys, sysTags.maintenance_status], [], none);
export const sysLooseRowsKey: Uint8Array = packIds([subspaceTags.sys, sysTags.loose_rows], [], none);
export const sysLakesKey: Uint8Array = packIds([subspaceTags.sys, sysTags.lakes], [], none);

export function snapshotKey(snapshotId: bigint): Uint8Array {
  return packIds([subspaceTags.snapshot], [snapshotId], ["snapshotId"]);
}

export function snapshotPrefix(): Uint8Array {
  return packIds([subspaceTags.snapshot], [], none);
}

export function changelogKey(snapshotId: bigint): Uint8Array {
  return packIds([subspaceTags.changelog], [snapshotId], ["snapshotId"]);
}

export function changelogPrefix(): Uint8Array {
  return packIds([subspaceTags.changelog], [], none);
}

export function schemaVersionKey(tableId: bigint, beginSnapshot: bigint): Uint8Array {
  return packIds([subspaceTags.schema_version], [tableId, beginSnapshot], ["tableId", "beginSnapshot"]);
}

export function schemaVersionPrefix(tableId?: bigint): Uint8Array {
  return packIds([subspaceTags.schema_version], tableId === undefined ? [] : [tableId], ofTable);
}

/** Key of the live record of an entity. Ids in the order that `entityKinds` documents. */
export function currentKey(kind: EntityKind, ...ids: bigint[]): Uint8Array {
  checkCount(kind, ids.length, true);
  return packIds([subspaceTags.current, currentTags.entity, entityKinds[kind].discriminant], ids, none);
}

/** Prefix of all live records of a kind, or of those under the leading ids given. */
export function currentPrefix(kind: EntityKind, ...leadingIds: bigint[]): Uint8Array {
  checkCount(kind, leadingIds.length, false);
  return packIds([subspaceTags.current, currentTags.entity, entityKinds[kind].discriminant], leadingIds, none);
}

/** Key of a superseded version, which ended at `endSnapshot`. Refuses kinds without history. */
export function historyKey(kind: EntityKind, ids: readonly bigint[], endSnapshot: bigint): Uint8Array {
  checkVersioned(kind);
  checkCount(kind, ids.length, true);
  return packIds([subspaceTags.history, entityKinds[kind].discriminant], [...ids, endSnapshot], none);
}

/** Prefix of all superseded versions of a kind, or of those under the leading ids given. */
export function historyPrefix(kind: EntityKind, ...leadingIds: bigint[]): Uint8Array {
  checkVersioned(kind);
  checkCount(kind, leadingIds.length, false);
  return packIds([subspaceTags.history, entityKinds[kind].discriminant], leadingIds, none);
}

/** Key of a file that is scheduled for deletion. */
export function gcFileKey(dataFileId: bigint): Uint8Array {
  return packIds([subspaceTags.current, currentTags.gc_file], [dataFileId], ["dataFileId"]);
}

export function gcFilePrefix(): Uint8Array {
  return packIds([subspaceTags.current, currentTags.gc_file], [], none);
}

/** Prefix of all entries of one shape, or of those of one index. */
export function indexPrefix(shape: IndexShape, indexId?: bigint): Uint8Array {
  return packIds([subspaceTags.index, indexShapeTags[shape]], indexId === undefined ? [] : [indexId], ["indexId"]);
}
