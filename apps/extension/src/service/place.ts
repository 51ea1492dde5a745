import { realpathSync } from "node:fs";
import { join } from "node:path";
import { parseLocation, runtimeFolder } from "@moraine/runtime";

/** Where the service of a store is found. */
export interface ServicePlace {
  /** See `canonicalLocation`. */
  readonly location: string;
  readonly socket: string;
  /** Says which process is the service. Held from before it listens until after it has closed the store. */
  readonly lock: string;
  readonly log: string;
}

/** Ends of the names in the runtime folder. */
export const socketSuffix = ".sock";

/** The place of a store's service in the runtime folder, which is made. Errors: `configuration`. */
export function servicePlace(store: string, cwd: string = process.cwd()): ServicePlace {
  const location = canonicalLocation(store, cwd);
  const stem = join(runtimeFolder(), serviceName(location));
  return { location, socket: `${stem}${socketSuffix}`, lock: `${stem}.lock`, log: `${stem}.log` };
}

/**
 * A store's location in the one spelling by which clients and services find each other: a path, or a `file:` URL, is an absolute
 * path with links followed as far as it exists; another URL has its scheme in lower case and no empty parts. The same rule stands
 * in `service.cpp` of the extension; `golden/service-names.json` holds both to it. Errors: `configuration`, for a file elsewhere.
 */
export function canonicalLocation(store: string, cwd: string): string {
  if (/^(?!file:)[a-z][a-z0-9+.-]*:\/\//iu.test(store)) return parseLocation(store).url;
  // Refuses a file of another machine; links are followed one by one, as the operating system does with `..` behind them.
  if (/^file:/iu.test(store)) parseLocation(store);
  const path = store.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?(?=\/)/iu, "");
  return canonicalPath(path.startsWith("/") ? path : `${cwd}/${path}`);
}

function canonicalPath(path: string): string {
  let known = "/";
  let exists = true;
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      known = known.slice(0, Math.max(1, known.lastIndexOf("/")));
      continue;
    }
    const next = known === "/" ? `/${part}` : `${known}/${part}`;
    const real: string | undefined = exists ? realPath(next) : undefined;
    exists = real !== undefined;
    known = real ?? next;
  }
  return known;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // Whatever stands in the way, the path is taken as it is written: whoever opens the store tells what is wrong.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

/** FNV-1a with 64 bits over the UTF-8 of a location, as 16 hexadecimal digits. */
export function serviceName(location: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(location)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
