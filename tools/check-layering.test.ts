import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkLayering } from "./check-layering.mjs";
import { temporaryWorkspace, type WorkspaceFiles } from "./lib/temporary-workspace.js";

const clean: WorkspaceFiles = {
  "tsconfig.build.json": {
    references: [{ path: "packages/codec" }, { path: "packages/store" }, { path: "packages/catalog" }],
  },
  "packages/codec/package.json": { name: "@moraine/codec", exports: { ".": {}, "./testing": {} } },
  "packages/codec/tsconfig.json": {},
  "packages/codec/src/index.ts": 'export { key } from "./key.js";\nimport "@bufbuild/protobuf/wire";',
  "packages/codec/src/key.ts": "export const key = 1;",
  "packages/codec/src/key.test.ts": 'import "node:fs";\nimport "vitest";\nimport "@moraine/codec";\nimport("" + 1);',
  "packages/store/package.json": { name: "@moraine/store", dependencies: { "@moraine/codec": "workspace:*" } },
  "packages/store/tsconfig.json": { references: [{ path: "../codec" }] },
  "packages/store/src/index.ts": 'import "@moraine/codec";\nimport "node:fs";\nimport "@moraine/codec/testing";',
  "packages/catalog/package.json": { name: "@moraine/catalog", dependencies: { "@moraine/store": "workspace:*" } },
  "packages/catalog/tsconfig.json": { references: [{ path: "../store" }] },
  "packages/catalog/test/golden.test.ts":
    'import "../../../golden/keys.json";\nimport "../../store/test/s3-server.js";',
};

const check = (changes: WorkspaceFiles): string[] => checkLayering(temporaryWorkspace({ ...clean, ...changes }));

test("a workspace that keeps the layers", () => {
  expect(check({})).toEqual([]);
});

test.each([
  [
    "an upward import",
    "packages/codec/src/up.ts",
    'import "@moraine/store";',
    'up.ts:1: "@moraine/store" is not below',
  ],
  ["an upward import in a test", "packages/codec/src/up.test.ts", 'import "@moraine/store";', "is not below"],
  ["an upward dynamic import", "packages/store/src/up.ts", 'await import("@moraine/catalog");', "is not below"],
  ["an upward type", "packages/store/src/up.ts", 'type A = import("@moraine/catalog").A;', "is not below"],
  ["an unknown package of ours", "packages/store/src/up.ts", 'import "@moraine/elsewhere";', "is not below"],
  ["a way past the entry point", "packages/store/src/deep.ts", 'import "@moraine/codec/dist/key.js";', "goes past"],
  [
    "a relative way into a neighbour",
    "packages/store/src/deep.ts",
    'import "../../codec/src/key.js";',
    "leaves the package",
  ],
  [
    "a test helper in product code",
    "packages/catalog/src/helper.ts",
    'import "../../store/test/s3-server.js";',
    "leaves the package",
  ],
  [
    "a test helper of a package above",
    "packages/store/test/helper.test.ts",
    'import "../../catalog/test/lake.js";',
    "leaves the package",
  ],
  [
    "golden data in product code",
    "packages/store/src/g.ts",
    'import "../../../golden/keys.json";',
    "leaves the package",
  ],
  ["an absolute path", "packages/store/src/a.ts", 'import "file:///a.js";', "absolute path"],
  ["input and output below", "packages/codec/src/io.ts", 'import "node:fs";', "does no input or output"],
  ["input and output without prefix", "packages/codec/src/io.ts", 'import "fs/promises";', "does no input or output"],
  ["a library that is not allowed", "packages/codec/src/io.ts", 'import "apache-arrow";', "not among the libraries"],
  ["test code in product code", "packages/codec/src/t.ts", 'import "./key.test.js";', "is test code"],
  ["the package's own name", "packages/codec/src/own.ts", 'import "@moraine/codec";', "is the package itself"],
  ["a computed module", "packages/store/src/c.ts", "await import(name);", "the module is computed"],
])("%s", (_what, file, text, problem) => {
  const problems = check({ [file]: text });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
});

test("manifests and compiler references follow the same table", () => {
  expect(
    check({
      "packages/codec/package.json": { name: "@moraine/codec", devDependencies: { "@moraine/store": "1.0.0" } },
      "packages/store/src/index.ts": "",
      "packages/planner-rules/package.json": { name: "@moraine/planner-rules" },
      "packages/planner-rules/tsconfig.json": {},
      "packages/unknown/package.json": { name: "@moraine/unknown" },
    }),
  ).toEqual([
    "packages/unknown: not in tools/layers.mjs",
    "packages/codec/package.json: @moraine/store is not below @moraine/codec",
    'packages/codec/package.json: @moraine/store must be "workspace:*"',
    "packages/codec/tsconfig.json: no reference to packages/store, on which it depends",
    "tsconfig.build.json: no reference to packages/planner-rules",
  ]);
});

test("the command's exit code", () => {
  const run = (changes: WorkspaceFiles): number | null =>
    spawnSync(process.execPath, [
      fileURLToPath(new URL("check-layering.mjs", import.meta.url)),
      "--root",
      temporaryWorkspace({ ...clean, ...changes }),
    ]).status;
  expect(run({})).toBe(0);
  expect(run({ "packages/codec/src/up.ts": 'import "@moraine/store";' })).toBe(1);
});
