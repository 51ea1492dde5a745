import { open as openFile, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { ObjectStore } from "@slatedb/uniffi";
import { NotFoundError, StoreError, StoreUnavailableError, type MoraineError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import { limits } from "./limits.js";
import type { StoreLocation } from "./location.js";
import { makeFolder } from "./make-folder.js";
import { decodeManifest, newestManifestName, type ManifestHead } from "./manifest.js";

/** A store in a local folder. Objects are written without fsync: they survive a killed process, not a power cut. */
export class FileBackend implements Backend {
  readonly path = "";
  readonly location: StoreLocation & { readonly kind: "file" };
  #objectStore: ObjectStore | null = null;

  constructor(location: StoreLocation & { readonly kind: "file" }) {
    this.location = location;
  }

  /** Made on first use, because the binding refuses a folder that does not exist yet. */
  get objectStore(): ObjectStore {
    this.#objectStore ??= ObjectStore.resolve(pathToFileURL(this.location.directory).href);
    return this.#objectStore;
  }

  async prepareForWriting(): Promise<void> {
    try {
      await makeFolder(this.location.directory);
    } catch (error) {
      throw fileError(error, `the folder ${this.location.directory} cannot be made`);
    }
    const error = await probe(this.#walFolder, 0);
    if (error !== undefined) throw error;
  }

  async prepareForReading(): Promise<void> {
    if ((await this.readManifest()) === undefined) {
      throw new NotFoundError(`there is no store in ${this.location.directory}`, {
        remedy: "Check the location, or open it for writing first.",
      });
    }
    // A reader pins what it reads by a new manifest, and tries for ever where it may not write one.
    const error = await probe(join(this.location.directory, "manifest"), 0);
    if (error !== undefined) throw error;
  }

  openWriter<T>(open: () => Promise<T>): Promise<T> {
    return open();
  }

  async readManifest(): Promise<ManifestHead | undefined> {
    const folder = join(this.location.directory, "manifest");
    // A manifest may be collected between listing and reading; then there is a newer one.
    for (let attempt = 1; ; attempt++) {
      try {
        const newest = newestManifestName(await readdir(folder));
        return newest === undefined ? undefined : decodeManifest(await readFile(join(folder, newest)));
      } catch (error) {
        if (errorCode(error) !== "ENOENT") throw fileError(error, `the manifest in ${folder} cannot be read`);
        if (attempt >= limits.manifestReadAttempts || !(await exists(folder))) return undefined;
      }
    }
  }

  diagnose(_timeoutMs: number, bytes: number): Promise<MoraineError | undefined> {
    return probe(this.#walFolder, bytes);
  }

  close(): void {
    this.#objectStore?.dispose();
    this.#objectStore = null;
  }

  get #walFolder(): string {
    return join(this.location.directory, "wal");
  }
}

/**
 * Writes a file of about so many bytes into a folder that SlateDB writes to, and removes it. SlateDB passes over names that
 * are not its own. Gives what went wrong.
 */
async function probe(folder: string, bytes: number): Promise<MoraineError | undefined> {
  const size = Math.min(limits.probeMaxBytes, Math.max(limits.probeMinBytes, bytes));
  const path = join(folder, `.probe-${randomUUID()}`);
  try {
    await makeFolder(folder);
    const file = await openFile(path, "wx");
    try {
      await file.writeFile(new Uint8Array(size));
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
    return undefined;
  } catch (error) {
    return fileError(error, `the folder ${folder} cannot be written`);
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
