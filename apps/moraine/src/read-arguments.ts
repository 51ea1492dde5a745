import type { IndexTarget, RecentRowArguments, RecentRowsArguments, ScanInlineArguments } from "./interface.js";
import { wrong } from "./options.js";

// What the reads of a catalog check before they open a cut: callers from JavaScript pass what they like.

const largestId = 2n ** 64n - 1n;

function checkObject(value: unknown, argument: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(argument, "an object");
}

export function checkId(value: unknown, argument: string): void {
  if (typeof value !== "bigint" || value < 0n || value > largestId)
    throw wrong(argument, "an id: a bigint from 0 to 2^64 - 1");
}

function checkOptionalId(value: unknown, argument: string): void {
  if (value !== undefined) checkId(value, argument);
}

/** What the reads of an index have in common; the rest is checked with the index's definition at hand. */
export function checkIndexTarget<T extends IndexTarget>(args: T): T {
  checkObject(args, "arguments");
  checkId(args.index, "index");
  checkOptionalId(args.at, "at");
  return args;
}

export function checkRecentRows(args: RecentRowsArguments): RecentRowsArguments {
  checkObject(args, "arguments");
  checkId(args.table, "table");
  checkOptionalId(args.at, "at");
  return args;
}

export function checkRecentRow(args: RecentRowArguments): RecentRowArguments {
  checkObject(args, "arguments");
  checkId(args.table, "table");
  checkId(args.rowId, "rowId");
  return args;
}

export function checkScanInline(args: ScanInlineArguments): ScanInlineArguments {
  checkObject(args, "arguments");
  checkId(args.table, "table");
  checkObject(args.scan, "scan");
  const { kind, at, start } = args.scan as { readonly [Name in "kind" | "at" | "start"]?: unknown };
  const isWindow = kind === "insertions" || kind === "deletions";
  if (!isWindow && kind !== "table" && kind !== "flush") {
    throw wrong("scan.kind", '"table", "flush", "insertions" or "deletions"');
  }
  checkId(at, "scan.at");
  if (isWindow) checkId(start, "scan.start");
  return args;
}
