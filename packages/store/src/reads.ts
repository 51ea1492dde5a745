import { checkKeys, checkRange, checkScanOptions } from "./arguments.js";
import type { Deadlines } from "./deadlines.js";
import type { KeyRange, PackedKeys, PackedValues, RowBlock, ScanOptions } from "./interface.js";
import { limits } from "./limits.js";
import type { SlateReadable, StoreLoops } from "./loops.js";
import { detach } from "./within.js";

/** An object of the binding that can be read, with all that reading from it needs. */
export interface ReadSource {
  readonly from: SlateReadable;
  readonly loops: StoreLoops;
  readonly remote: boolean;
  readonly deadlines: Deadlines;
  /** Turns an error of the binding into ours, and ends the handle where that error does. */
  readonly failed: (error: unknown, doing: string) => Error;
}

/** A `getMany` with checked arguments, a time limit and typed errors. */
export function getChecked(source: ReadSource, keys: PackedKeys): Promise<PackedValues> {
  let call: Promise<PackedValues>;
  try {
    checkKeys(keys);
    call = source.loops.getMany(source.from, keys, source.remote);
  } catch (error) {
    return Promise.reject(source.failed(error, "a read failed"));
  }
  return source.deadlines.limit(call, (error) => source.failed(error, "a read failed"));
}

/** A scan with checked arguments, a time limit for each block and typed errors. Arguments are checked at the call. */
export function scanChecked(
  open: () => ReadSource | Promise<ReadSource>,
  range: KeyRange,
  options: ScanOptions,
): AsyncIterableIterator<RowBlock> {
  checkScanOptions(options);
  const some = checkRange(range) && options.limit !== 0;
  return scanBlocks(open, some, range, { blockRows: limits.scanBlockRows, ...options });
}

async function* scanBlocks(
  open: () => ReadSource | Promise<ReadSource>,
  some: boolean,
  range: KeyRange,
  options: ScanOptions,
): AsyncIterableIterator<RowBlock> {
  const source = await open();
  if (!some) return;
  const blocks = source.loops.scan(source.from, range, options);
  try {
    for (;;) {
      const next = await source.deadlines.limit(blocks.next(), (error) => source.failed(error, "a scan failed"));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not waited for: a scan that got no answer in time ends only when its request does.
    if (blocks.return !== undefined) detach(blocks.return());
  }
}
