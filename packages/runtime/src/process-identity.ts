import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename } from "node:path";

/** A process, told apart from a later one that got the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the operating system's own terms; compared, never interpreted. Empty where that is not known. */
  readonly started: string;
  readonly host: string;
  /** For people to recognise it by. */
  readonly command: string;
}

let own: ProcessIdentity | undefined;

export function ownProcess(): ProcessIdentity {
  const script = process.argv[1];
  own ??= {
    pid: process.pid,
    started: startOf(process.pid) ?? "",
    host: hostname(),
    command: script === undefined ? "node" : `node ${basename(script)}`,
  };
  return own;
}

/** Whether that very process runs on this machine now. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.host !== hostname() || !exists(identity.pid)) return false;
  const started = startOf(identity.pid);
  return started !== undefined && started === identity.started;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there and belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * When a process started, in the terms of `ProcessIdentity.started`; undefined when it is gone. One that has ended and whose parent
 * has not asked for its status is gone: it holds nothing, and in a container nobody may ever ask.
 */
export function startOf(pid: number): string | undefined {
  return process.platform === "linux" ? startOnLinux(pid) : startByPs(pid);
}

/** Field 22 of the process's status, in ticks since the machine was started, and which start of the machine that was. */
function startOnLinux(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name, may hold spaces and parentheses itself.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    const [state, ticks] = [fields[0], fields[19]];
    return ticks === undefined || state === "Z" || state === "X"
      ? undefined
      : `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${ticks}`;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function startByPs(pid: number): string | undefined {
  try {
    const args = ["-o", "stat=", "-o", "lstart=", "-p", String(pid)];
    const text = execFileSync("ps", args, { encoding: "utf8", stdio: "pipe" }).trim();
    return text === "" || text.startsWith("Z") ? undefined : text.replace(/^\S+\s+/u, "");
  } catch {
    // No such process, or no `ps` as on Windows: there the number alone has to do.
    return process.platform === "win32" ? "" : undefined;
  }
}
