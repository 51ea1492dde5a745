import { isAbsolute, resolve } from "node:path";
import { ConfigurationError } from "@moraine/codec";

/** Where a store lies. `url` is canonical: two spellings of one place give the same text. */
export type StoreLocation =
  | { readonly kind: "memory"; readonly url: string; readonly name: string }
  | { readonly kind: "file"; readonly url: string; readonly directory: string }
  | { readonly kind: "s3"; readonly url: string; readonly bucket: string; readonly prefix: string };

/**
 * Reads `memory://name`, `file:///absolute/path`, a plain path (relative to the working directory) or
 * `s3://bucket/prefix`. Fails with `configuration`.
 */
export function parseLocation(url: string): StoreLocation {
  if (typeof url !== "string" || url === "" || url.includes("\0"))
    throw badLocation("the store's location is empty or no text");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      return fileLocation(url);
    case "file":
      return fileLocation(pathOfFileUrl(url));
    case "memory":
      return memoryLocation(url);
    case "s3":
      return s3Location(url);
    default:
      throw badLocation(`the scheme ${scheme}:// is not known`);
  }
}

/** Nothing is percent-decoded, as in DuckDB and in the locations of data files. */
function pathOfFileUrl(url: string): string {
  const path = url.slice("file://".length).replace(/^localhost(?=\/)/iu, "");
  if (!isAbsolute(path)) throw badLocation("a file:// location needs three slashes and an absolute path");
  return path;
}

function fileLocation(path: string): StoreLocation {
  const directory = resolve(path);
  return { kind: "file", url: `file://${directory}`, directory };
}

function memoryLocation(url: string): StoreLocation {
  const name = trimSlashes(url.slice("memory://".length));
  if (name === "") throw badLocation("a memory:// location needs a name");
  return { kind: "memory", url: `memory://${name}`, name };
}

function s3Location(url: string): StoreLocation {
  const rest = url.slice("s3://".length);
  const slash = rest.indexOf("/");
  const bucket = slash < 0 ? rest : rest.slice(0, slash);
  const prefix = slash < 0 ? "" : trimSlashes(rest.slice(slash + 1));
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw badLocation("a bucket name has 3 to 63 lower-case letters, digits, dots or hyphens");
  }
  // Other characters are percent-encoded by SlateDB's object store, so that two clients would see two names.
  if (prefix !== "" && !prefix.split("/").every((part) => /^[A-Za-z0-9._=+@-]+$/u.test(part) && !/^\.+$/u.test(part))) {
    throw badLocation("the parts of an s3:// prefix hold letters, digits and . _ = + @ - only");
  }
  return { kind: "s3", url: prefix === "" ? `s3://${bucket}` : `s3://${bucket}/${prefix}`, bucket, prefix };
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, "");
}

function badLocation(message: string): ConfigurationError {
  return new ConfigurationError(message, {
    remedy: "Give memory://name, file:///absolute/path, a path, or s3://bucket/prefix.",
  });
}
