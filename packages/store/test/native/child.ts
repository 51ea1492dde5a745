import { spawn } from "node:child_process";
import { once } from "node:events";

/** What is left of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** A process that takes longer is killed, which its signal then says. */
  readonly limitMs: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeOptions?: readonly string[];
  /** Most bytes of memory. Linux only. */
  readonly memoryBytes?: number;
}

/** Runs a script to its end. */
export async function runToEnd(script: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const { limitMs, env = process.env, nodeOptions = [], memoryBytes } = options;
  const limit = memoryBytes === undefined ? [] : ["sh", "-c", `ulimit -d ${memoryBytes / 1024} && exec "$0" "$@"`];
  const command = [...limit, process.execPath, ...nodeOptions, script, ...args];
  const child = spawn(command[0] ?? "", command.slice(1), { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (output.stderr += text));
  const tooLate = setTimeout(() => child.kill("SIGKILL"), limitMs);
  await once(child, "close");
  clearTimeout(tooLate);
  return { code: child.exitCode, signal: child.signalCode, ...output };
}

/** Whether the addon was built with AddressSanitizer, which needs memory of its own and keeps what was freed. */
export const isSanitized = (process.env["LD_PRELOAD"] ?? "").includes("asan");
