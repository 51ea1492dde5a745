import { describe, expect, test } from "vitest";
import { expectError } from "../test/support/errors.js";
import { toHex } from "../test/support/golden.js";
import {
  changelogKey,
  changelogPrefix,
  chunkLocatorKey,
  chunkLocatorPrefix,
  compareBytes,
  currentKey,
  currentPrefix,
  encodeKey,
  type EntityKind,
  entityKinds,
  gcFileKey,
  gcFilePrefix,
  historyKey,
  historyPrefix,
  indexPrefix,
  inlineChunkKey,
  inlineChunkPrefix,
  inlineFileDeleteKey,
  inlineFileDeletePrefix,
  inlineFileDeleteTableKey,
  inlineRowTombstoneKey,
  inlineRowTombstonePrefix,
  inlineSchemaDroppedKey,
  inlineSchemaKey,
  inlineSchemaPrefix,
  type Key,
  prefixEnd,
  schemaVersionKey,
  schemaVersionPrefix,
  snapshotKey,
  snapshotPrefix,
  sysFormatKey,
  sysHeadKey,
  sysLakesKey,
  sysLooseRowsKey,
  sysMaintenanceStatusKey,
  sysMigrationKey,
} from "./index.js";

const kinds = Object.keys(entityKinds) as EntityKind[];
const idsOf = (kind: EntityKind, first: bigint): bigint[] => [first, 21n, 22n].slice(0, entityKinds[kind].components);
const startsWith = (key: Uint8Array, prefix: Uint8Array): boolean => toHex(key).startsWith(toHex(prefix));

const inline = { subspace: "inline" } as const;
const sameKeys: readonly [string, Uint8Array, Key][] = [
  ["sysFormatKey", sysFormatKey, { subspace: "sys", kind: "format" }],
  ["sysHeadKey", sysHeadKey, { subspace: "sys", kind: "head" }],
  ["sysMigrationKey", sysMigrationKey, { subspace: "sys", kind: "migration" }],
  ["sysMaintenanceStatusKey", sysMaintenanceStatusKey, { subspace: "sys", kind: "maintenance_status" }],
  ["sysLooseRowsKey", sysLooseRowsKey, { subspace: "sys", kind: "loose_rows" }],
  ["sysLakesKey", sysLakesKey, { subspace: "sys", kind: "lakes" }],
  ["snapshotKey", snapshotKey(5n), { subspace: "snapshot", snapshotId: 5n }],
  ["changelogKey", changelogKey(5n), { subspace: "changelog", snapshotId: 5n }],
  ["gcFileKey", gcFileKey(5n), { subspace: "gc_file", dataFileId: 5n }],
  ["schemaVersionKey", schemaVersionKey(5n, 6n), { subspace: "schema_version", tableId: 5n, beginSnapshot: 6n }],
  ["inlineSchemaKey", inlineSchemaKey(5n, 6n), { ...inline, kind: "schema", tableId: 5n, schemaVersion: 6n }],
  [
    "inlineSchemaDroppedKey",
    inlineSchemaDroppedKey(5n, 6n),
    { ...inline, kind: "schema_dropped", tableId: 5n, schemaVersion: 6n },
  ],
  [
    "inlineChunkKey",
    inlineChunkKey(5n, 6n, 7n, 8n),
    { ...inline, kind: "chunk", archived: false, tableId: 5n, schemaVersion: 6n, beginSnapshot: 7n, chunkSeq: 8n },
  ],
  [
    "inlineRowTombstoneKey",
    inlineRowTombstoneKey(5n, 6n, 7n),
    { ...inline, kind: "row_tombstone", tableId: 5n, rowId: 6n, endSnapshot: 7n },
  ],
  [
    "inlineFileDeleteKey",
    inlineFileDeleteKey(5n, 6n, 7n),
    { ...inline, kind: "file_delete", archived: false, tableId: 5n, dataFileId: 6n, position: 7n },
  ],
  ["inlineFileDeleteTableKey", inlineFileDeleteTableKey(5n), { ...inline, kind: "file_delete_table", tableId: 5n }],
  [
    "chunkLocatorKey",
    chunkLocatorKey(5n, 6n, 7n, 8n, 9n),
    { ...inline, kind: "chunk_locator", tableId: 5n, rowIdEnd: 6n, schemaVersion: 7n, beginSnapshot: 8n, chunkSeq: 9n },
  ],
];

test.each(sameKeys)("%s makes the key of its parts", (_name, made, key) => {
  expect(made).toEqual(encodeKey(key));
});

const prefixes: readonly [string, Uint8Array, Uint8Array][] = [
  ["snapshotPrefix", snapshotPrefix(), snapshotKey(5n)],
  ["changelogPrefix", changelogPrefix(), changelogKey(5n)],
  ["schemaVersionPrefix", schemaVersionPrefix(5n), schemaVersionKey(5n, 6n)],
  ["gcFilePrefix", gcFilePrefix(), gcFileKey(5n)],
  ["inlineSchemaPrefix", inlineSchemaPrefix(5n), inlineSchemaKey(5n, 6n)],
  ["inlineChunkPrefix", inlineChunkPrefix(5n), inlineChunkKey(5n, 6n, 7n, 8n)],
  ["inlineRowTombstonePrefix", inlineRowTombstonePrefix(5n, 6n), inlineRowTombstoneKey(5n, 6n, 7n)],
  ["inlineRowTombstonePrefix of a table", inlineRowTombstonePrefix(5n), inlineRowTombstoneKey(5n, 6n, 7n)],
  ["inlineFileDeletePrefix", inlineFileDeletePrefix(5n, 6n), inlineFileDeleteKey(5n, 6n, 7n)],
  ["inlineFileDeletePrefix of a table", inlineFileDeletePrefix(5n), inlineFileDeleteKey(5n, 6n, 7n)],
  ["chunkLocatorPrefix", chunkLocatorPrefix(5n, 6n), chunkLocatorKey(5n, 6n, 7n, 8n, 9n)],
  ["chunkLocatorPrefix of a table", chunkLocatorPrefix(5n), chunkLocatorKey(5n, 6n, 7n, 8n, 9n)],
];

test.each(prefixes)("%s covers its key and no other prefix of the list does", (name, prefix, key) => {
  expect(startsWith(key, prefix)).toBe(true);
  const end = prefixEnd(prefix) as Uint8Array;
  expect(compareBytes(key, prefix)).toBeGreaterThan(0);
  expect(compareBytes(key, end)).toBeLessThan(0);
  const family = name.split(" ")[0];
  for (const [other, otherPrefix] of prefixes) {
    if (other.split(" ")[0] !== family) expect(startsWith(key, otherPrefix), other).toBe(false);
  }
});

describe.each(kinds)("entity kind %s", (kind) => {
  const { versioned } = entityKinds[kind];

  test("prefixes select their own kind and their own first id", () => {
    for (const other of kinds) {
      const key = currentKey(other, ...idsOf(other, 7n));
      expect(startsWith(key, currentPrefix(kind))).toBe(kind === other);
      expect(startsWith(key, currentPrefix(kind, 7n))).toBe(kind === other);
      expect(startsWith(key, currentPrefix(kind, 8n))).toBe(false);
      if (versioned && entityKinds[other].versioned) {
        const past = historyKey(other, idsOf(other, 7n), 9n);
        expect(startsWith(past, historyPrefix(kind))).toBe(kind === other);
        expect(startsWith(past, historyPrefix(kind, 7n))).toBe(kind === other);
        expect(startsWith(past, historyPrefix(kind, 8n))).toBe(false);
      }
    }
  });

  test("a wrong number of ids is refused", () => {
    const ids = idsOf(kind, 7n);
    expectError(() => currentKey(kind, ...ids.slice(1)), "invalid_argument", kind);
    expectError(() => currentKey(kind, ...ids, 1n), "invalid_argument");
    expectError(() => currentPrefix(kind, ...ids, 1n), "invalid_argument");
  });

  test("history is refused exactly where there is none", () => {
    if (versioned)
      expect(historyKey(kind, idsOf(kind, 7n), 9n).length).toBe(2 + 8 * (entityKinds[kind].components + 1));
    else {
      expectError(() => historyKey(kind, idsOf(kind, 7n), 9n), "invalid_argument");
      expectError(() => historyPrefix(kind), "invalid_argument");
    }
  });
});

test("index prefixes sort by shape, then id", () => {
  const inOrder = [
    indexPrefix("unique"),
    indexPrefix("unique", 1n),
    indexPrefix("unique", 256n),
    indexPrefix("multi"),
    indexPrefix("multi", 0n),
  ];
  for (const [i, prefix] of inOrder.entries()) {
    for (const later of inOrder.slice(i + 1)) expect(compareBytes(prefix, later)).toBeLessThan(0);
  }
});

test.each([-1n, 1n << 64n, 5 as unknown as bigint, undefined as unknown as bigint])(
  "an id of %s is refused by name",
  (id) => {
    expectError(() => snapshotKey(id), "invalid_argument", "snapshotId");
    expectError(() => inlineRowTombstoneKey(1n, 2n, id), "invalid_argument", "endSnapshot");
    expectError(() => historyKey("table", [1n], id), "invalid_argument");
    expectError(
      () => encodeKey({ subspace: "index", shape: "multi", indexId: 1n, canonical: new Uint8Array(0), rowId: id }),
      "invalid_argument",
      "rowId",
    );
  },
);

test("the end of a prefix carries over ff, and there is none above ff alone", () => {
  expect(prefixEnd(Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 3));
  expect(prefixEnd(Uint8Array.of(1, 0xff, 0xff))).toEqual(Uint8Array.of(2));
  expect(prefixEnd(Uint8Array.of(0xff, 0xff))).toBeUndefined();
  expect(prefixEnd(new Uint8Array(0))).toBeUndefined();
});

test("a changed copy of a constant key leaves the constant alone", () => {
  encodeKey({ subspace: "sys", kind: "head" })[0] = 9;
  expect(toHex(sysHeadKey)).toBe("0203");
});
