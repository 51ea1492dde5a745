import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listPackages, workspaceRoot } from "./lib/workspace.mjs";
import { packerProblem } from "./require-pnpm.mjs";

test("only pnpm packs", () => {
  expect(packerProblem("pnpm/10.34.9 npm/? node/v20.0.0 linux x64")).toBeUndefined();
  expect(packerProblem("npm/10.0.0 node/v20.0.0 linux x64")).toMatch(/npx pnpm pack/u);
  expect(packerProblem(undefined)).toMatch(/npx pnpm pack/u);
});

test("every package that is published has the check before it is packed", () => {
  const published = listPackages(workspaceRoot).filter(({ manifest }) => manifest.private !== true);
  expect(published.length).toBeGreaterThan(5);
  for (const { folder, manifest } of published) {
    const up = folder.replaceAll(/[^/]+/gu, "..");
    const script = manifest.scripts?.["prepack"] ?? "";
    expect([folder, script.split(" && ")[0]]).toEqual([folder, `node ${up}/tools/require-pnpm.mjs`]);
  }
});

test("npm pack fails and says why", () => {
  const folder = join(workspaceRoot, "packages/codec");
  const { status, stderr } = spawnSync("npm", ["pack", "--dry-run"], { cwd: folder, encoding: "utf8" });
  expect(status).not.toBe(0);
  expect(stderr).toContain("npx pnpm pack");
});
