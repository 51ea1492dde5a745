import { isAbsolute, resolve } from "node:path";
import { ConfigurationError } from "@moraine/codec";

/** Whether a data path depends on where it is read from. */
function isRelativePath(path: string): boolean {
  return !isAbsolute(path) && !/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(path);
}

/** A data path as clients in a folder mean it. */
export function inFolder(cwd: string, path: string): string {
  if (!isRelativePath(path)) return path;
  const absolute = resolve(cwd, path);
  return path.endsWith("/") ? `${absolute}/` : absolute;
}

/** A relative data path means one folder for all clients of a service: that of the first one. Fails with `configuration`. */
export function checkSameFolder(dataPath: string, firstCwd: string, cwd: string): void {
  const first = inFolder(firstCwd, dataPath);
  const other = inFolder(cwd, dataPath);
  if (first === other) return;
  throw new ConfigurationError(
    `the lake's data path ${dataPath} is ${other} from here, and ${first} for clients that are attached`,
    {
      remedy: "Start the program in the same folder as the others, or make lakes with an absolute DATA_PATH.",
    },
  );
}
