// The addon in its place, and beside it a file that says what it was made of. Plain Node without dependencies.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * @typedef {object} Stamp
 * @property {string} build Digest of everything that went into the addon: sources, headers, compiler, flags.
 * @property {string} sources Digest of its sources and headers alone.
 */

/** @param {string} addon */
const stampPath = (addon) => addon.replace(/(\.node)?$/, ".digest");

/**
 * What the addon in this place was made of; undefined when there is none, or one that cannot be told.
 * @param {string} addon
 * @returns {Stamp | undefined}
 */
export function readStamp(addon) {
  if (!existsSync(addon) || !existsSync(stampPath(addon))) return undefined;
  const [build = "", sources = ""] = readFileSync(stampPath(addon), "utf8").split("\n");
  return { build, sources };
}

/** @param {string} addon */
export function removeAddon(addon) {
  rmSync(addon, { force: true });
  rmSync(stampPath(addon), { force: true });
}

/**
 * Puts a new file in the place of the addon and never writes into the old one: other processes may have it mapped.
 * @param {string} built
 * @param {string} addon
 * @param {Stamp | undefined} stamp
 */
export function installAddon(built, addon, stamp) {
  mkdirSync(dirname(addon), { recursive: true });
  const next = `${addon}.${process.pid}`;
  copyFileSync(built, next);
  // A process that is killed between these steps leaves an addon that cannot be told, and that is built again.
  rmSync(stampPath(addon), { force: true });
  renameSync(next, addon);
  if (stamp !== undefined) {
    writeFileSync(`${next}.digest`, `${stamp.build}\n${stamp.sources}\n`);
    renameSync(`${next}.digest`, stampPath(addon));
  }
}
