import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { archiveProblems, checkPackage, manifestProblems } from "./check-package.mjs";
import { temporaryWorkspace, type WorkspaceFiles } from "./lib/temporary-workspace.js";
import { workspaceRoot } from "./lib/workspace.mjs";

const manifest = {
  name: "@moraine/example",
  version: "1.0.0",
  description: "An example.",
  license: "MIT",
  type: "module",
  engines: { node: ">=20" },
  sideEffects: false,
  files: ["dist", "src"],
  publishConfig: { access: "public" },
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
};

function examplePackage(changes: WorkspaceFiles): string {
  const root = temporaryWorkspace({
    "package.json": manifest,
    "README.md": "# example\n",
    "src/index.ts": "export const a = 1;\n",
    "dist/index.js": "export const a = 1;\n",
    "dist/index.d.ts": "export declare const a = 1;\n",
    ...changes,
  });
  copyFileSync(join(workspaceRoot, "LICENSE"), join(root, "LICENSE"));
  return root;
}

test("a package that is right", async () => {
  expect(await checkPackage(examplePackage({}))).toEqual([]);
});

test("an export map that points nowhere is found by both tools", async () => {
  const broken = { ".": { types: "./dist/other.d.ts", default: "./dist/other.js" } };
  const problems = await checkPackage(examplePackage({ "package.json": { ...manifest, exports: broken } }));
  expect(problems.map((problem) => problem.slice(0, problem.indexOf(":")))).toEqual(["publint", "attw"]);
});

test("a declaration file that imports what is not there is found", async () => {
  const problems = await checkPackage(examplePackage({ "dist/index.d.ts": 'export { a } from "./missing.js";\n' }));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^attw: /);
});

test("a package that is not built", async () => {
  const root = temporaryWorkspace({ "package.json": manifest });
  expect(await checkPackage(root)).toEqual(["not built: run `npm run build`"]);
});

test("fields that publishing needs", () => {
  expect(manifestProblems(manifest)).toEqual([]);
  expect(manifestProblems({ name: "@moraine/example" })).toHaveLength(8);
});

test("what an archive must and must not hold", () => {
  const complete = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"];
  expect(archiveProblems(complete, ["index.ts"])).toEqual([]);
  expect(archiveProblems(["package.json", "dist/index.js"], ["index.ts"])).toHaveLength(3);
  expect(archiveProblems([...complete, "src/a.test.ts", "dist/.tsbuildinfo", "dist/old.js"], ["index.ts"])).toEqual([
    "the archive holds src/a.test.ts",
    "the archive holds dist/.tsbuildinfo",
    "dist/old.js has no source any more: run `npm run clean`",
  ]);
});
