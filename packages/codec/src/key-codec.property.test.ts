import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryId, mutated } from "../test/support/arbitraries.js";
import {
  compareBytes,
  CorruptionError,
  decodeKey,
  encodeKey,
  entityKinds,
  type EntityKind,
  type Key,
} from "./index.js";

const kinds = Object.keys(entityKinds) as EntityKind[];

const entity = (versionedOnly: boolean) =>
  fc.constantFrom(...kinds.filter((kind) => !versionedOnly || entityKinds[kind].versioned)).chain((kind) => {
    const { components } = entityKinds[kind];
    return fc.record({
      kind: fc.constant(kind),
      ids: fc.array(arbitraryId, { minLength: components, maxLength: components }),
    });
  });

const canonical = fc
  .array(fc.oneof(fc.constantFrom(0, 1, 2, 0xff), fc.integer({ min: 0, max: 255 })), { maxLength: 10 })
  .map((bytes) => Uint8Array.from(bytes));

const inline = fc.oneof(
  fc.record({
    kind: fc.constantFrom("schema" as const, "schema_dropped" as const),
    tableId: arbitraryId,
    schemaVersion: arbitraryId,
  }),
  fc.record({
    kind: fc.constant("chunk" as const),
    archived: fc.boolean(),
    tableId: arbitraryId,
    schemaVersion: arbitraryId,
    beginSnapshot: arbitraryId,
    chunkSeq: arbitraryId,
  }),
  fc.record({
    kind: fc.constant("row_delete" as const),
    archived: fc.boolean(),
    tableId: arbitraryId,
    rowId: arbitraryId,
  }),
  fc.record({
    kind: fc.constant("file_delete" as const),
    archived: fc.boolean(),
    tableId: arbitraryId,
    dataFileId: arbitraryId,
    position: arbitraryId,
  }),
  fc.record({ kind: fc.constant("file_delete_table" as const), tableId: arbitraryId }),
  fc.record({ kind: fc.constant("chunk_range" as const), tableId: arbitraryId, rowIdEnd: arbitraryId }),
  fc.record({
    kind: fc.constant("chunk_locator" as const),
    tableId: arbitraryId,
    rowIdEnd: arbitraryId,
    schemaVersion: arbitraryId,
    beginSnapshot: arbitraryId,
    chunkSeq: arbitraryId,
  }),
  fc.record({
    kind: fc.constant("row_tombstone" as const),
    tableId: arbitraryId,
    rowId: arbitraryId,
    endSnapshot: arbitraryId,
  }),
);

const sysKinds = ["format", "head", "migration", "maintenance_status", "loose_rows", "lakes"] as const;

const arbitraryKey: fc.Arbitrary<Key> = fc.oneof(
  fc.record({
    subspace: fc.constant("sys" as const),
    kind: fc.constantFrom(...sysKinds),
  }),
  fc.record({ subspace: fc.constantFrom("snapshot" as const, "changelog" as const), snapshotId: arbitraryId }),
  fc.record({ subspace: fc.constant("current" as const), entity: entity(false) }),
  fc.record({ subspace: fc.constant("gc_file" as const), dataFileId: arbitraryId }),
  fc.record({ subspace: fc.constant("history" as const), entity: entity(true), endSnapshot: arbitraryId }),
  fc.record({ subspace: fc.constant("schema_version" as const), tableId: arbitraryId, beginSnapshot: arbitraryId }),
  inline.map((key): Key => ({ subspace: "inline", ...key })),
  fc.record({
    subspace: fc.constant("index" as const),
    shape: fc.constant("unique" as const),
    indexId: arbitraryId,
    canonical,
  }),
  fc.record({
    subspace: fc.constant("index" as const),
    shape: fc.constant("multi" as const),
    indexId: arbitraryId,
    canonical,
    rowId: arbitraryId,
  }),
);

test("a key decodes to its parts", () => {
  fc.assert(
    fc.property(arbitraryKey, (key) => {
      expect(decodeKey(encodeKey(key))).toEqual(key);
    }),
    { numRuns: 1_000 },
  );
});

/** Rank of the subspace, then the ids and bytes in key order: the order that encoded keys must have. */
function parts(key: Key): (bigint | Uint8Array | number)[] {
  switch (key.subspace) {
    case "sys":
      return [2, sysKinds.indexOf(key.kind)];
    case "snapshot":
      return [3, key.snapshotId];
    case "current":
      return [4, 0, entityKinds[key.entity.kind].discriminant, ...key.entity.ids];
    case "gc_file":
      return [4, 1, key.dataFileId];
    case "history":
      return [5, entityKinds[key.entity.kind].discriminant, ...key.entity.ids, key.endSnapshot];
    case "inline":
      return [6, ...inlineParts(key)];
    case "index":
      return [
        7,
        key.shape === "unique" ? 0 : 1,
        key.indexId,
        key.canonical,
        ...(key.shape === "multi" ? [key.rowId] : []),
      ];
    case "schema_version":
      return [8, key.tableId, key.beginSnapshot];
    case "changelog":
      return [9, key.snapshotId];
  }
}

function inlineParts(key: Extract<Key, { subspace: "inline" }>): (bigint | number)[] {
  switch (key.kind) {
    case "schema":
      return [0, key.tableId, key.schemaVersion];
    case "chunk":
      return [key.archived ? 2 : 1, 0, key.tableId, key.schemaVersion, key.beginSnapshot, key.chunkSeq];
    case "row_delete":
      return [key.archived ? 2 : 1, 1, key.tableId, key.rowId];
    case "file_delete":
      return [key.archived ? 2 : 1, 2, key.tableId, key.dataFileId, key.position];
    case "file_delete_table":
      return [3, key.tableId];
    case "chunk_range":
      return [4, key.tableId, key.rowIdEnd];
    case "schema_dropped":
      return [5, key.tableId, key.schemaVersion];
    case "chunk_locator":
      return [6, key.tableId, key.rowIdEnd, key.schemaVersion, key.beginSnapshot, key.chunkSeq];
    case "row_tombstone":
      return [7, key.tableId, key.rowId, key.endSnapshot];
  }
}

function compareParts(a: Key, b: Key): number {
  const left = parts(a);
  const right = parts(b);
  for (const [i, x] of left.entries()) {
    const y = right[i] as bigint | number | Uint8Array;
    const order =
      x instanceof Uint8Array && y instanceof Uint8Array ? Buffer.compare(x, y) : x < y ? -1 : x > y ? 1 : 0;
    if (order !== 0) return order;
  }
  return 0;
}

test("the order of bytes is the order of the parts", () => {
  fc.assert(
    fc.property(arbitraryKey, arbitraryKey, (a, b) => {
      expect(Math.sign(compareBytes(encodeKey(a), encodeKey(b)))).toBe(Math.sign(compareParts(a, b)));
    }),
    { numRuns: 2_000 },
  );
});

test("any bytes are a key that encodes to them again, or corruption", () => {
  const inSubspace = fc
    .tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 18 }), fc.uint8Array({ maxLength: 40 }))
    .map(([subspace, kind, rest]) => Uint8Array.from([subspace, kind, ...rest]));
  fc.assert(
    fc.property(
      fc.oneof(fc.uint8Array({ maxLength: 48 }), inSubspace, mutated(arbitraryKey.map(encodeKey))),
      (bytes) => {
        let key: Key;
        try {
          key = decodeKey(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError);
          return;
        }
        expect(compareBytes(encodeKey(key), bytes)).toBe(0);
      },
    ),
    { numRuns: 4_000 },
  );
});
