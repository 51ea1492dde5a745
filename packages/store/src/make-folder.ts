import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/**
 * Makes a folder and the ones above it that are missing; returns the topmost one made, `undefined` if it was there. Node's own
 * recursive `mkdir` never ends where a parent exists and yet takes no folders and says ENOENT, as `/proc` does.
 */
export async function makeFolder(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    const code = codeOf(error);
    // Node's recursive form answers for a folder that is there already, and refuses a file in its place.
    if (code === "EEXIST") return await mkdir(folder, { recursive: true });
    const parent = dirname(folder);
    if (code !== "ENOENT" || parent === folder) throw error;
    const topmost = await makeFolder(parent);
    try {
      await mkdir(folder);
    } catch (again) {
      if (codeOf(again) !== "EEXIST") throw again;
    }
    return topmost ?? folder;
  }
}
