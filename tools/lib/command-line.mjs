// The few lines that every script of this folder shares: is it the one being run, which root, how problems are printed.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { workspaceRoot } from "./workspace.mjs";

/**
 * True when Node was started with the module at this URL.
 * @param {string} moduleUrl
 * @returns {boolean}
 */
export function isMain(moduleUrl) {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === realpathSync(fileURLToPath(moduleUrl));
}

/**
 * The folder given by `--root FOLDER`, otherwise this workspace. Tests point the checks at small folders of their own.
 * @param {readonly string[]} args
 * @returns {string}
 */
export function rootFrom(args) {
  const at = args.indexOf("--root");
  const given = at === -1 ? undefined : args[at + 1];
  return given === undefined ? workspaceRoot : resolve(given);
}

/**
 * Prints problems one a line, or one line that all is well, and sets the exit code.
 * @param {string} name
 * @param {readonly string[]} problems
 * @param {string} wellText
 */
export function reportProblems(name, problems, wellText) {
  for (const problem of problems) {
    console.error(`${name}: ${problem}`);
  }
  if (problems.length > 0) {
    console.error(`${name}: ${problems.length} ${problems.length === 1 ? "problem" : "problems"}`);
    process.exitCode = 1;
  } else {
    console.log(`${name}: ${wellText}`);
  }
}
