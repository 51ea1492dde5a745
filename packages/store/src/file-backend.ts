import { open as openFile, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { ObjectStore } from "@slatedb/uniffi";
import { NotFoundError, StoreError, StoreUnavailableError, type MoraineError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import { type FolderDescriptors, nodeFolders } from "./folder-descriptors.js";
import { HeldFolder } from "./held-folder.js";
import { limits } from "./limits.js";
import type { StoreLocation } from "./location.js";
import { makeFolder } from "./make-folder.js";
import { decodeManifest, newestManifestName, type ManifestHead } from "./manifest.js";

/** A store in a local folder. Objects are written without fsync: they survive a killed process, not a power cut. */
export class FileBackend implements Backend {
  readonly path = "";
  readonly location: StoreLocation & { readonly kind: "file" };
  readonly #folders: FolderDescriptors;
  #objectStore: ObjectStore | null = null;
  #folder: HeldFolder | null = null;

  constructor(location: StoreLocation & { readonly kind: "file" }, folders: FolderDescriptors = nodeFolders) {
    this.location = location;
    this.#folders = folders;
  }

  /** Made on first use, because the binding refuses a folder that does not exist yet. */
  get objectStore(): ObjectStore {
    this.#objectStore ??= ObjectStore.resolve(pathToFileURL(this.#root).href);
    return this.#objectStore;
  }

  get folder(): HeldFolder | null {
    return this.#folder;
  }

  async prepareForWriting(): Promise<void> {
    try {
      await makeFolder(this.location.directory);
    } catch (error) {
      throw fileError(error, `the folder ${this.location.directory} cannot be made`);
    }
    await this.#prepareFolder(walFolder);
    await this.#prepareFolder(manifestFolder);
    this.#hold([walFolder, manifestFolder]);
  }

  async prepareForReading(): Promise<void> {
    if ((await this.readManifest()) === undefined) {
      throw new NotFoundError(`there is no store in ${this.location.directory}`, {
        remedy: "Check the location, or open it for writing first.",
      });
    }
    // A reader pins what it reads by a new manifest, and tries for ever where it may not write one.
    await this.#prepareFolder(manifestFolder);
    this.#hold([manifestFolder]);
  }

  openWriter<T>(open: () => Promise<T>): Promise<T> {
    return open();
  }

  async readManifest(): Promise<ManifestHead | undefined> {
    const folder = join(this.#root, manifestFolder);
    // A manifest may be collected between listing and reading; then there is a newer one.
    for (let attempt = 1; ; attempt++) {
      try {
        const newest = newestManifestName(await readdir(folder));
        return newest === undefined ? undefined : decodeManifest(await readFile(join(folder, newest)));
      } catch (error) {
        if (errorCode(error) !== "ENOENT")
          throw fileError(error, `the manifest of ${this.location.directory} cannot be read`);
        if (attempt >= limits.manifestReadAttempts || !(await exists(folder))) return undefined;
      }
    }
  }

  async diagnose(_timeoutMs: number, bytes: number): Promise<MoraineError | undefined> {
    return (
      this.#folder?.look() ??
      (await probe(join(this.#root, walFolder), bytes, join(this.location.directory, walFolder)))
    );
  }

  close(): void {
    this.#objectStore?.dispose();
    this.#objectStore = null;
    this.#folder?.release();
  }

  /** Where objects are reached. */
  get #root(): string {
    return this.#folder?.root ?? this.location.directory;
  }

  async #prepareFolder(name: string): Promise<void> {
    const folder = join(this.location.directory, name);
    try {
      await makeFolder(folder);
    } catch (error) {
      throw fileError(error, `the folder ${folder} cannot be written`);
    }
    const error = await probe(folder, 0);
    if (error !== undefined) throw error;
  }

  #hold(names: readonly string[]): void {
    try {
      this.#folder ??= HeldFolder.hold(this.location.directory, names, this.#folders);
    } catch (error) {
      throw fileError(error, `the folder ${this.location.directory} cannot be opened`);
    }
  }
}

/** Where SlateDB puts its write-ahead objects, and its manifests. */
const walFolder = "wal";
const manifestFolder = "manifest";

/**
 * Writes a file of about so many bytes into a folder that SlateDB writes to, and removes it. SlateDB passes over names that
 * are not its own. Gives what went wrong, with the folder as `shown`.
 */
async function probe(folder: string, bytes: number, shown = folder): Promise<MoraineError | undefined> {
  const size = Math.min(limits.probeMaxBytes, Math.max(limits.probeMinBytes, bytes));
  const path = join(folder, `.probe-${randomUUID()}`);
  try {
    const file = await openFile(path, "wx");
    try {
      await file.writeFile(new Uint8Array(size));
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
    return undefined;
  } catch (error) {
    return fileError(error, `the folder ${shown} cannot be written`);
  }
}

async function exists(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw fileError(error, `the folder ${folder} cannot be read`);
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function fileError(error: unknown, what: string): MoraineError {
  const code = errorCode(error);
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new StoreError(`${what}: the disk is full`, {
        remedy: "Free some space, then open the store again.",
        cause: error,
      });
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new StoreUnavailableError(`${what}: permission denied (${code})`, {
        remedy: "Give this process the right to read and write the store's folder; readers need it, too.",
        cause: error,
      });
    case "EEXIST":
    case "ENOTDIR":
      return new StoreError(`${what}: there is a file in its place (${code})`, {
        remedy: "Give a folder, or a path where none exists yet.",
        cause: error,
      });
    default:
      return new StoreError(`${what}${code === undefined ? "" : ` (${code})`}`, {
        remedy: "Check the folder; see the cause.",
        cause: error,
      });
  }
}
