import { type ChildProcess as NodeChild, spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ChildInput, ChildResult, ChildTask } from "./tasks.js";

export const childFlag = "--child";
/** Begins the one line by which a child tells its result. */
export const resultMark = "result ";

const program = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url));

/** A task that runs in a process of its own. */
export class ChildProcess<T extends ChildTask> {
  readonly #child: NodeChild;
  readonly #closed: Promise<unknown>;
  readonly #result: Promise<ChildResult<T>>;

  constructor(nodeArguments: readonly string[], task: T, input: ChildInput<T>) {
    const args = [...nodeArguments, program, childFlag, task, JSON.stringify(input)];
    // Its input ends with this process, and the child with its input: none is left behind.
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#closed = once(this.#child, "close");
    const output = this.#child.stdout;
    if (output === null) throw new Error("the process has no output");
    this.#result = new Promise((resolve, reject) => {
      createInterface({ input: output }).on("line", (line) => {
        if (line.startsWith(resultMark)) resolve(JSON.parse(line.slice(resultMark.length)) as ChildResult<T>);
      });
      this.#closed.then(() => reject(new Error(`the process for "${task}" ended without a result`)), reject);
    });
  }

  /** What the task gave. The process may still run. */
  result(): Promise<ChildResult<T>> {
    return this.#result;
  }

  async ended(): Promise<void> {
    await this.#closed;
  }

  /** SIGKILL: nothing is closed, flushed or cleaned up. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}

/** Runs a task in a process of its own to its end. */
export async function runInChild<T extends ChildTask>(
  nodeArguments: readonly string[],
  task: T,
  input: ChildInput<T>,
): Promise<ChildResult<T>> {
  const child = new ChildProcess(nodeArguments, task, input);
  const result = await child.result();
  await child.ended();
  return result;
}
