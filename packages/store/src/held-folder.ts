import { fstatSync, statSync, type BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { StoreGoneError } from "@moraine/codec";
import type { FolderDescriptors } from "./folder-descriptors.js";
import { limits } from "./limits.js";

/**
 * The folder of a local store that a handle has open, and whether its path still leads there. What is looked at are folders in it
 * that SlateDB writes to: they tell a folder that was moved, deleted, replaced and emptied. A look at one is a `stat`: ten to twenty
 * microseconds beside a commit, and one where nothing else is going on.
 *
 * The folders are held open, so that no folder that is made later can get the number of one that was deleted. On Linux all objects are
 * reached through the open folder, not by its path: by a path, SlateDB would make a folder that has gone anew, and put into it what it
 * still writes. So a write lands in the folder that was opened or nowhere, whatever happens to the path between two looks. Not where
 * an end of the thread would close the folder: the engine may outlive it, and its number would soon stand for another folder.
 */
export class HeldFolder {
  /** The path by which objects are to be reached. */
  readonly root: string;
  readonly #directory: string;
  readonly #parts: readonly Part[];
  readonly #folders: FolderDescriptors;
  #descriptors: readonly number[];
  /** When a glance last found the folder. */
  #seenMs = Number.NEGATIVE_INFINITY;
  /** Engines that have not ended. */
  #users = 0;
  #isReleased = false;

  private constructor(
    directory: string,
    root: string,
    parts: readonly Part[],
    folders: FolderDescriptors,
    descriptors: readonly number[],
  ) {
    this.#directory = directory;
    this.root = root;
    this.#parts = parts;
    this.#folders = folders;
    this.#descriptors = descriptors;
  }

  /** `names`: folders in the directory, which exist; the first is what commits are written to. Fails as Node's functions do. */
  static hold(directory: string, names: readonly string[], folders: FolderDescriptors): HeldFolder {
    const descriptors: number[] = [];
    try {
      const hold = (path: string): BigIntStats => {
        // Windows opens no folders, and moves none that is in use.
        if (process.platform === "win32") return statSync(path, { bigint: true });
        const descriptor = folders.open(path);
        descriptors.push(descriptor);
        return fstatSync(descriptor, { bigint: true });
      };
      const root = hold(directory);
      const reached = (folders.outliveThreads ? pathOfDescriptor(descriptors[0], root) : undefined) ?? directory;
      // Below the folder that is held: it may be another one by now that the path leads to.
      const parts = names.map((name) => ({ path: join(directory, name), ...identityOf(hold(join(reached, name))) }));
      return new HeldFolder(directory, reached, parts, folders, descriptors);
    } catch (error) {
      for (const descriptor of descriptors) folders.close(descriptor);
      throw error;
    }
  }

  /** What has become of the folder; `undefined` as long as it is where it was. */
  look(): StoreGoneError | undefined {
    for (const part of this.#parts) {
      const gone = this.#lookAt(part);
      if (gone !== undefined) return gone;
    }
    return undefined;
  }

  /** The same by the first of the names alone, for a look with each commit. */
  glance(): StoreGoneError | undefined {
    const [first] = this.#parts;
    const gone = first && this.#lookAt(first);
    this.#seenMs = gone === undefined ? performance.now() : Number.NEGATIVE_INFINITY;
    return gone;
  }

  /** The same, where the last glance is not just over. */
  glanceAgain(): StoreGoneError | undefined {
    return performance.now() - this.#seenMs < limits.folderTrustMs ? undefined : this.glance();
  }

  /** The same without keeping the thread, for looks that nobody waits for. */
  async lookAside(): Promise<StoreGoneError | undefined> {
    for (const part of this.#parts) {
      const found = await stat(part.path, { bigint: true }).catch(() => undefined);
      if (found === undefined || !isSame(part, found)) return this.look();
    }
    return undefined;
  }

  /** Whether the folder has been deleted that objects are reached through: nothing can be written there, and an engine tries for ever. */
  get isDeleted(): boolean {
    if (this.root === this.#directory) return false;
    const found = lookAt(this.root);
    return typeof found !== "object" || found.nlink === 0n;
  }

  /** An engine begins to reach objects through `root`. Call what it gives when that engine has certainly ended; again does nothing. */
  use(): () => void {
    this.#users += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      this.#letGoIfUnused();
    };
  }

  /** Lets go of the folders once no engine reaches anything through `root` any more: its number soon stands for another folder. */
  release(): void {
    this.#isReleased = true;
    this.#letGoIfUnused();
  }

  #letGoIfUnused(): void {
    if (!this.#isReleased || this.#users > 0) return;
    const descriptors = this.#descriptors;
    this.#descriptors = [];
    const close = (): void => {
      lingering.delete(close);
      for (const descriptor of descriptors) this.#folders.close(descriptor);
    };
    if (this.root === this.#directory) {
      close();
      return;
    }
    // A file that a compaction was just writing when it was given up is written to its end.
    lingering.add(close);
    setTimeout(close, limits.folderLingerMs).unref();
  }

  #lookAt(part: Part): StoreGoneError | undefined {
    const found = lookAt(part.path);
    if (typeof found === "string") return this.#gone(`cannot be reached any more (${found})`);
    return found === undefined || !isSame(part, found) ? this.#whatHappened() : undefined;
  }

  #whatHappened(): StoreGoneError {
    const found = lookAt(this.#directory);
    return this.#gone(found === undefined ? "was moved or deleted" : "was emptied or replaced");
  }

  #gone(what: string): StoreGoneError {
    return new StoreGoneError(`the folder ${this.#directory} of a store that is open ${what}`);
  }
}

/** Closes folders that nobody uses any more. A worker that ends has to do so before: nothing else would. */
const lingering = new Set<() => void>();
process.once("exit", () => lingering.forEach((close) => close()));

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

interface Part extends Identity {
  readonly path: string;
}

function identityOf({ dev, ino }: Identity): Identity {
  return { dev, ino };
}

function isSame(one: Identity, other: Identity): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** `undefined` where nothing is, and the code of what keeps us from looking. */
function lookAt(path: string): BigIntStats | string | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    // A file stands above it.
    return code === "ENOTDIR" ? undefined : code;
  }
}

/** A path that leads to an open folder wherever it is moved; `undefined` where the system has none. */
function pathOfDescriptor(descriptor: number | undefined, folder: Identity): string | undefined {
  if (descriptor === undefined || process.platform !== "linux") return undefined;
  const path = `/proc/self/fd/${descriptor}`;
  const found = lookAt(path);
  return typeof found === "object" && isSame(found, folder) ? path : undefined;
}
