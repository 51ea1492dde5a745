import { InvalidArgumentError, UnsupportedError } from "@moraine/codec";
import { expect, test } from "vitest";
import { isSameSchema, lakeFolder, schemaOf } from "./metadata-schema.js";

test("spellings that DuckDB takes for one name have one folder, and others have others", () => {
  expect(lakeFolder("metadata_S1")).toBe("metadata_s1");
  expect(lakeFolder('a/b "c".')).toBe("a=2fb=20=22c=22=2e");
  expect(lakeFolder("..")).toBe("=2e=2e");
  expect(lakeFolder("=2e")).toBe("=3d2e");
  expect(lakeFolder("É")).not.toBe(lakeFolder("é"));
  expect(isSameSchema("É", "é")).toBe(false);
  expect(isSameSchema("ABZ", "abz")).toBe(true);
});

test("a name that no file could have is refused by its length", () => {
  expect(lakeFolder("x".repeat(240))).toHaveLength(240);
  expect(() => lakeFolder("x".repeat(241))).toThrow(InvalidArgumentError);
  expect(() => lakeFolder("é".repeat(41))).toThrow("246 bytes");
});

test("changes are of one schema, in whatever spelling", () => {
  const table = (schema: string) => ({
    schema,
    name: "t",
    columns: [],
    deleted: [],
    before: [],
    after: [],
    inserted: [],
  });
  expect(schemaOf({ ddl: [], tables: [] })).toBeUndefined();
  expect(schemaOf({ ddl: [], tables: [table("S"), table("s")] })?.toLowerCase()).toBe("s");
  expect(() => schemaOf({ ddl: [], tables: [table("s"), table("t")] })).toThrow(UnsupportedError);
});
