import { closeSync, openSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Opens folders, to be held. */
export interface FolderDescriptors {
  /** Whether a descriptor stays open when the thread ends that has opened it, until it is closed. */
  readonly outliveThreads: boolean;
  /** Fails as Node's functions do. */
  open(path: string): number;
  close(descriptor: number): void;
}

/** Node's own: what a worker has opened is closed when it ends. */
export const nodeFolders: FolderDescriptors = {
  outliveThreads: isMainThread,
  open: (path) => openSync(path, "r"),
  close: (descriptor) => closeSync(descriptor),
};
