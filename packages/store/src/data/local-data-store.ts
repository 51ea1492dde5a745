import { randomUUID } from "node:crypto";
import { type FileHandle, open, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ByteRange, DataObject, DataStore } from "../interface.js";
import { makeFolder } from "../make-folder.js";
import { checkBytes } from "./arguments.js";
import { FileHandleCache, type OpenFile, fileIdentity } from "./file-handle-cache.js";
import { Lifetime } from "./lifetime.js";
import { listFiles } from "./local-list.js";
import { type FileAction, endsEarly, isAbsent, localFailure, missingObject } from "./local-errors.js";
import { checkDataPath, checkDataPrefix, unfinishedPrefix } from "./path.js";
import { checkRanges, lastByteOf } from "./plan-reads.js";
import { readPlanned } from "./read-ranges.js";
import { Slots } from "./slots.js";

export interface LocalDataStoreOptions {
  readonly requestsInFlight: number;
  readonly gapBytes: number;
  readonly readBytes: number;
  readonly openFiles: number;
}

/**
 * Data files in a local folder, which the first put creates. Reads are positional reads of cached open files. A put is
 * atomic, and once it has resolved it survives a power cut: the bytes, the name and new folders are synced. What a killed
 * put leaves behind is never listed.
 */
export class LocalDataStore implements DataStore {
  readonly location: string;
  readonly #root: string;
  readonly #options: LocalDataStoreOptions;
  readonly #files: FileHandleCache;
  readonly #slots: Slots;
  readonly #lifetime: Lifetime;

  constructor(location: string, root: string, options: LocalDataStoreOptions) {
    this.location = location;
    this.#root = root;
    this.#options = options;
    this.#files = new FileHandleCache(options.openFiles);
    this.#slots = new Slots(options.requestsInFlight);
    this.#lifetime = new Lifetime(location);
  }

  /** Files that this store holds open now. */
  get openFiles(): number {
    return this.#files.openFiles;
  }

  async head(path: string): Promise<DataObject> {
    checkDataPath(path);
    return await this.#run("read", path, async (file, action) => {
      const stats = await this.#slots.run(() => stat(file));
      if (!stats.isFile()) throw missingObject(action);
      return { path, sizeBytes: stats.size };
    });
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    checkDataPath(path);
    checkRanges(ranges);
    const lastByte = lastByteOf(ranges);
    return await this.#run("read", path, async (file, action) => {
      if (lastByte === 0) return ranges.map(() => new Uint8Array());
      const stats = await this.#slots.run(() => stat(file));
      if (!stats.isFile()) throw missingObject(action);
      // The size is known before any memory is asked for: a wrong length in a damaged footer costs nothing.
      if (stats.size < lastByte) throw endsEarly(action, lastByte, stats.size);
      return await this.#useCurrent(file, fileIdentity(stats), ({ handle }) =>
        readPlanned(
          ranges,
          { ...this.#options, readsInFlight: this.#options.requestsInFlight },
          (offset, target, stop) =>
            this.#slots.run(async () => {
              if (!stop.aborted) await readFully(handle, offset, target, action);
            }),
        ),
      );
    });
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    checkDataPath(path);
    checkBytes(bytes);
    await this.#run("write", path, (file) =>
      this.#slots.run(async () => {
        await writeAtomically(file, bytes);
        await this.#files.forget(file);
      }),
    );
  }

  async delete(path: string): Promise<void> {
    checkDataPath(path);
    await this.#run("delete", path, (file) =>
      this.#slots.run(async () => {
        try {
          await unlink(file);
        } catch (error) {
          if (!isAbsent(error) && !(await isFolder(file))) throw error;
        }
        await this.#files.forget(file);
      }),
    );
  }

  async *list(prefix: string): AsyncGenerator<DataObject, void, undefined> {
    checkDataPrefix(prefix);
    const files = listFiles(this.#root, prefix);
    for (;;) {
      const next = await this.#run("list", prefix, () => files.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  async close(): Promise<void> {
    await this.#lifetime.close(() => this.#files.close());
  }

  async #run<Result>(
    verb: FileAction["verb"],
    path: string,
    work: (file: string, action: FileAction) => Promise<Result>,
  ): Promise<Result> {
    const action: FileAction = { verb, path, location: this.location };
    return await this.#lifetime.run(async () => {
      try {
        return await work(join(this.#root, path), action);
      } catch (error) {
        // A path through a file names nothing to read; to write there is another matter.
        if (verb === "read" && isAbsent(error)) throw missingObject(action, error);
        throw localFailure(error, action);
      }
    });
  }

  /** Lends the open file that the path names now; one that was replaced behind this store's back is opened again. */
  async #useCurrent<Result>(
    file: string,
    identity: string,
    work: (file: OpenFile) => Promise<Result>,
  ): Promise<Result> {
    const isCurrent = await this.#files.use(file, (opened) => Promise.resolve(opened.identity === identity));
    if (!isCurrent) await this.#files.forget(file);
    return await this.#files.use(file, work);
  }
}

async function readFully(handle: FileHandle, offset: number, target: Uint8Array, action: FileAction): Promise<void> {
  let filled = 0;
  while (filled < target.length) {
    const { bytesRead } = await handle.read(target, filled, target.length - filled, offset + filled);
    if (bytesRead === 0) throw endsEarly(action, offset + target.length, offset + filled);
    filled += bytesRead;
  }
}

/** Writes beside the target and renames: another process sees the old bytes or all of the new ones. */
async function writeAtomically(file: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(file);
  const firstCreated = await makeFolder(folder);
  const unfinished = join(folder, unfinishedPrefix + randomUUID());
  try {
    const handle = await open(unfinished, "wx");
    try {
      await handle.writeFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolders(folder, firstCreated);
}

/** Makes a new name durable: in its folder, and in the folders above that had to be created. */
async function syncFolders(folder: string, firstCreated: string | undefined): Promise<void> {
  const last = firstCreated === undefined ? folder : dirname(firstCreated);
  for (let current = folder; ; current = dirname(current)) {
    const handle = await open(current, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (current === last || current === dirname(current)) return;
  }
}

async function isFolder(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
