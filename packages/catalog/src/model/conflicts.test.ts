import { describe, expect, it } from "vitest";
import type { Change } from "./change.js";
import { parseChanges } from "./changes-text.js";
import { ChangeSet } from "./changes.js";
import { conflicts } from "./conflicts.js";

const own = (...changes: Change[]): ChangeSet => ChangeSet.of(changes);

/** The verdict, asked both ways round: they must agree. */
function clash(a: ChangeSet, b: ChangeSet): boolean {
  const verdict = conflicts(a, b) !== undefined;
  expect(conflicts(b, a) !== undefined).toBe(verdict);
  return verdict;
}

const kinds = {
  inserted: (tableId: bigint): Change => ({ op: "insert", tableId }),
  deleted: (tableId: bigint): Change => ({ op: "delete_inline", tableId }),
  altered: (tableId: bigint): Change => ({ op: "alter_table", tableId }),
  dropped: (tableId: bigint): Change => ({ op: "drop_table", tableId }),
  compacted: (tableId: bigint): Change => ({ op: "merge_adjacent", tableId }),
};

/** format.md 5.5; `deleted` against itself is by file and has its own tests. */
const matrix: readonly (readonly [keyof typeof kinds, keyof typeof kinds, boolean])[] = [
  ["inserted", "inserted", false],
  ["inserted", "deleted", true],
  ["inserted", "altered", true],
  ["inserted", "dropped", true],
  ["inserted", "compacted", false],
  ["deleted", "altered", true],
  ["deleted", "dropped", true],
  ["deleted", "compacted", true],
  ["altered", "altered", true],
  ["altered", "dropped", true],
  ["altered", "compacted", false],
  ["dropped", "dropped", false],
  ["dropped", "compacted", true],
  ["compacted", "compacted", true],
];

describe("conflicts", () => {
  it.each(matrix)("%s against %s on one table: %s", (a, b, expected) => {
    expect(clash(own(kinds[a](1n)), own(kinds[b](1n)))).toBe(expected);
    expect(clash(own(kinds[a](1n)), own(kinds[b](2n)))).toBe(false);
    // The same as others see it: parsed from the text of the snapshot record.
    expect(clash(own(kinds[a](1n)), parseChanges(own(kinds[b](1n)).toText()))).toBe(expected);
    expect(clash(parseChanges(own(kinds[a](1n)).toText()), own(kinds[b](1n)))).toBe(expected);
  });

  const inFile = (dataFileId: bigint, tableId = 1n): Change => ({ op: "delete_from_file", tableId, dataFileId });

  it("checks deletes against deletes by data file", () => {
    expect(clash(own(inFile(7n)), own(inFile(8n)))).toBe(false);
    expect(clash(own(inFile(7n)), own(inFile(7n)))).toBe(true);
    expect(clash(own(inFile(7n), inFile(9n)), own(inFile(8n), inFile(9n)))).toBe(true);
    expect(clash(own(inFile(7n)), own({ op: "delete_inline", tableId: 1n }))).toBe(true);
    expect(clash(own({ op: "delete_inline", tableId: 1n }), own({ op: "delete_inline", tableId: 1n }))).toBe(true);
    expect(clash(own(inFile(7n)), own({ op: "delete_inline", tableId: 2n }))).toBe(false);
  });

  it("takes parsed deletes for untargeted unless the record names files", () => {
    expect(clash(own(inFile(7n)), parseChanges("deleted_from_table:1"))).toBe(true);
    expect(clash(own(inFile(7n)), parseChanges("deleted_from_table:1", [8n]))).toBe(false);
    expect(clash(own(inFile(7n)), parseChanges("deleted_from_table:1", [7n]))).toBe(true);
    expect(clash(own({ op: "delete_inline", tableId: 1n }), parseChanges("deleted_from_table:1", [7n]))).toBe(true);
  });

  it.each(["compacted_table:1", "inline_flush:1", "flushed_inlined:1", "rewrite_delete:1"])(
    "classes %s as compaction",
    (text) => {
      const set = parseChanges(text);
      expect(clash(set, own(kinds.inserted(1n)))).toBe(false);
      expect(clash(set, own(kinds.altered(1n)))).toBe(false);
      expect(clash(set, own(kinds.deleted(1n)))).toBe(true);
      expect(clash(set, own(kinds.compacted(1n)))).toBe(true);
    },
  );

  it("lets nothing land beside what it does not understand", () => {
    expect(clash(parseChanges("new_kind:1"), own())).toBe(true);
    expect(clash(parseChanges("new_kind:1"), parseChanges(""))).toBe(true);
  });

  it("treats the list of schemas as one thing", () => {
    expect(clash(own({ op: "create_schema", name: "a" }), own({ op: "drop_schema", schemaId: 9n }))).toBe(true);
    expect(clash(own({ op: "create_schema", name: "a" }), own({ op: "create_schema", name: "b" }))).toBe(true);
    expect(clash(own({ op: "create_schema", name: "a" }), own(kinds.altered(1n)))).toBe(false);
    expect(clash(own({ op: "create_schema", name: "a" }), own({ op: "tag_schema" }))).toBe(false);
  });

  const creations: readonly Change[] = [
    { op: "create_table", tableId: 5n, schemaId: 3n, schemaName: "s", name: "t" },
    { op: "create_view", viewId: 5n, schemaId: 3n, schemaName: "s", name: "v" },
    { op: "create_macro", macroType: "table", schemaId: 3n, schemaName: "s", name: "m" },
  ];

  it.each(creations)("does not let $op land in a schema that was dropped", (creation) => {
    expect(clash(own(creation), own({ op: "drop_schema", schemaId: 3n }))).toBe(true);
    expect(clash(own(creation), parseChanges("dropped_schema:3"))).toBe(true);
    expect(clash(own(creation), own({ op: "drop_schema", schemaId: 4n }))).toBe(false);
    // Text names the schema, not its id: the commit is re-run and finds the schema in use or gone.
    expect(clash(parseChanges(own(creation).toText()), own({ op: "drop_schema", schemaId: 3n }))).toBe(false);
  });

  it("never compares fresh tables by id", () => {
    expect(
      clash(
        own(creations[0] as Change),
        own({ op: "create_table", tableId: 5n, schemaId: 3n, schemaName: "s", name: "u" }),
      ),
    ).toBe(false);
  });

  it("classes views and macros like tables", () => {
    const alter = own({ op: "alter_view", viewId: 1n });
    const drop = own({ op: "drop_view", viewId: 1n });
    expect(clash(alter, alter)).toBe(true);
    expect(clash(alter, drop)).toBe(true);
    expect(clash(drop, drop)).toBe(false);
    expect(clash(alter, own({ op: "alter_view", viewId: 2n }))).toBe(false);
    const macro = own({ op: "drop_macro", macroType: "scalar", macroId: 1n });
    expect(clash(macro, macro)).toBe(false);
    expect(
      clash(macro, own({ op: "create_macro", macroType: "scalar", schemaId: 0n, schemaName: "main", name: "m" })),
    ).toBe(false);
  });

  it("sees nothing in statistics, whatever the other did", () => {
    for (const kind of Object.values(kinds)) expect(clash(own({ op: "stats" }), own(kind(1n)))).toBe(false);
  });

  it("treats sorting as an alteration", () => {
    expect(clash(own({ op: "alter_table_layout", tableId: 1n }), own(kinds.inserted(1n)))).toBe(true);
  });
});
