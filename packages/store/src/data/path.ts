import { describePath, InvalidArgumentError } from "@moraine/codec";
import { dataLimits } from "./limits.js";

/** Start of the names that a local `put` gives its unfinished files. No data path may use it, on any kind of store. */
export const unfinishedPrefix = ".moraine-put-";

const remedy = "Give a path relative to the data store's root, with one `/` between its parts.";

/**
 * Refuses what is not a plain relative path: empty, absolute, with an empty, `.` or `..` part, with NUL or half a surrogate
 * pair, too long, or reserved. A path names the same object on every kind of store: it is taken as it stands, and percent
 * signs are not decoded. Fails with `invalid_argument`.
 */
export function checkDataPath(path: string, argument = "path"): void {
  checkText(path, argument);
  if (path === "") throw refuse(argument, "is empty");
  for (const part of path.split("/")) checkPart(path, part, argument);
}

/** Refuses a prefix that no data path starts with. The part behind its last `/` may be any start of a name. */
export function checkDataPrefix(prefix: string): void {
  checkText(prefix, "prefix");
  const parts = prefix.split("/");
  for (const part of parts.slice(0, -1)) checkPart(prefix, part, "prefix");
}

/** Whether `checkDataPath` accepts the path: what a listing may return. */
export function isDataPath(path: string): boolean {
  try {
    checkDataPath(path);
    return true;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return false;
    throw error;
  }
}

function checkText(text: string, argument: string): void {
  if (typeof text !== "string") throw refuse(argument, `is a ${typeof text}, not a string`);
  if (text.includes("\0")) throw refuse(argument, "contains a NUL character");
  if (hasLoneSurrogate(text)) throw refuse(argument, "is not valid Unicode");
  const bytes = Buffer.byteLength(text);
  if (bytes > dataLimits.pathBytes) {
    throw refuse(argument, `has ${bytes} bytes, more than the limit of ${dataLimits.pathBytes}`);
  }
}

function checkPart(path: string, part: string, argument: string): void {
  if (part === "") {
    throw refuse(argument, path.startsWith("/") ? "is absolute" : `${describePath(path)} has an empty part`);
  }
  if (part === "." || part === "..") throw refuse(argument, `${describePath(path)} has the part ${part}`);
  if (part.startsWith(unfinishedPrefix)) {
    throw refuse(argument, `${describePath(path)} uses a name that is kept for unfinished files`);
  }
}

function refuse(argument: string, reason: string): InvalidArgumentError {
  return new InvalidArgumentError(`${argument} ${reason}`, { remedy });
}

const loneSurrogate = /\p{Surrogate}/u;

function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}

/** Order of paths: by their UTF-8 bytes, as S3 lists them. Equals the order of code points. */
export function comparePaths(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return codeUnitRank(a) - codeUnitRank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above every other code unit. */
function codeUnitRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}
