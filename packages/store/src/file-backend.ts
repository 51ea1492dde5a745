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
      throw fileError(error, "the store's folder cannot be made");
    }
    const error = await this.#probe(0);
    if (error !== undefined) throw error;
  }

  async prepareForReading(): Promise<void> {
    if ((await this.readManifest()) === undefined) {
      throw new NotFoundError(`there is no store in ${this.location.directory}`, {
        remedy: "Check the location, or open it for writing first.",
      });
    }
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
        if (errorCode(error) !== "ENOENT") throw fileError(error, "the store's manifest cannot be read");
        if (attempt >= limits.manifestReadAttempts || !(await exists(folder))) return undefined;
      }
    }
  }

  diagnose(_timeoutMs: number, bytes: number): Promise<MoraineError | undefined> {
    return this.#probe(bytes);
  }

  close(): void {
    this.#objectStore?.dispose();
    this.#objectStore = null;
  }

  /** Writes a file of about so many bytes where SlateDB would, and removes it. Gives what went wrong. */
  async #probe(bytes: number): Promise<MoraineError | undefined> {
    const size = Math.min(limits.probeMaxBytes, Math.max(limits.probeMinBytes, bytes));
    const folder = join(this.location.directory, "wal");
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
      return fileError(error, "the store's folder cannot be written");
    }
  }
}

async function exists(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw fileError(error, "the store's folder cannot be read");
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
        remedy: "Give this process the right to write the folder.",
        cause: error,
      });
    default:
      return new StoreError(`${what}${code === undefined ? "" : ` (${code})`}`, {
        remedy: "Check the folder; see the cause.",
        cause: error,
      });
  }
}
