import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { WaitQueue } from "./slots.js";

export interface OpenFile {
  readonly handle: FileHandle;
  /** Which file this is, whatever its path names by now. */
  readonly identity: string;
}

interface Entry {
  readonly opening: Promise<OpenFile>;
  users: number;
  /** Still found by its path. An entry that is not is closed by its last user. */
  listed: boolean;
}

/** Tells one file from another that takes its path. A number is not given out again while the file is open. */
export function fileIdentity(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}

/**
 * Open files by path. Never more than `capacity` are open: who needs another one waits until a file is free to be closed,
 * the least recently used first. A caller holds one file at a time, so that waiting always ends.
 */
export class FileHandleCache {
  readonly #capacity: number;
  /** In order of last use, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #queue = new WaitQueue();
  #open = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Files open now. */
  get openFiles(): number {
    return this.#open;
  }

  /** Lends the open file of a path to `work`. Fails as `open` does. */
  async use<Result>(path: string, work: (file: OpenFile) => Promise<Result>): Promise<Result> {
    const entry = await this.#take(path);
    try {
      return await work(await entry.opening);
    } finally {
      await this.#giveBack(entry);
    }
  }

  /** Forgets a path whose file was replaced or removed. Reads under way finish on the old file. */
  async forget(path: string): Promise<void> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    this.#unlist(path, entry);
    if (entry.users === 0) await this.#close(entry);
  }

  /** Closes every file. No call may be under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((path) => this.forget(path)));
  }

  async #take(path: string): Promise<Entry> {
    for (;;) {
      const known = this.#entries.get(path);
      if (known !== undefined) {
        known.users++;
        this.#entries.delete(path);
        this.#entries.set(path, known);
        return known;
      }
      if (this.#open < this.#capacity) return this.#openEntry(path);
      const idle = [...this.#entries].find(([, entry]) => entry.users === 0);
      if (idle === undefined) await this.#queue.wait();
      else await this.forget(idle[0]);
    }
  }

  #openEntry(path: string): Entry {
    this.#open++;
    const entry: Entry = { opening: openFile(path), users: 1, listed: true };
    this.#entries.set(path, entry);
    // A path that cannot be opened must be tried anew by the next caller. The failure itself reaches whoever uses the entry.
    entry.opening.catch(() => this.#unlist(path, entry));
    return entry;
  }

  #unlist(path: string, entry: Entry): void {
    if (entry.listed) this.#entries.delete(path);
    entry.listed = false;
  }

  async #giveBack(entry: Entry): Promise<void> {
    entry.users--;
    if (entry.users > 0) return;
    if (entry.listed) this.#queue.wakeFirst();
    else await this.#close(entry);
  }

  async #close(entry: Entry): Promise<void> {
    try {
      // A file that never opened needs no closing, and its user was told.
      const file = await entry.opening.catch(() => undefined);
      await file?.handle.close();
    } finally {
      this.#open--;
      this.#queue.wakeFirst();
    }
  }
}

async function openFile(path: string): Promise<OpenFile> {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer and hold a thread for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { handle, identity: fileIdentity(await handle.stat()) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
