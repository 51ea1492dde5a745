import { expect, test } from "vitest";
import { importSpecifiers } from "./import-specifiers.mjs";

const named = (text: string): (string | undefined)[] =>
  importSpecifiers("file.ts", text).map(({ specifier }) => specifier);

test.each([
  ['import { a } from "m";'],
  ['import type { A } from "m";'],
  ['import "m";'],
  ['import * as m from "m";'],
  ['export { a } from "m";'],
  ['export * from "m";'],
  ['const m = await import("m");'],
  ["const m = await import(`m`);"],
  ['type A = import("m").A;'],
  ['type A = typeof import("m");'],
  ['import m = require("m");'],
  ['const m = require("m");'],
  ['const at = require.resolve("m");'],
  ['const at = import.meta.resolve("m");'],
  ['vi.mock("m");'],
  ['const m = await vi.importActual("m");'],
])("%s", (text) => {
  expect(named(text)).toEqual(["m"]);
});

test("a computed module is reported as unknown", () => {
  expect(named("const m = await import(`m/${name}`);")).toEqual([undefined]);
  expect(named("const m = await import(path);")).toEqual([undefined]);
});

test("text and comments are not imports", () => {
  expect(named('// import "a";\nconst text = \'import "b"\'; other.resolve("c"); export const d = 1;')).toEqual([]);
});

test("lines are counted from one", () => {
  expect(importSpecifiers("file.ts", '\nimport "a";\n\nimport "b";')).toEqual([
    { specifier: "a", line: 2 },
    { specifier: "b", line: 4 },
  ]);
});
