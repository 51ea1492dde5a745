// Why an install failed, in words that say what to do. Plain Node without dependencies.
import { minimumNodeMajor } from "./node-version.mjs";

/**
 * @typedef {object} CommandResult
 * @property {number | null} code Exit status; null when the command could not be started or was killed.
 * @property {string} output Last part of stdout and stderr together.
 */

/**
 * One or two sentences on why an install failed and what to do.
 * @param {CommandResult} result
 * @returns {string}
 */
export function explainInstallFailure({ code, output }) {
  /** @type {readonly (readonly [RegExp, string])[]} */
  const causes = [
    [
      /ENOENT.*npx|npx.*ENOENT|npx: (command )?not found/i,
      "npx was not found. It comes with npm: install npm (part of Node) and run the command again.",
    ],
    [
      /ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_NO_LOCKFILE|ERR_PNPM_LOCKFILE_CONFIG_MISMATCH/,
      "pnpm-lock.yaml does not match the package.json files. Run `npx pnpm install` with the pnpm version that package.json names, and commit the lock file.",
    ],
    [
      /ERR_PNPM_UNSUPPORTED_ENGINE|EBADENGINE/,
      `A dependency does not support this Node (${process.version}). Use Node ${minimumNodeMajor} or later.`,
    ],
    [/ENOSPC/, "The disk is full. Free some space (about 1 GB is needed) and run the command again."],
    [
      /EACCES|EPERM|EROFS/,
      "A folder could not be written. Check the permissions of this folder and of npm's cache folder.",
    ],
    [
      /\bE?40[137]\b|ERR_PNPM_FETCH_40[137]|E403|EAUTH|blocked|forbidden/i,
      "The package registry refused the request. Check npm's registry and proxy settings (`npm config list`).",
    ],
    [
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|ERR_PNPM_NO_OFFLINE|socket hang up|network/i,
      "The package registry could not be reached. Check the network and npm's registry and proxy settings (`npm config list`), then run the command again.",
    ],
    [
      /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/,
      "The package registry's certificate was not accepted. Check npm's cafile setting (`npm config list`).",
    ],
  ];
  const cause = causes.find(([pattern]) => pattern.test(output))?.[1];
  return cause ?? `The install ended with exit code ${code ?? "none"}; its output is above.`;
}
