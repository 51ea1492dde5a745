import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

/**
 * @typedef {object} RunOptions
 * @property {string} root Working folder; its node_modules/.bin comes first on PATH.
 * @property {Record<string, string | undefined>} [env] Variables to add; those that are undefined are taken away.
 * @property {boolean} [capture] Collect stdout and stderr instead of showing them.
 * @property {boolean} [keep] Show them and collect them as well.
 * @property {boolean} [shell] Treat `command` as a shell command line.
 * @property {number} [limitMs] End the command after this long, and say so.
 */

/**
 * Runs a command of the workspace to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} options
 * @returns {Promise<{ code: number, output: string }>} A command that a signal ended counts as exit code 1.
 */
export function runCommand(command, args, { root, env = {}, capture = false, keep = false, shell = false, limitMs }) {
  return new Promise((settle, fail) => {
    const piped = capture || keep ? "pipe" : "inherit";
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", piped, piped],
      shell,
      env: {
        ...process.env,
        PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`,
        ...env,
      },
    });
    /** @type {Buffer[]} */
    const chunks = [];
    for (const [from, to] of /** @type {const} */ ([
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])) {
      from?.on("data", (/** @type {Buffer} */ chunk) => {
        chunks.push(chunk);
        if (keep) to.write(chunk);
      });
    }
    const limit =
      limitMs === undefined
        ? undefined
        : setTimeout(() => {
            console.error(`${command}: ended after ${limitMs / 1000} s, the most it may take`);
            child.kill("SIGKILL");
          }, limitMs);
    child.on("error", (error) => {
      clearTimeout(limit);
      fail(error);
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      settle({ code: code ?? 1, output: Buffer.concat(chunks).toString("utf8") });
    });
  });
}
