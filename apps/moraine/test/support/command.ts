import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { run } from "../../src/cli/program.js";

const workspace = fileURLToPath(new URL("../../../../", import.meta.url));
const compiler = `${workspace}node_modules/typescript/lib/tsc.js`;
const command = fileURLToPath(new URL("../../bin/moraine.js", import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Builds the command from the sources as they are now, so that no stale build is tested. Quick where nothing changed. */
export function build(): void {
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-b", "apps/moraine"], {
    cwd: workspace,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the app does not build:\n${stdout}`);
}

/** Runs the built command as a process of its own. */
export function moraine(args: readonly string[], stdin = ""): Promise<Outcome> {
  return runProcess(process.execPath, [command, ...args], stdin);
}

/** The same without a process of its own, which takes half a second to start: for the many cases of one command. */
export async function inProcess(args: readonly string[], stdin = ""): Promise<Outcome> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const code = await run(args, { output: { stdout, stderr }, stdin: Readable.from([stdin]) });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

class Collected extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString("utf8");
    done();
  }
}

/** Runs a shell line in which `moraine` is the built command. */
export function shell(line: string): Promise<Outcome> {
  const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return runProcess(
    "bash",
    ["-c", `set -o pipefail; moraine() { ${quote(process.execPath)} ${quote(command)} "$@"; }; ${line}`],
    "",
  );
}

/** A process of the built command that may be interrupted. */
export interface Started {
  readonly pid: number | undefined;
  readonly outcome: Promise<Outcome>;
  /** As Ctrl-C does. */
  readonly interrupt: () => void;
}

export function start(args: readonly string[]): Started {
  const child = spawn(process.execPath, [command, ...args], { stdio: "pipe" });
  return { pid: child.pid, outcome: outcomeOf(child), interrupt: () => void child.kill("SIGINT") };
}

function runProcess(file: string, args: readonly string[], stdin: string): Promise<Outcome> {
  const child = spawn(file, args, { stdio: "pipe" });
  child.stdin.end(stdin);
  return outcomeOf(child);
}

function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        texts[name] += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...texts }));
  });
}
