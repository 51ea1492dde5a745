import { spawn } from "node:child_process";
import { once } from "node:events";

/** What is left of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script to its end; one that takes longer is killed, which its signal then says. */
export async function runToEnd(
  script: string,
  args: readonly string[],
  limitMs: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const child = spawn(process.execPath, ["--expose-gc", script, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (output.stderr += text));
  const tooLate = setTimeout(() => child.kill("SIGKILL"), limitMs);
  await once(child, "close");
  clearTimeout(tooLate);
  return { code: child.exitCode, signal: child.signalCode, ...output };
}
