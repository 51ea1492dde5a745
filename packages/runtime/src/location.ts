import { realpathSync, statSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { ConfigurationError, describePath } from "@moraine/codec";

/** A store's location or a data path, taken apart. Two spellings of one place give the same `url`. */
export interface Location {
  /** The scheme in lower case; a plain path is a `file`. */
  readonly scheme: string;
  /** The bucket, or the name of a store in memory; empty for a file. */
  readonly authority: string;
  /** Parts of the path, outermost first. */
  readonly parts: readonly string[];
  /** An absolute path for files, else `scheme://authority/path`; never with a slash at its end. */
  readonly url: string;
}

/**
 * Takes a location apart by the rules of the store: nothing is percent-decoded, a plain path is relative to the working
 * directory. What the store cannot open is left for it to refuse, but for a file on another machine: `configuration`.
 */
export function parseLocation(text: string): Location {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//u.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "file") {
    const [authority = "", ...parts] = text.slice(scheme.length + 3).split("/");
    const kept = parts.filter((part) => part !== "");
    return { scheme, authority, parts: kept, url: [`${scheme}://${authority}`, ...kept].join("/") };
  }
  if (/^file:\/\/(?!localhost\/)[^/]/iu.test(text)) {
    throw new ConfigurationError(`${describePath(text)} names another machine`, {
      remedy: "Write file:///absolute/path.",
    });
  }
  const path = resolve(text.replace(/^file:(\/\/(localhost)?(?=\/))?(?=\/)/iu, ""));
  return { scheme: "file", authority: "", parts: path.split(sep).filter((part) => part !== ""), url: path };
}

/** The same place with symbolic links followed, as far as its folders exist. */
export function followLinks(location: Location): Location {
  if (location.scheme !== "file") return location;
  return parseLocation(realPathOf(location.url));
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    // Whoever may not look there, or finds a file where a folder should be, is told so by the store.
    if (!isMissing || parent === path) return path;
    return resolve(realPathOf(parent), path.slice(parent.length).replace(/^[/\\]+/u, ""));
  }
}

/** Where a store may lie, seen from its data files. */
export interface DataPathOptions {
  /**
   * Allows a data path that contains the store. For who tidies data files by their names only, as DuckLake does: it removes
   * `*.parquet` files that it does not know, and a store has none.
   */
  readonly mayContainStore?: boolean;
}

/**
 * The data path as it is recorded: absolute, without doubled slashes, with a slash at its end, as DuckLake records it.
 * Refuses one that lies within the store or is the store, and one that contains the store where that is not allowed: whoever
 * tidies data files would find the store's among them, and the other way round. Fails with `configuration`.
 */
export function recordedDataPath(
  dataPath: string,
  store: string,
  { mayContainStore = false }: DataPathOptions = {},
): string {
  const data = parseLocation(dataPath);
  if (liesWithin(dataPath, store) || (!mayContainStore && containsStore(dataPath, store))) {
    const places = `the data path ${describePath(data.url)} and the store ${describePath(parseLocation(store).url)}`;
    throw new ConfigurationError(`${places} overlap`, {
      remedy: mayContainStore
        ? "Choose a data path outside of the store."
        : "Choose a data path outside of the store, and a store outside of the data path.",
    });
  }
  // A folder is made when the first file is written; a file in its place would make every write fail.
  if (data.scheme === "file" && statSync(data.url, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new ConfigurationError(`the data path ${data.url} is a file`, { remedy: "Give a folder." });
  }
  return data.url.endsWith("/") ? data.url : `${data.url}/`;
}

/** Whether a store lies below a data path. */
export function containsStore(dataPath: string, store: string): boolean {
  return !liesWithin(dataPath, store) && liesWithin(store, dataPath);
}

/** Whether a place is another one or lies below it, by what links lead to. */
function liesWithin(inner: string, outer: string): boolean {
  const [a, b] = [followLinks(parseLocation(inner)), followLinks(parseLocation(outer))];
  return a.scheme === b.scheme && a.authority === b.authority && b.parts.every((part, at) => part === a.parts[at]);
}
