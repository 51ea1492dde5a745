import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkHygiene, textProblems } from "./check-hygiene.mjs";
import { initGit, temporaryWorkspace, type WorkspaceFiles } from "./lib/temporary-workspace.js";

const documents = new Set(["README.md"]);

describe("text that must not be committed", () => {
  test.each([
    ["a machine path", "src/a.ts", 'const path = "/work/main/x";', "a path of one machine"],
    ["a home folder", "README.md", "cd /home/someone/moraine", "a path of one machine"],
    ["a temporary folder", "src/a.ts", 'open("/tmp/lake")', "a temporary folder by name"],
    ["a registry host", ".npmrc", "registry=https://registry.npmjs.org/", "the host of a package registry"],
    ["an unfinished place", "src/a.ts", "// TODO: later", "an unfinished place"],
    ["a stub", "src/a.ts", 'throw new Error("not implemented")', "a stub"],
    ["a focused test", "src/a.test.ts", 'it.only("x", () => {});', "a focused test"],
    ["a focused suite", "src/a.test.ts", 'describe.concurrent.only("x", () => {});', "a focused test"],
    ["a skipped test", "src/a.test.ts", 'test.skip("x", () => {});', "a skipped test"],
    ["a test expected to fail", "src/a.test.ts", 'test.fails("x", () => {});', "a skipped test"],
    ["a conditional skip", "src/a.test.ts", "test.skipIf(isSlow)(name, run);", "a skipped test"],
    ["a silenced compiler", "src/a.ts", "// @ts-expect-error", "a switched-off compiler message"],
    ["a secret", "src/a.ts", `const key = "AKIA${"A".repeat(16)}";`, "a secret"],
    ["the organisation of the work", "README.md", "Built for issue A.", "words about how the work was organised"],
    ["a tool that wrote it", "src/a.ts", "// Written by an AI assistant", "words about how the work was organised"],
    [
      "a missing document",
      "src/a.ts",
      "// see layout.md, section 2",
      "names layout.md, which is not in the repository",
    ],
  ])("%s", (_what, file, line, problem) => {
    const problems = textProblems(file, `fine\n${line}\n`, documents);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${file}:2: ${problem}`);
  });

  test.each([
    ["src/a.ts", "import('../work/x.js'); const url = `s3://bucket/home/a/`; // packages/root/x"],
    ["src/a.test.ts", "describe.skipIf(s3Server === undefined)('S3', () => {}); it.each([1])('only', () => {});"],
    ["src/a.test.ts", "describe.skipIf(!backend.available)(backend.name, () => {});"],
    ["src/a.ts", "const skipped = rows.skip(3); batch.only = true;"],
    ["src/a.ts", "// A session of DuckDB; the user agent; an issue of the format; a hack would be wrong."],
    ["src/a.ts", "// README.md says why, CHANGELOG.md says when"],
  ])("%s: %s", (file, line) => {
    expect(textProblems(file, line, documents)).toEqual([]);
  });
});

const clean: WorkspaceFiles = {
  ".gitignore": "dist/\n",
  "README.md": "# Workspace\n",
  ".changeset/first.md": '---\n"@moraine/codec": minor\n---\n\nFirst release.\n',
  "packages/codec/README.md": "# codec\n",
  "packages/codec/package.json": {
    name: "@moraine/codec",
    license: "MIT",
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
  },
  "packages/codec/dist/ignored.js": "// TODO",
};

function repository(changes: WorkspaceFiles): string {
  const root = temporaryWorkspace({ ...clean, ...changes });
  initGit(root);
  return root;
}

describe("files and packages", () => {
  test("a clean repository", () => {
    expect(checkHygiene(repository({}))).toEqual([]);
  });

  test("a binary file, a large file, a large vector file that is allowed", () => {
    expect(
      checkHygiene(
        repository({
          "picture.bin": "a\0b",
          "long.ts": "x".repeat(200 * 1024),
          "golden/keys.json": "x".repeat(200 * 1024),
        }),
      ),
    ).toEqual(["long.ts: 204800 bytes, more than the 196608 allowed", "picture.bin: a binary file"]);
  });

  test("what a released package needs", () => {
    expect(
      checkHygiene(
        repository({
          ".changeset/first.md": '---\n"@moraine/other": patch\n---\n\nSomething.\n',
          "packages/store/package.json": { name: "@moraine/store", exports: { ".": "./dist/index.js" } },
        }),
      ),
    ).toEqual([
      ".changeset/first.md: @moraine/other is not a package of this workspace",
      "packages/codec: neither a CHANGELOG.md nor a changeset for its first release",
      "packages/store: no README.md",
      "packages/store: neither a CHANGELOG.md nor a changeset for its first release",
      'packages/store/package.json: license must be "MIT"',
      'packages/store/package.json: exports["."] must have types',
    ]);
  });

  test("the command's exit code", () => {
    const run = (changes: WorkspaceFiles): number | null =>
      spawnSync(process.execPath, [
        fileURLToPath(new URL("check-hygiene.mjs", import.meta.url)),
        "--root",
        repository(changes),
      ]).status;
    expect(run({})).toBe(0);
    expect(run({ "a.ts": "// FIXME" })).toBe(1);
  });
});
