import type { KeyRange, PackedKeys, PackedValues, RowBlock, ScanOptions } from "./interface.js";
import { checkKeys, checkRange, checkScanOptions } from "./arguments.js";
import type { Deadlines } from "./deadlines.js";
import type { SlateReadable, StoreLoops } from "./loops.js";
import { limits } from "./limits.js";
import { detach } from "./within.js";

/** What reading through any handle needs besides the binding's object. */
export interface ReadContext {
  readonly loops: StoreLoops;
  readonly deadlines: Deadlines;
  /** Turns an error of the binding into ours, and ends the handle where that error does. */
  readonly failed: (error: unknown, doing: string) => Error;
}

/** A `getMany` with checked arguments, a time limit and typed errors. */
export function getChecked(context: ReadContext, from: SlateReadable, keys: PackedKeys): Promise<PackedValues> {
  let call: Promise<PackedValues>;
  try {
    checkKeys(keys);
    call = context.loops.getMany(from, keys);
  } catch (error) {
    return Promise.reject(context.failed(error, "a read failed"));
  }
  return context.deadlines.limit(call).catch((error: unknown) => {
    throw context.failed(error, "a read failed");
  });
}

/** A scan with checked arguments, a time limit for each block and typed errors. Arguments are checked at the call. */
export function scanChecked(
  context: ReadContext,
  open: () => SlateReadable | Promise<SlateReadable>,
  range: KeyRange,
  options: ScanOptions,
): AsyncIterableIterator<RowBlock> {
  checkScanOptions(options);
  const some = checkRange(range) && options.limit !== 0;
  return scanBlocks(context, open, some, range, { blockRows: limits.scanBlockRows, ...options });
}

async function* scanBlocks(
  context: ReadContext,
  open: () => SlateReadable | Promise<SlateReadable>,
  some: boolean,
  range: KeyRange,
  options: ScanOptions,
): AsyncIterableIterator<RowBlock> {
  try {
    const from = await open();
    if (!some) return;
    const blocks = context.loops.scan(from, range, options);
    try {
      for (;;) {
        const next = await context.deadlines.limit(blocks.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // Not waited for: a scan that got no answer in time ends only when its request does.
      if (blocks.return !== undefined) detach(blocks.return());
    }
  } catch (error) {
    throw context.failed(error, "a scan failed");
  }
}
