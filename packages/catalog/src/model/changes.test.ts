import { describe, expect, it } from "vitest";
import type { Change } from "./change.js";
import { parseChanges } from "./changes-text.js";
import { ChangeSet } from "./changes.js";

const table = (tableId: bigint, schemaName: string, name: string, schemaId = 0n): Change => ({
  op: "create_table",
  tableId,
  schemaId,
  schemaName,
  name,
});

const textOf = (...changes: Change[]): string => ChangeSet.of(changes).toText();

describe("changes_made text", () => {
  it("lists the kinds in DuckLake's order, ids ascending and names sorted", () => {
    expect(
      textOf(
        { op: "rewrite_delete", tableId: 5n },
        { op: "merge_adjacent", tableId: 4n },
        { op: "alter_view", viewId: 12n },
        { op: "alter_table", tableId: 10n },
        { op: "alter_table", tableId: 9n },
        { op: "delete_from_file", tableId: 3n, dataFileId: 7n },
        { op: "insert", tableId: 20n },
        { op: "insert", tableId: 3n },
        { op: "drop_macro", macroType: "table", macroId: 31n },
        { op: "drop_macro", macroType: "scalar", macroId: 30n },
        { op: "create_macro", macroType: "table", schemaId: 0n, schemaName: "main", name: "tm" },
        { op: "create_macro", macroType: "scalar", schemaId: 0n, schemaName: "main", name: "sm" },
        { op: "create_view", viewId: 40n, schemaId: 0n, schemaName: "main", name: "v" },
        table(41n, "s", "b"),
        table(42n, "main", "z"),
        table(43n, "s", "a"),
        { op: "create_schema", name: "s" },
        { op: "drop_view", viewId: 2n },
        { op: "drop_table", tableId: 8n },
        { op: "drop_schema", schemaId: 1n },
      ),
    ).toBe(
      'dropped_schema:1,dropped_table:8,dropped_view:2,created_schema:"s",created_table:"main"."z",created_table:"s"."a",' +
        'created_table:"s"."b",created_view:"main"."v",created_scalar_macro:"main"."sm",created_table_macro:"main"."tm",' +
        "dropped_scalar_macro:30,dropped_table_macro:31,inserted_into_table:3,inserted_into_table:20,deleted_from_table:3," +
        "altered_table:9,altered_table:10,altered_view:12,merge_adjacent:4,rewrite_delete:5",
    );
  });

  it("names deletes and flushes of inlined rows as DuckLake does", () => {
    const text = textOf({ op: "flush_inline", tableId: 2n }, { op: "delete_inline", tableId: 1n });
    expect(text).toBe("deleted_from_table:1,inlined_delete:1,inline_flush:2");
    expect(parseChanges(text).toText()).toBe(text);
  });

  it("lists a repeated operation once", () => {
    expect(textOf({ op: "insert", tableId: 1n }, { op: "insert", tableId: 1n })).toBe("inserted_into_table:1");
  });

  it("sorts names by their UTF-8 bytes", () => {
    expect(textOf({ op: "create_schema", name: "\u{1f600}" }, { op: "create_schema", name: "\uffee" })).toBe(
      'created_schema:"\uffee",created_schema:"\u{1f600}"',
    );
  });

  it.each([",", '"', '".', '","', 'a"."b', '",created_schema:"x', "", "\\"])(
    "quotes the name %j so that it reads back",
    (name) => {
      const text = textOf({ op: "create_schema", name }, table(1n, name, `${name}${name}`));
      const parsed = parseChanges(text);
      expect(parsed.parts.unknown).toBe(false);
      expect(parsed.toText()).toBe(text);
      expect(parsed.parts.operations).toBe(2);
    },
  );

  it("mints a snapshot without text for statistics and for tags on schemas", () => {
    const set = ChangeSet.of([{ op: "stats" }, { op: "tag_schema" }]);
    expect(set.toText()).toBe("");
    expect(set.isEmpty).toBe(false);
    expect(ChangeSet.of([]).isEmpty).toBe(true);
  });
});

describe("parsing", () => {
  it("matches kinds without regard to case", () => {
    expect(parseChanges('Inserted_Into_Table:3,CREATED_SCHEMA:"S"').toText()).toBe(
      'created_schema:"S",inserted_into_table:3',
    );
  });

  it.each(["compacted_table:1", "inline_flush:1", "flushed_inlined:1"])(
    "knows the kind of %s, which only DuckLake writes",
    (text) => {
      expect(parseChanges(text).parts.unknown).toBe(false);
    },
  );

  it("takes changes of inlined rows for changes of their table", () => {
    const { parts } = parseChanges("inlined_insert:1,inlined_delete:2");
    expect(parts.unknown).toBe(false);
    expect(parts.ids).toEqual(
      new Map([
        ["inserted_into_table", new Set([1n])],
        ["inlined_delete", new Set([2n])],
        ["deleted_from_table", new Set([2n])],
      ]),
    );
    expect(parts.untargetedDeleteTableIds).toEqual(new Set([2n]));
  });

  it.each([
    "vacuumed_table:1",
    "inserted_into_table",
    "inserted_into_table:",
    "inserted_into_table:x",
    "inserted_into_table:-1",
    "inserted_into_table:1.5",
    "inserted_into_table: 1",
    "inserted_into_table:18446744073709551616",
    'created_schema:"a',
    "created_schema:a",
    'created_schema:"a"b"',
    'created_table:"a"',
    'created_table:"a"."b"."c"',
    ":1",
    ",",
    "inserted_into_table:1,",
  ])("takes %j for unknown", (text) => {
    expect(parseChanges(text).parts.unknown).toBe(true);
  });

  it("reads an empty text as no changes", () => {
    expect(parseChanges("").isEmpty).toBe(true);
    expect(parseChanges("").parts.unknown).toBe(false);
  });

  it("knows neither schema ids nor schema changes of others", () => {
    const own = ChangeSet.of([table(5n, "s", "t", 3n)]);
    expect([...own.parts.createdInSchemaIds]).toEqual([3n]);
    expect([...parseChanges(own.toText()).parts.createdInSchemaIds]).toEqual([]);
  });

  it("does not overflow on long names", () => {
    const name = '"'.repeat(50_000);
    const text = textOf({ op: "create_schema", name });
    expect(parseChanges(text).toText()).toBe(text);
  });
});

describe("compactionOnlyTables", () => {
  it("names the tables of a pure compaction", () => {
    expect([...parseChanges("merge_adjacent:1,rewrite_delete:2,compacted_table:3").compactionOnlyTables()]).toEqual([
      1n,
      2n,
      3n,
    ]);
  });

  it.each([
    ["inline_flush:4", []],
    ["flushed_inlined:4,merge_adjacent:4", []],
    ["merge_adjacent:4,deleted_from_table:4", []],
    ["inline_flush:4,inserted_into_table:4", []],
    ['merge_adjacent:4,created_schema:"s"', []],
    ["merge_adjacent:4,altered_table:9", []],
    ["merge_adjacent:4,something_new:1", []],
    ["", []],
  ])("is empty for %j", (text, expected) => {
    expect([...parseChanges(text).compactionOnlyTables()]).toEqual(expected);
  });
});

describe("schema changes", () => {
  const cases: readonly (readonly [Change, boolean, readonly bigint[]])[] = [
    [{ op: "create_schema", name: "s" }, true, []],
    [{ op: "drop_schema", schemaId: 1n }, true, []],
    [{ op: "tag_schema" }, true, []],
    [table(2n, "s", "t"), true, [2n]],
    [{ op: "alter_table", tableId: 2n }, true, [2n]],
    [{ op: "drop_table", tableId: 2n }, true, []],
    [{ op: "create_view", viewId: 3n, schemaId: 0n, schemaName: "s", name: "v" }, true, [3n]],
    [{ op: "alter_view", viewId: 3n }, true, [3n]],
    [{ op: "drop_view", viewId: 3n }, true, []],
    [{ op: "create_macro", macroType: "scalar", schemaId: 0n, schemaName: "s", name: "m" }, true, []],
    [{ op: "drop_macro", macroType: "table", macroId: 4n }, true, []],
    [{ op: "alter_table_layout", tableId: 2n }, false, []],
    [{ op: "insert", tableId: 2n }, false, []],
    [{ op: "delete_from_file", tableId: 2n, dataFileId: 1n }, false, []],
    [{ op: "delete_inline", tableId: 2n }, false, []],
    [{ op: "merge_adjacent", tableId: 2n }, false, []],
    [{ op: "rewrite_delete", tableId: 2n }, false, []],
    [{ op: "stats" }, false, []],
  ];

  it.each(cases)("%o raises the schema version: %s", (change, raises, ids) => {
    const set = ChangeSet.of([change]);
    expect(set.schemaChanged).toBe(raises);
    expect(set.schemaChangedIds).toEqual(ids);
  });

  it("gives ids ascending and distinct", () => {
    const set = ChangeSet.of([
      { op: "alter_table", tableId: 9n },
      table(10n, "s", "t"),
      { op: "alter_table", tableId: 10n },
      { op: "delete_from_file", tableId: 9n, dataFileId: 30n },
      { op: "delete_from_file", tableId: 9n, dataFileId: 4n },
      { op: "delete_from_file", tableId: 9n, dataFileId: 30n },
    ]);
    expect(set.schemaChangedIds).toEqual([9n, 10n]);
    expect(set.deletedDataFileIds).toEqual([4n, 30n]);
  });

  it("writes a sort change as an altered table", () => {
    expect(textOf({ op: "alter_table_layout", tableId: 2n })).toBe("altered_table:2");
  });
});
