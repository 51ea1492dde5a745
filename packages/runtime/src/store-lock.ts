import { createHash, randomUUID } from "node:crypto";
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { StoreLockedError } from "@moraine/codec";
import { followLinks, type Location, parseLocation } from "./location.js";
import { isRunning, ownProcess, type ProcessIdentity } from "./process-identity.js";
import { runtimeFolder } from "./runtime-folder.js";

/** What a lock file holds. */
export interface Holder extends ProcessIdentity {
  /** Of the holding handles together: one for each copy of this module, so that a thread does not drop another one's lock. */
  readonly token: string;
  /** Which thread of its process; 0 is the main one, and where it is not said. */
  readonly thread?: number;
  readonly use?: LockUse;
  readonly location: string;
}

/**
 * What holds a lock: a handle of an application, or a service, which works for others. Neither displaces the other, also where
 * both are in one process, in threads of their own.
 */
export type LockUse = "handle" | "service";

type Refusal = (holder: Holder) => StoreLockedError;

/** Tries to get past lock files that appear and vanish while they are looked at. */
const acquireAttempts = 100;

const lockSuffix = ".lock";
const ownToken = randomUUID();
/** Locks that this process holds, by the path of their file. */
const held = new Map<string, HeldLock>();

interface HeldLock {
  readonly location: string;
  readonly use: LockUse;
  handles: number;
}

/**
 * Says that this process is the writer of a store. A courtesy between processes of one user on one machine, so that nobody
 * fences a running writer by accident: what keeps the store right is its own fencing. A lock whose process has ended, however
 * that came about, counts for nothing. Several handles of one process share the lock; the newest one has fenced the others.
 */
export class StoreLock {
  /** Whether a process of this machine, this one included, held the lock before: opening the store fences it. */
  readonly displaces: boolean;
  readonly #path: string;
  #held = true;

  private constructor(path: string, location: string, use: LockUse, displaces: boolean) {
    this.#path = path;
    this.displaces = displaces;
    held.set(path, { location, use, handles: (held.get(path)?.handles ?? 0) + 1 });
  }

  /**
   * Fails with `store_locked`, naming the process, unless `takeOver`. A store in memory is nobody else's: `undefined`.
   * `refusal` words the failure for a place that is locked for another purpose than writing a store.
   */
  static acquire(
    store: string,
    takeOver: boolean,
    refusal: Refusal = lockedBy,
    use: LockUse = "handle",
  ): StoreLock | undefined {
    const location = followLinks(parseLocation(store));
    if (location.scheme === "memory") return undefined;
    const path = join(runtimeFolder(), `${lockName(location)}${lockSuffix}`);
    return StoreLock.acquireFile(path, location.url, takeOver, refusal, use);
  }

  /** The same by the name of the lock file, in a folder that nobody else may write. `location` is what it is about. */
  static acquireFile(
    path: string,
    location: string,
    takeOver: boolean,
    refusal: Refusal = lockedBy,
    use: LockUse = "handle",
  ): StoreLock {
    return withLockFile(path, location, use, (unfinished) => {
      return new StoreLock(path, location, use, place(path, unfinished, takeOver, refusal, use));
    });
  }

  /** Does what `restore` does for all locks that this process holds in the runtime folder. */
  static restoreAll(): void {
    const folder = join(runtimeFolder(), ".");
    for (const path of held.keys()) if (dirname(path) === folder) restore(path);
  }

  /** Removes what a thread of this process has left that ended without releasing its locks. */
  static releaseOf(thread: number): void {
    const folder = runtimeFolder();
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(lockSuffix)) continue;
      const holder = readHolder(join(folder, name));
      if (holder?.thread === thread && isOwnProcess(holder)) rmSync(join(folder, name), { force: true });
    }
  }

  /**
   * Puts the file back, and the runtime folder, where somebody has removed it, as cleaners of temporary files do. Gives whether the
   * lock is still this process's: false where another one has got it meanwhile. Errors: `configuration`.
   */
  restore(): boolean {
    runtimeFolder();
    restore(this.#path);
    return isOwn(this.#path);
  }

  /** Releasing again does nothing. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    const lock = held.get(this.#path);
    if (lock !== undefined && --lock.handles > 0) return;
    held.delete(this.#path);
    if (isOwn(this.#path)) rmSync(this.#path, { force: true });
  }
}

/** Whether a lock file names this process as the holder. */
function isOwn(path: string): boolean {
  return readHolder(path)?.token === ownToken;
}

/** Writes the file of a lock that is held where there is none. */
function restore(path: string): void {
  const lock = held.get(path);
  if (lock === undefined || readHolder(path) !== undefined) return;
  withLockFile(path, lock.location, lock.use, (unfinished) => tryLink(unfinished, path));
}

/** Runs with a complete lock file that is not in place yet. */
function withLockFile<T>(path: string, location: string, use: LockUse, run: (unfinished: string) => T): T {
  const unfinished = `${path}.${randomUUID()}`;
  const holder: Holder = { ...ownProcess(), token: ownToken, thread: threadId, use, location };
  writeFileSync(unfinished, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  try {
    return run(unfinished);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Puts a complete lock file in place: as a new one, over one of this process, or over one that has lost its process. Gives
 * whether a process that runs has lost it.
 */
function place(path: string, unfinished: string, takeOver: boolean, refusal: Refusal, use: LockUse): boolean {
  for (let attempt = 1; attempt <= acquireAttempts; attempt++) {
    if (tryLink(unfinished, path)) return false;
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (takeOver || isShared(holder, use)) {
      renameSync(unfinished, path);
      return isRunning(holder);
    }
    if (isRunning(holder)) throw refusal(holder);
    removeStale(path, holder);
  }
  throw new StoreLockedError(`the lock file of the store changed ${acquireAttempts} times while it was looked at`, {
    remedy: "Open the store again, or with takeOver: true.",
  });
}

/** Whether a lock is one that the handles of this process have together. */
function isShared(holder: Holder, use: LockUse): boolean {
  if (!isOwnProcess(holder)) return false;
  return holder.token === ownToken || (use !== "service" && holder.use !== "service");
}

function isOwnProcess(holder: Holder): boolean {
  return holder.pid === process.pid && isRunning(holder);
}

/** Removes a lock file unless it has been replaced since it was read: two processes may find the same stale one. */
function removeStale(path: string, stale: Holder): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  if (readHolder(aside)?.token !== stale.token) tryLink(aside, path);
  rmSync(aside, { force: true });
}

/** Whether the file got its second name; false when the name is taken. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** What no process writes stands for one that has ended. */
const nobody: Holder = { pid: -1, started: "", host: "", command: "", token: "", location: "" };

/** What a lock file says, whether or not its process runs; undefined where there is none. */
export function readHolder(path: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT") || isCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : nobody;
  } catch (error) {
    if (error instanceof SyntaxError) return nobody;
    throw error;
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== "object" || value === null) return false;
  const { pid, started, host, command, token } = value as Partial<Record<keyof Holder, unknown>>;
  return Number.isSafeInteger(pid) && [started, host, command, token].every((text) => typeof text === "string");
}

function lockedBy(holder: Holder): StoreLockedError {
  if (isOwnProcess(holder)) {
    const who = holder.use === "service" ? "the service in another thread" : "another thread";
    return new StoreLockedError(`${who} of this process, ${holder.pid}, is writing to ${holder.location}`, {
      remedy: "Close it there, open read-only, or pass takeOver: true to displace that writer.",
    });
  }
  return new StoreLockedError(`process ${holder.pid} (${holder.command}) is writing to ${holder.location}`, {
    remedy: "Close it there, open read-only, or pass takeOver: true to displace that writer.",
  });
}

/** Two servers may have a bucket of the same name, so the endpoint counts. */
function lockName(location: Location): string {
  const { env } = process;
  const endpoint = env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"] ?? env["AWS_ENDPOINT"] ?? "";
  const identity = location.scheme === "file" ? location.url : `${endpoint}\n${location.url}`;
  return createHash("sha256").update(identity).digest("hex").slice(0, 32);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
