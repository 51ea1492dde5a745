// The tools that only need configuration (lint, format, types, unused code) must be able to fail with ours.
import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "./lib/run-command.mjs";
import { temporaryWorkspace, type WorkspaceFiles } from "./lib/temporary-workspace.js";
import { workspaceRoot } from "./lib/workspace.mjs";

function configured(files: WorkspaceFiles): string {
  const root = temporaryWorkspace({
    "package.json": { name: "w", private: true, type: "module", workspaces: ["packages/*"] },
    "tsconfig.json": {
      extends: "./tsconfig.base.json",
      include: ["packages/*/src"],
      compilerOptions: { noEmit: true },
    },
    "packages/codec/package.json": { name: "@moraine/codec", type: "module", exports: "./src/index.ts" },
    ...files,
  });
  for (const file of [".oxlintrc.json", ".oxfmtrc.json", "tsconfig.base.json", "knip.jsonc"]) {
    copyFileSync(join(workspaceRoot, file), join(root, file));
  }
  symlinkSync(join(workspaceRoot, "node_modules"), join(root, "node_modules"));
  return root;
}

async function run(root: string, command: string, ...args: string[]): Promise<{ code: number; output: string }> {
  return await runCommand(join(workspaceRoot, "node_modules/.bin", command), args, { root, capture: true });
}

test("lint", async () => {
  const bad = `
    export default 1;
    export const untyped: any = 1;
    export async function later(): Promise<void> { await Promise.resolve(); }
    export function forgets(): void { later(); }
    export async function waits(): Promise<void> { await 1; }
    export function passes(): void { [1].forEach(async () => { await later(); }); }
    export function chooses(kind: "a" | "b"): number { switch (kind) { case "a": return 1; } return 2; }
    export const list = ["a"] as string[];
    const name = "x" as string;
    export const twice = name as string;
    import { join } from "node:path";
    export type Join = typeof join;
  `;
  const root = configured({ "packages/codec/src/index.ts": bad });
  const { code, output } = await run(root, "oxlint", "-f", "unix", "packages");
  expect(code).toBe(1);
  for (const rule of [
    "no-default-export",
    "no-explicit-any",
    "no-floating-promises",
    "await-thenable",
    "no-misused-promises",
    "switch-exhaustiveness-check",
    "no-unnecessary-type-assertion",
    "consistent-type-imports",
  ]) {
    expect(output).toContain(rule);
  }
});

test("format", async () => {
  const root = configured({ "packages/codec/src/index.ts": "export const a   = 1\n" });
  expect((await run(root, "oxfmt", "--check", "packages")).code).toBe(1);
  expect((await run(root, "oxfmt", "packages")).code).toBe(0);
  expect((await run(root, "oxfmt", "--check", "packages")).code).toBe(0);
});

test("types", async () => {
  const root = configured({ "packages/codec/src/index.ts": "export const first: string = ['a'][0];\n" });
  const { code, output } = await run(root, "tsc", "-b");
  expect(code).not.toBe(0);
  expect(output).toContain("TS2322");
});

test("unused code", async () => {
  const root = configured({
    "packages/codec/src/index.ts": 'export { used } from "./used.js";\n',
    "packages/codec/src/used.ts": "export const used = 1;\nexport const spare = 2;\n",
    "packages/codec/src/lost.ts": "export const lost = 1;\n",
  });
  const { code, output } = await run(root, "knip", "--workspace", "packages/codec");
  expect(code).toBe(1);
  expect(output).toContain("lost.ts");
  expect(output).toContain("spare");
});
