import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Change } from "./change.js";
import { parseChanges } from "./changes-text.js";
import { ChangeSet } from "./changes.js";
import { conflicts } from "./conflicts.js";

const id = fc.oneof(fc.bigInt(0n, 4n), fc.bigInt(0n, 2n ** 64n - 1n));
const name = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom('"', ",", ".", ":", "a") }));
const macroType = fc.constantFrom("scalar" as const, "table" as const);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ op: fc.constant("create_schema" as const), name }),
  fc.record({ op: fc.constant("drop_schema" as const), schemaId: id }),
  fc.record({ op: fc.constant("tag_schema" as const) }),
  fc.record({ op: fc.constant("create_table" as const), tableId: id, schemaId: id, schemaName: name, name }),
  fc.record({
    op: fc.constantFrom("alter_table" as const, "alter_table_layout" as const, "drop_table" as const),
    tableId: id,
  }),
  fc.record({ op: fc.constant("create_view" as const), viewId: id, schemaId: id, schemaName: name, name }),
  fc.record({ op: fc.constantFrom("alter_view" as const, "drop_view" as const), viewId: id }),
  fc.record({ op: fc.constant("create_macro" as const), macroType, schemaId: id, schemaName: name, name }),
  fc.record({ op: fc.constant("drop_macro" as const), macroType, macroId: id }),
  fc.record({
    op: fc.constantFrom(
      "insert" as const,
      "delete_inline" as const,
      "merge_adjacent" as const,
      "flush_inline" as const,
      "rewrite_delete" as const,
    ),
    tableId: id,
  }),
  fc.record({ op: fc.constant("delete_from_file" as const), tableId: id, dataFileId: id }),
  fc.record({ op: fc.constant("stats" as const) }),
);

const own = fc.array(change, { maxLength: 8 }).map((changes) => ChangeSet.of(changes));

const kindText = fc.constantFrom(
  "inserted_into_table",
  "compacted_table",
  "inline_flush",
  "flushed_inlined",
  "created_table",
  "x",
);
const text = fc.oneof(
  own.map((set) => set.toText()),
  fc
    .array(fc.tuple(kindText, fc.oneof(fc.nat().map(String), name)).map(([kind, payload]) => `${kind}:${payload}`))
    .map((items) => items.join(",")),
  fc.string(),
);
const parsed = fc.tuple(text, fc.array(id, { maxLength: 3 })).map(([items, files]) => parseChanges(items, files));
const anySet = fc.oneof(own, parsed);

describe("change sets", () => {
  it("read back from their text what the text says", () => {
    fc.assert(
      fc.property(own, (set) => {
        const again = parseChanges(set.toText(), set.deletedDataFileIds);
        expect(again.parts.unknown).toBe(false);
        expect(again.toText()).toBe(set.toText());
        expect(again.parts.ids).toEqual(set.parts.ids);
        expect(again.parts.names).toEqual(set.parts.names);
        expect(again.deletedDataFileIds).toEqual(set.deletedDataFileIds);
      }),
    );
  });

  it("conflict both ways round or not at all", () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        expect(conflicts(a, b) === undefined).toBe(conflicts(b, a) === undefined);
      }),
    );
  });

  it("are never judged more kindly by their text than by themselves, schema drops aside", () => {
    fc.assert(
      fc.property(own, own, (a, b) => {
        fc.pre(![...b.ids("dropped_schema")].some((schema) => a.parts.createdInSchemaIds.has(schema)));
        // The record of a commit that deleted in both ways names the files only. That hides nothing: inline rows and
        // rows of files are never the same rows.
        fc.pre(a.parts.untargetedDeleteTableIds.size === 0 || a.parts.deletedDataFileIds.size === 0);
        const byText = parseChanges(a.toText(), a.deletedDataFileIds);
        if (conflicts(a, b) !== undefined) expect(conflicts(byText, b)).toBeDefined();
      }),
    );
  });
});
