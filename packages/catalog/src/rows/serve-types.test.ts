import { expect, it } from "vitest";
import { duckdbTypeName, ducklakeTypeName } from "./serve-types.js";

it.each([
  ["BIGINT", "int64"],
  ["int64", "int64"],
  ["INT8", "int8"],
  ["Integer", "int32"],
  ["HUGEINT", "int128"],
  ["UBIGINT", "uint64"],
  ["real", "float32"],
  ["DOUBLE  PRECISION", "float64"],
  ["DECIMAL(18,3)", "decimal(18,3)"],
  ["numeric( 4 , 2 )", "decimal(4,2)"],
  ["DEC(7)", "decimal(7,0)"],
  ["DECIMAL", "decimal(18,3)"],
  ["VARCHAR(10)", "varchar"],
  ["VARCHAR COLLATE NOCASE.NOACCENT", "varchar"],
  ["TEXT", "varchar"],
  ["BYTEA", "blob"],
  ["JSON", "json"],
  ["DATETIME", "timestamp"],
  ["TIMESTAMP_US", "timestamp_us"],
  ["TIMESTAMP WITH TIME ZONE", "timestamptz"],
  ["TIMETZ", "timetz"],
  ["TIME_NS", "time_ns"],
  ["STRUCT", "struct"],
  ["ROW", "struct"],
  ["LIST", "list"],
  ["map", "map"],
  ["GEOMETRY", "geometry"],
  ["Made Up", "Made Up"],
])("%s is %s to DuckLake", (recorded, served) => {
  expect(ducklakeTypeName(recorded)).toBe(served);
});

const column = (columnType: string, ...children: { name: string; columnType: string }[]) => ({
  name: "c",
  columnType,
  children: children.map((child) => ({ ...child, children: [] })),
});

it.each([
  [column("int8"), "TINYINT"],
  [column("uint128"), "UHUGEINT"],
  [column("TIMESTAMPTZ"), "TIMESTAMP WITH TIME ZONE"],
  [column("decimal(4,2)"), "DECIMAL(4,2)"],
  [column("varchar collate nocase"), "VARCHAR"],
  [column("list", { name: "element", columnType: "json" }), "JSON[]"],
  [column("map", { name: "key", columnType: "int32" }, { name: "value", columnType: "text" }), "MAP(INTEGER, VARCHAR)"],
  [
    column("struct", { name: 'a "b"', columnType: "date" }, { name: "time", columnType: "time" }),
    'STRUCT("a ""b""" DATE, "time" TIME)',
  ],
  [column("struct"), undefined],
  [column("list"), undefined],
  [column("map", { name: "key", columnType: "int32" }), undefined],
  [column("list", { name: "element", columnType: "made up" }), undefined],
  [column("made up"), undefined],
])("$columnType has DuckDB's words", (given, expected) => {
  expect(duckdbTypeName(given)).toBe(expected);
});
