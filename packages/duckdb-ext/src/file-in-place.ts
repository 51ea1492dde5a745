import { statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";

/** The plain file that stands where a store's folder, or a folder above it, would be. `location` is canonical: a path or a URL. */
export function fileInPlace(location: string): string | undefined {
  if (!isAbsolute(location)) return undefined;
  try {
    return statSync(location, { throwIfNoEntry: false })?.isFile() === true ? location : undefined;
  } catch (error) {
    // Whoever may not look there is told so by the store.
    const isBelowFile = error instanceof Error && "code" in error && error.code === "ENOTDIR";
    return isBelowFile ? fileInPlace(dirname(location)) : undefined;
  }
}
