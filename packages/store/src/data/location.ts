import { resolve } from "node:path";
import { ConfigurationError, describePath, InvalidArgumentError, UnsupportedError } from "@moraine/codec";
import { checkDataPath } from "./path.js";

/** Where a data store lives. `root`, `prefix` and `name` have no trailing slash. */
export type DataLocation =
  | { readonly kind: "file"; readonly root: string }
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string }
  | { readonly kind: "memory"; readonly name: string; readonly prefix: string };

const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//u;
const bucketName = /^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/u;

/**
 * Reads a data store's URL: `s3://bucket/prefix`, `memory://name`, `file:///abs/path`, or a path. Nothing is
 * percent-decoded: DuckDB takes these URLs as they stand, and a recorded path must name the same file for both.
 * Fails with `invalid_argument`, `configuration` or `unsupported`.
 */
export function parseDataLocation(url: string): DataLocation {
  if (typeof url !== "string" || url === "" || url.includes("\0")) {
    throw new InvalidArgumentError("url must be a string that is not empty and has no NUL character", {
      remedy: "Give a folder, or a URL that starts with file://, s3:// or memory://.",
    });
  }
  const filePath = stripFileScheme(url);
  if (filePath !== undefined) return { kind: "file", root: filePath };
  const name = scheme.exec(url)?.[1]?.toLowerCase();
  if (name === undefined) return { kind: "file", root: resolve(url) };
  const [authority, prefix] = splitAuthority(url.slice(name.length + 3));
  if (name === "s3") {
    if (!bucketName.test(authority)) {
      throw new ConfigurationError(`${describePath(url)} names no bucket`, {
        remedy: "Write s3://bucket/prefix, with a bucket name of at least three letters, digits, dots and dashes.",
      });
    }
    return { kind: "s3", bucket: authority, prefix };
  }
  if (name === "memory") {
    if (authority === "") {
      throw new ConfigurationError(`${describePath(url)} has no name`, { remedy: "Write memory://name." });
    }
    return { kind: "memory", name: authority, prefix };
  }
  throw new UnsupportedError(`data files at ${describePath(url)}: no reader for ${name}:// URLs`, {
    remedy: "Use a local folder, or a URL that starts with file://, s3:// or memory://.",
  });
}

/** Whether a recorded path stands on its own: a URL or an absolute local path. */
export function isAbsoluteDataPath(path: string): boolean {
  return path.startsWith("/") || path.toLowerCase().startsWith("file:/") || scheme.test(path);
}

/** The local path of a `file:` URL in the forms that DuckDB knows; undefined for anything else. */
function stripFileScheme(url: string): string | undefined {
  const match = /^file:(?:\/\/(?:localhost)?(?=\/))?(?=\/)/iu.exec(url);
  if (match === null) return undefined;
  const path = url.slice(match[0].length);
  if (match[0].length === "file:".length && path.startsWith("//")) {
    throw new ConfigurationError(`${describePath(url)} names another machine`, {
      remedy: "Write file:///absolute/path.",
    });
  }
  return resolve(path);
}

function splitAuthority(rest: string): [authority: string, prefix: string] {
  const slash = rest.indexOf("/");
  if (slash < 0) return [rest, ""];
  const prefix = rest.slice(slash + 1).replace(/\/+$/u, "");
  if (prefix !== "") checkDataPath(prefix, "the prefix in url");
  return [rest.slice(0, slash), prefix];
}
