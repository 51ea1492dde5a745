import type { SchemaId, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf, errorOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import type { ColumnDefinition } from "./column-tree.js";
import { addColumn, alterColumn } from "./columns.js";
import { createTable } from "./tables.js";

const main = 0n as SchemaId;
const fine = { name: "a", columnType: "BIGINT" };

function create(...columns: readonly ColumnDefinition[]): () => TableId {
  return () => createTable(new Session().draft(), { schema: main, name: "t", columns });
}

/** The types that DuckLake's specification names, and DuckDB's names for them. */
const scalars = [
  ["boolean", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16", "uint32", "uint64", "uint128"],
  ["float32", "float64", "decimal(10,2)", "decimal(38, 38)", "date", "time", "time_ns", "timetz", "timestamp"],
  ["timestamp_s", "timestamp_ms", "timestamp_us", "timestamp_ns", "timestamptz", "timestamptz_ns", "interval"],
  ["varchar", "blob", "json", "uuid", "geometry"],
  ["TINYINT", "SMALLINT", "INTEGER", "INT", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"],
  ["UHUGEINT", "FLOAT", "REAL", "DOUBLE", "DECIMAL", "NUMERIC(5)", "TEXT", "VARCHAR(20)", "BYTEA", "DATETIME"],
  [
    "TIMESTAMP WITH TIME ZONE",
    "TIME WITH TIME ZONE",
    "Boolean",
    "VARCHAR COLLATE NOCASE",
    "varchar collate de.noaccent",
  ],
].flat();

const malformed = [
  ["inteeger", "int65", "decimal(50,2)", "decimal(0,0)", "decimal(5,6)", "decimal(5,-1)", "decimal(", "struct("],
  ["struct(a integer)", "list(int64)", "map(varchar, int64)", "int64[]", "integer[3]", "varchar collate"],
  [
    "bit",
    "bignum",
    "enum('a')",
    "union(a int64)",
    "unknown",
    "null",
    " int64",
    "int64 ",
    "int64;",
    "int64(3)",
    "toString",
  ],
].flat();

describe("column types", () => {
  it.each(scalars)("%s is one", (columnType) => {
    expect(codeOf(create(fine, { name: "x", columnType }))).toBeUndefined();
  });

  it.each(malformed)("%j is none, and the argument is named", (columnType) => {
    const refused = errorOf(create(fine, { ...fine, name: "b" }, { name: "x", columnType }));
    expect(refused).toMatchObject({ code: "invalid_argument" });
    expect(refused?.message).toContain("columns[2].columnType");
  });

  it("are checked below nested columns, where one is added, and where one is changed", () => {
    const nested = { name: "s", columnType: "struct", children: [fine, { name: "x", columnType: "strunct" }] };
    expect(errorOf(create(nested))?.message).toContain("columns[0].children[1].columnType");
    const session = new Session();
    const table = session.commit((draft) => createTable(draft, { schema: main, name: "t", columns: [fine] }));
    const add = errorOf(() => addColumn(session.draft(), { table, definition: { name: "x", columnType: "intt" } }));
    expect(add?.message).toContain("definition.columnType");
    const column = session.snapshot.columnsOf(table)[0]!.id;
    const alter = errorOf(() => alterColumn(session.draft(), { table, column, columnType: "intt" }));
    expect(alter?.message).toMatch(/columnType is "intt"/u);
    expect([add, alter]).toMatchObject([{ code: "invalid_argument" }, { code: "invalid_argument" }]);
  });

  it("say what a nested type needs instead", () => {
    expect(errorOf(create({ name: "x", columnType: "int64[]" }))?.remedy).toContain("children");
    expect(errorOf(create({ name: "x", columnType: "inteeger" }))?.remedy).toContain("int64");
  });

  it("VARIANT is unsupported", () => {
    expect(codeOf(create({ name: "x", columnType: "variant" }))).toBe("unsupported");
  });
});

describe("fields of nested columns", () => {
  const element = { name: "element", columnType: "int64" };
  const key = { name: "key", columnType: "varchar" };
  const value = { name: "value", columnType: "int64" };

  it.each<[string, string, readonly ColumnDefinition[] | undefined]>([
    ["a list without its element", "list", undefined],
    ["a list of two", "list", [element, value]],
    ["a list of something else", "list", [{ ...element, name: "item" }]],
    ["a map without a value", "map", [key]],
    ["a map the wrong way round", "map", [value, key]],
    ["a struct without fields", "struct", []],
    ["a scalar with fields", "int64", [element]],
  ])("%s is refused, and named", (_, columnType, children) => {
    const refused = errorOf(create({ name: "x", columnType, ...(children === undefined ? {} : { children }) }));
    expect(refused).toMatchObject({ code: "invalid_argument" });
    expect(refused?.message).toContain("columns[0].children");
  });

  it("fit", () => {
    expect(codeOf(create({ name: "x", columnType: "LIST", children: [element] }))).toBeUndefined();
    expect(codeOf(create({ name: "x", columnType: "Map", children: [key, value] }))).toBeUndefined();
    expect(codeOf(create({ name: "x", columnType: "struct", children: [key, value] }))).toBeUndefined();
    expect(codeOf(create({ name: "x", columnType: "int64", children: [] }))).toBeUndefined();
  });
});
