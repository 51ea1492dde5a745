import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError, StoreLockedError } from "@moraine/codec";
import { followLinks, type Holder, makeFolders, parseLocation, StoreLock } from "@moraine/runtime";
import { failedStep } from "./failed-step.js";

/** Says that a folder was made by the demonstration, which may therefore delete what it puts there. */
const markerName = ".moraine-demo";

/** The folder of one demonstration, which no other process builds in or writes to until it is released. */
export class DemoFolder {
  readonly store: string;
  readonly data: string;
  readonly #root: string;
  readonly #lock: StoreLock | undefined;

  private constructor(root: string) {
    this.#root = root;
    this.store = join(root, "store");
    this.data = join(root, "data");
    this.#lock = StoreLock.acquire(root, false, (holder) => isRunningThere(root, holder));
  }

  /**
   * Makes the folder ready for a new lake. Locks come first: nothing may be deleted below a process that uses it. One that
   * something else has put files in is refused; of its own, the demonstration deletes its lake and nothing beside it.
   */
  static claim(path: string): DemoFolder {
    const folder = new DemoFolder(rootOf(path));
    try {
      // Somebody may also write to the lake of an earlier demonstration.
      const writing = StoreLock.acquire(folder.store, false, (holder) => isWrittenTo(folder.store, holder));
      try {
        folder.#clear();
      } finally {
        writing?.release();
      }
      return folder;
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  #clear(): void {
    const root = this.#root;
    try {
      if (existsSync(root) && !statSync(root).isDirectory()) {
        throw new ConfigurationError(`${root} is a file, no folder`, otherFolder);
      }
      if (existsSync(root) && readdirSync(root).length > 0 && !existsSync(join(root, markerName))) {
        throw new ConfigurationError(`${root} is not empty and was not made by the demonstration`, otherFolder);
      }
      makeFolders(root);
      writeFileSync(
        join(root, markerName),
        "Made by `moraine demo`, which deletes its lake here when it runs again.\n",
      );
      for (const part of [this.store, this.data]) rmSync(part, { recursive: true, force: true });
    } catch (cause) {
      throw failedStep(cause, `the folder ${root} cannot be made or written`, otherFolder.remedy);
    }
  }

  [Symbol.dispose](): void {
    this.#lock?.release();
  }
}

const otherFolder = { remedy: "Name another folder with --folder." };

function rootOf(path: string): string {
  const location = parseLocation(path);
  if (path === "" || location.scheme !== "file") {
    throw new ConfigurationError(`${JSON.stringify(path)} is no folder of this machine`, otherFolder);
  }
  return followLinks(location).url;
}

function isRunningThere(root: string, { pid }: Holder): StoreLockedError {
  return new StoreLockedError(`a demonstration is running in ${root} (process ${pid})`, {
    remedy: "Wait until it has ended, or name another folder with --folder.",
  });
}

function isWrittenTo(store: string, { pid, command }: Holder): StoreLockedError {
  return new StoreLockedError(`process ${pid} (${command}) is writing to ${store}, which a demonstration makes anew`, {
    remedy: "End that process, a service with `moraine stop <store>`, or name another folder with --folder.",
  });
}
