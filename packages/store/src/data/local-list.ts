import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DataObject } from "../interface.js";
import { dataLimits } from "./limits.js";
import { isAbsent } from "./local-errors.js";
import { comparePaths, isDataPath } from "./path.js";

interface Found {
  /** Relative path; a folder's ends with `/`, which is what orders it among its siblings as S3 would. */
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * Regular files below `root` whose relative path starts with `prefix`, in the order of their paths' bytes. Holds the names
 * of one folder a level. Links to files are followed, links to folders are not. What vanishes during the walk is left out.
 */
export async function* listFiles(root: string, prefix: string): AsyncGenerator<DataObject, void, undefined> {
  yield* walk(root, prefix.slice(0, prefix.lastIndexOf("/") + 1), prefix);
}

async function* walk(root: string, folder: string, prefix: string): AsyncGenerator<DataObject, void, undefined> {
  const found = (await readFolder(join(root, folder)))
    .flatMap((entry): Found[] => {
      const isFolder = entry.isDirectory();
      const isFile = entry.isFile() || entry.isSymbolicLink();
      if ((!isFolder && !isFile) || !isDataPath(folder + entry.name)) return [];
      return [{ path: folder + entry.name + (isFolder ? "/" : ""), isFolder }];
    })
    .filter(({ path, isFolder }) => path.startsWith(prefix) || (isFolder && prefix.startsWith(path)))
    .sort((left, right) => comparePaths(left.path, right.path));
  let files: Found[] = [];
  for (const entry of found) {
    if (!entry.isFolder) {
      files.push(entry);
      if (files.length < dataLimits.listSizesInFlight) continue;
    }
    yield* await withSizes(root, files);
    files = [];
    if (entry.isFolder) yield* walk(root, entry.path, prefix);
  }
  yield* await withSizes(root, files);
}

async function readFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function withSizes(root: string, files: readonly Found[]): Promise<DataObject[]> {
  const sized = await Promise.all(
    files.map(async ({ path }): Promise<DataObject[]> => {
      try {
        const stats = await stat(join(root, path));
        return stats.isFile() ? [{ path, sizeBytes: stats.size }] : [];
      } catch (error) {
        if (isAbsent(error)) return [];
        throw error;
      }
    }),
  );
  return sized.flat();
}
