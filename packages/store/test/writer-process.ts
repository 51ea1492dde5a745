import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface WriterProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** What runs the script. Default: this Node. */
  readonly command?: readonly string[];
}

/** A running writer process and the lines that it has printed. */
export class WriterProcess {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #waiting = new Set<() => void>();

  constructor(script: string, args: readonly string[], options: WriterProcessOptions = {}) {
    const [program = process.execPath, ...before] = options.command ?? [process.execPath];
    this.#child = spawn(program, [...before, script, ...args], {
      env: options.env ?? process.env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#ended = once(this.#child, "close").then(() => this.#wake());
    const output = this.#child.stdout;
    if (output === null) throw new Error("the process has no output");
    createInterface({ input: output }).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
  }

  /** Waits for the first line that starts like this; fails when the process ends without it. */
  async line(start: string): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => line.startsWith(start));
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        await this.#ended;
        const late = this.lines.find((line) => line.startsWith(start));
        if (late !== undefined) return late;
        throw new Error(`the process ended without "${start}": ${this.lines.slice(-3).join("; ")}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Batches that it has reported as acknowledged, in the order of the reports. */
  get acknowledged(): number[] {
    return this.lines.filter((line) => line.startsWith("acknowledged ")).map((line) => Number(line.split(" ")[1]));
  }

  /** Gives the process a line to read. */
  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Ends the process at once and waits until all that it printed has arrived. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async ended(): Promise<void> {
    await this.#ended;
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
