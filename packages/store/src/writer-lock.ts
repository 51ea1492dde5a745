import { createHash, randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, StoreLockedError } from "@moraine/codec";
import { limits } from "./limits.js";
import { parseLocation } from "./location.js";

export interface WriterLockOptions {
  /** What holds the lock, for the error of whoever is refused: `moraine service`. */
  readonly holder: string;
  /** Takes the lock away from a live holder. Default false. */
  readonly takeOver?: boolean;
  /** Folder of the lock files, private to this user. Default: `MORAINE_RUNTIME_DIR`, else one in `XDG_RUNTIME_DIR` or the temporary folder. */
  readonly runtimeFolder?: string;
}

/** A held lock. Releasing it again does nothing. */
export interface WriterLock {
  release(): void;
}

/** The process that holds a lock. */
interface Owner {
  readonly pid: number;
  /** Tells this process from a later one with the same number; empty where the system does not say. */
  readonly started: string;
  readonly holder: string;
  readonly token: string;
}

/**
 * Notes that this process is the writer of a store, and refuses if another live process of this machine has done so. Advice
 * only: opening a store never asks for it, and what keeps two writers apart is fencing. A layer that keeps a long-lived
 * writer (a service) takes it, so that others find out whom they would displace. A lock whose process is gone is taken over.
 * Fails with `store_locked`, naming the process.
 */
export function acquireWriterLock(location: string, options: WriterLockOptions): WriterLock {
  const { url } = parseLocation(location);
  const folder = options.runtimeFolder ?? defaultFolder();
  makePrivate(folder);
  const path = join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.lock`);
  const owner: Owner = { pid: process.pid, started: startOf(process.pid), holder: options.holder, token: randomUUID() };
  for (let attempt = 0; attempt < limits.lockAttempts; attempt++) {
    if (tryCreate(path, owner)) return { release: () => removeIf(path, (found) => found.token === owner.token) };
    const found = read(path);
    if (found !== undefined && isAlive(found) && options.takeOver !== true) {
      throw new StoreLockedError(`${url} is held by process ${found.pid} (${found.holder})`, {
        remedy: "Use that process, end it, or open with takeOver to displace it.",
      });
    }
    removeIf(path, (present) => present.token === found?.token);
  }
  throw new StoreLockedError(`the lock of ${url} changed hands ${limits.lockAttempts} times`, { remedy: "Try again." });
}

function defaultFolder(): string {
  const named = process.env["MORAINE_RUNTIME_DIR"] ?? "";
  if (named !== "") return named;
  const runtime = process.env["XDG_RUNTIME_DIR"] ?? "";
  const user = process.getuid?.() ?? "user";
  return runtime === "" ? join(tmpdir(), `moraine-${user}`) : join(runtime, "moraine");
}

/** In a shared temporary folder another user could have made the folder first, and would then own our locks. */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(folder);
  const own = process.getuid?.();
  if (own !== undefined && (uid !== own || (mode & 0o022) !== 0)) {
    throw new ConfigurationError(`the runtime folder ${folder} can be written by others`, {
      remedy: "Set MORAINE_RUNTIME_DIR to a folder with mode 0700 of your own.",
    });
  }
}

/** Writes the lock elsewhere and links it in place, so that nobody ever reads half of it. */
function tryCreate(path: string, owner: Owner): boolean {
  const draft = `${path}.${owner.token}`;
  writeFileSync(draft, JSON.stringify(owner), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function read(path: string): Owner | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof found !== "object" || found === null) return undefined;
    const { pid, started, holder, token } = found as Partial<Record<keyof Owner, unknown>>;
    if (typeof pid !== "number" || typeof token !== "string") return undefined;
    return { pid, started: String(started), holder: String(holder), token };
  } catch (error) {
    if (hasCode(error, "ENOENT") || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Moves the lock aside before it looks again whose it is: between a look and a removal it could have changed hands. */
function removeIf(path: string, matches: (owner: Owner) => boolean): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  const found = read(aside);
  try {
    if (found !== undefined && !matches(found)) linkSync(aside, path);
  } catch (error) {
    // Someone else has taken the lock meanwhile; the one that was moved aside by mistake is lost to its holder, whose
    // writer the other one displaces anyway.
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is there, and another user's.
    if (!hasCode(error, "EPERM")) return false;
  }
  const started = startOf(owner.pid);
  return started === "" || owner.started === "" || started === owner.started;
}

/** The moment at which a process began, in the kernel's own unit; empty where there is no /proc. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name in parentheses may hold anything; the fields after it begin with the third.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
