import { checkU64, putU64 } from "./bytes.js";
import { type EntityKind, entityKindOf, entityKinds } from "./entity-kinds.js";
import { CorruptionError } from "./errors.js";
import { encodeInlineKey, type InlineKey, readInlineKey } from "./inline-key-codec.js";
import { framedLength, putFramed } from "./key-frame.js";
import { KeyReader } from "./key-reader.js";
import {
  changelogKey,
  currentKey,
  currentTags,
  gcFileKey,
  historyKey,
  idBytes,
  indexPrefix,
  indexShapeTags,
  schemaVersionKey,
  snapshotKey,
  subspaceTags,
  sysFormatKey,
  sysHeadKey,
  sysLakesKey,
  sysLooseRowsKey,
  sysMaintenanceStatusKey,
  sysMigrationKey,
  sysTags,
} from "./keys.js";

/** An entity's kind and its ids in key order, for instance `[tableId, dataFileId]`. */
export interface EntityKey {
  readonly kind: EntityKind;
  readonly ids: readonly bigint[];
}

/** The records of the `sys` subspace. */
export type SysKind = keyof typeof sysTags;

/**
 * Key of an index entry without its meaning: `canonical` holds the components of the columns, each with its flag and its
 * own framing. `decodeIndexKey` reads them by the index's layout.
 */
export type IndexEntryKey =
  | { readonly subspace: "index"; readonly shape: "unique"; readonly indexId: bigint; readonly canonical: Uint8Array }
  | {
      readonly subspace: "index";
      readonly shape: "multi";
      readonly indexId: bigint;
      readonly canonical: Uint8Array;
      readonly rowId: bigint;
    };

/** Every key of a store, as its parts. */
export type Key =
  | { readonly subspace: "sys"; readonly kind: SysKind }
  | { readonly subspace: "snapshot" | "changelog"; readonly snapshotId: bigint }
  | { readonly subspace: "current"; readonly entity: EntityKey }
  | { readonly subspace: "gc_file"; readonly dataFileId: bigint }
  | { readonly subspace: "history"; readonly entity: EntityKey; readonly endSnapshot: bigint }
  | { readonly subspace: "schema_version"; readonly tableId: bigint; readonly beginSnapshot: bigint }
  | InlineKey
  | IndexEntryKey;

/**
 * Bytes of a key. The byte order of keys is the order of their parts.
 *
 * Errors: `invalid_argument` for an id outside 0 to 2^64 - 1, a wrong number of ids, or history of a kind without any.
 */
export function encodeKey(key: Key): Uint8Array {
  switch (key.subspace) {
    case "sys":
      return sysKeys[key.kind].slice();
    case "snapshot":
      return snapshotKey(key.snapshotId);
    case "changelog":
      return changelogKey(key.snapshotId);
    case "current":
      return currentKey(key.entity.kind, ...key.entity.ids);
    case "gc_file":
      return gcFileKey(key.dataFileId);
    case "history":
      return historyKey(key.entity.kind, key.entity.ids, key.endSnapshot);
    case "schema_version":
      return schemaVersionKey(key.tableId, key.beginSnapshot);
    case "inline":
      return encodeInlineKey(key);
    case "index":
      return encodeIndexEntryKey(key);
  }
}

const sysKeys: Readonly<Record<SysKind, Uint8Array>> = {
  format: sysFormatKey,
  head: sysHeadKey,
  migration: sysMigrationKey,
  maintenance_status: sysMaintenanceStatusKey,
  loose_rows: sysLooseRowsKey,
  lakes: sysLakesKey,
};

function encodeIndexEntryKey(key: IndexEntryKey): Uint8Array {
  const prefix = indexPrefix(key.shape, key.indexId);
  const rowIdAt = prefix.length + framedLength(key.canonical);
  const bytes = new Uint8Array(rowIdAt + (key.shape === "multi" ? idBytes : 0));
  bytes.set(prefix);
  putFramed(bytes, prefix.length, key.canonical);
  if (key.shape === "multi") {
    checkU64(key.rowId, "rowId");
    putU64(bytes, rowIdAt, key.rowId);
  }
  return bytes;
}

/**
 * Parts of a key. Encoding them again gives the same bytes.
 *
 * Errors: `corruption` for bytes that are not a key of any format.
 */
export function decodeKey(bytes: Uint8Array): Key {
  const reader = new KeyReader(bytes);
  const key = readKey(reader);
  reader.end();
  return key;
}

function readKey(reader: KeyReader): Key {
  const subspace = reader.byte();
  switch (subspace) {
    case subspaceTags.sys:
      return { subspace: "sys", kind: readSysKind(reader) };
    case subspaceTags.snapshot:
      return { subspace: "snapshot", snapshotId: reader.id() };
    case subspaceTags.changelog:
      return { subspace: "changelog", snapshotId: reader.id() };
    case subspaceTags.current:
      return readCurrentKey(reader);
    case subspaceTags.history:
      return readHistoryKey(reader);
    case subspaceTags.schema_version:
      return { subspace: "schema_version", tableId: reader.id(), beginSnapshot: reader.id() };
    case subspaceTags.inline:
      return readInlineKey(reader);
    case subspaceTags.index:
      return readIndexEntryKey(reader);
    default:
      throw reader.unknown("subspace", subspace);
  }
}

function readSysKind(reader: KeyReader): SysKind {
  const kind = reader.byte();
  switch (kind) {
    case sysTags.format:
      return "format";
    case sysTags.head:
      return "head";
    case sysTags.migration:
      return "migration";
    case sysTags.maintenance_status:
      return "maintenance_status";
    case sysTags.loose_rows:
      return "loose_rows";
    case sysTags.lakes:
      return "lakes";
    default:
      throw reader.unknown("sys kind", kind);
  }
}

function readCurrentKey(reader: KeyReader): Key {
  const kind = reader.byte();
  switch (kind) {
    case currentTags.entity:
      return { subspace: "current", entity: readEntityKey(reader) };
    case currentTags.gc_file:
      return { subspace: "gc_file", dataFileId: reader.id() };
    default:
      throw reader.unknown("current kind", kind);
  }
}

function readHistoryKey(reader: KeyReader): Key {
  const entity = readEntityKey(reader);
  if (!entityKinds[entity.kind].versioned) {
    throw new CorruptionError(`key: history of a ${entity.kind} record, which has none`);
  }
  return { subspace: "history", entity, endSnapshot: reader.id() };
}

function readEntityKey(reader: KeyReader): EntityKey {
  const discriminant = reader.byte();
  const kind = entityKindOf(discriminant);
  if (kind === undefined) throw reader.unknown("entity kind", discriminant);
  const ids: bigint[] = [];
  for (let i = 0; i < entityKinds[kind].components; i++) ids.push(reader.id());
  return { kind, ids };
}

function readIndexEntryKey(reader: KeyReader): Key {
  const shape = reader.byte();
  switch (shape) {
    case indexShapeTags.unique:
      return { subspace: "index", shape: "unique", indexId: reader.id(), canonical: reader.framed() };
    case indexShapeTags.multi:
      return {
        subspace: "index",
        shape: "multi",
        indexId: reader.id(),
        canonical: reader.framed(),
        rowId: reader.id(),
      };
    default:
      throw reader.unknown("index shape", shape);
  }
}
