import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigurationError } from "@moraine/codec";

/** Says that a folder was made by the demonstration, which may therefore delete it. */
const markerName = ".moraine-demo";

export interface DemoFolder {
  readonly root: string;
  readonly store: string;
  readonly data: string;
}

/** Makes the folder anew. One that something else has put files in is refused, never deleted. */
export function makeFolder(path: string): DemoFolder {
  const root = resolve(path);
  if (existsSync(root) && readdirSync(root).length > 0 && !existsSync(join(root, markerName))) {
    throw new ConfigurationError(`${root} is not empty and was not made by the demonstration`, {
      remedy: "Name another folder with --folder.",
    });
  }
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, markerName), "Made by `moraine demo`, which deletes this folder when it runs again.\n");
  return { root, store: join(root, "store"), data: join(root, "data") };
}
