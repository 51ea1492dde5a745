// The release flow, tried on a copy of this workspace's manifests: a repair of the lowest package.
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { isPlatformPackage } from "./lib/platforms.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { initGit, temporaryWorkspace, writeFiles } from "./lib/temporary-workspace.js";
import { allDependencies, listPackages, readManifest, workspaceRoot } from "./lib/workspace.mjs";

const codec = "@moraine/codec";

function copyOfManifests(): string {
  const root = temporaryWorkspace({});
  const manifests = listPackages(workspaceRoot).map(({ folder }) => `${folder}/package.json`);
  for (const file of ["package.json", "pnpm-workspace.yaml", ".changeset/config.json", ...manifests]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    copyFileSync(join(workspaceRoot, file), join(root, file));
  }
  symlinkSync(join(workspaceRoot, "node_modules"), join(root, "node_modules"));
  initGit(root);
  return root;
}

const changesetsEnvironment = { PATH: `${join(workspaceRoot, "node_modules/.bin")}:${process.env["PATH"] ?? ""}` };

const nextPatch = (version: string): string => version.replace(/\d+$/, (patch) => String(Number(patch) + 1));

test("a repair goes up by a patch, and so does every package that depends on it, each with a changelog", async () => {
  const root = copyOfManifests();
  writeFiles(root, { ".changeset/repair.md": `---\n"${codec}": patch\n---\n\nRepairs a decoder.\n` });
  const before = listPackages(root);
  const { code, output } = await runCommand("changeset", ["version"], {
    root,
    capture: true,
    env: changesetsEnvironment,
  });
  expect(output).toContain("All files have been updated");
  expect(code).toBe(0);
  expect(existsSync(join(root, ".changeset/repair.md"))).toBe(false);
  for (const { folder, manifest } of before) {
    const after = readManifest(join(root, folder, "package.json"));
    const version = nextPatch(manifest.version ?? "");
    const changelog = (): string => readFileSync(join(root, folder, "CHANGELOG.md"), "utf8");
    if (manifest.name === codec) {
      expect(after.version).toBe(version);
      expect(changelog()).toContain("Repairs a decoder.");
    } else if (codec in allDependencies(manifest)) {
      expect(after.version).toBe(version);
      expect(changelog()).toContain(`## ${version}`);
      expect(allDependencies(after)[codec]).toBe("workspace:*");
    }
  }
});

test("the store and its platform packages always have one version, whichever of them changes", async () => {
  const root = copyOfManifests();
  const store = "@moraine/store";
  writeFiles(root, { ".changeset/addition.md": `---\n"${store}": minor\n---\n\nAdds a loop.\n` });
  const { code } = await runCommand("changeset", ["version"], { root, capture: true, env: changesetsEnvironment });
  expect(code).toBe(0);
  const after = listPackages(root);
  const platforms = after.filter(({ manifest }) => isPlatformPackage(manifest));
  const { version, optionalDependencies } = after.find(({ manifest }) => manifest.name === store)?.manifest ?? {};
  expect(version).toMatch(/^\d+\.\d+\.0$/u);
  expect(platforms.map(({ manifest }) => manifest.name)).toEqual(Object.keys(optionalDependencies ?? {}));
  expect(platforms.length).toBeGreaterThan(0);
  for (const { folder, manifest } of platforms) {
    expect([folder, manifest.version]).toEqual([folder, version]);
    expect(optionalDependencies?.[manifest.name]).toBe("workspace:*");
  }
});
