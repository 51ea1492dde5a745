// Looks at the addons in the platform packages of the store before they are published: each is there, is for its
// processor, needs no newer system than it may, and the one for this machine loads. Arguments name the platforms to look at
// (`linux-x64-gnu`); all of them when there are none.
import { join } from "node:path";
import { isMain, reportProblems } from "./lib/command-line.mjs";
import { addonName, isPlatformPackage, platformProblems } from "./lib/platforms.mjs";
import { runCommand } from "./lib/run-command.mjs";
import { listPackages, workspaceRoot } from "./lib/workspace.mjs";

/**
 * Problems of the platform packages of a workspace, one line each.
 * @param {string} root
 * @param {readonly string[]} platforms Names without `@moraine/store-`; empty for all.
 * @returns {Promise<string[]>}
 */
export async function checkPlatforms(root, platforms) {
  const packages = listPackages(root).filter(({ manifest }) => isPlatformPackage(manifest));
  const triple = (/** @type {string} */ name) => name.replace("@moraine/store-", "");
  const unknown = platforms.filter((platform) => !packages.some(({ manifest }) => triple(manifest.name) === platform));
  const problems = unknown.map((platform) => `${platform}: no such platform package`);
  for (const { folder, manifest } of packages) {
    const platform = triple(manifest.name);
    if (platforms.length > 0 && !platforms.includes(platform)) continue;
    const found = platformProblems(join(root, folder), manifest);
    if (found.length === 0 && manifest.os?.[0] === process.platform && manifest.cpu?.[0] === process.arch) {
      // In a process of its own: an addon that is wrong may end it.
      const load = ["-e", "require(process.argv[1])", join(root, folder, addonName)];
      const { code, output } = await runCommand(process.execPath, load, { root, capture: true });
      if (code !== 0) found.push(`${addonName}: does not load: ${output.trim()}`);
    }
    problems.push(...found.map((problem) => `${platform}: ${problem}`));
  }
  return problems;
}

if (isMain(import.meta.url)) {
  const problems = await checkPlatforms(workspaceRoot, process.argv.slice(2));
  reportProblems("platforms", problems, "the addons are there and load");
}
