import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those that it lies in, where they are missing. Node's own way to do that never ends where no folder can
 * be made, such as below `/proc`.
 */
export function makeFolders(path: string, mode?: number): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process was quicker.
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST" && existsSync(path);
    if (!isThere) throw error;
  }
}
