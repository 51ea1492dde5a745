import type { KeyRange } from "../interface.js";
import { limits } from "../limits.js";

/** Numbers of the library's `DurabilityLevel` and `IterationOrder`. */
const memoryDurability = 2;
const ascending = 1;
const descending = 2;

/** The library's `KeyRange`: each bound as an optional byte string, followed by whether it is inclusive. Big-endian. */
export function rangeRecord({ start, end }: KeyRange): Uint8Array {
  const record = new Uint8Array(boundBytes(start) + boundBytes(end));
  writeBound(record, 0, start, true);
  writeBound(record, boundBytes(start), end, false);
  return record;
}

function boundBytes(bound: Uint8Array | undefined): number {
  return bound === undefined ? 2 : 1 + 4 + bound.length + 1;
}

function writeBound(record: Uint8Array, at: number, bound: Uint8Array | undefined, inclusive: boolean): void {
  const flag = inclusive ? 1 : 0;
  if (bound === undefined) {
    record[at + 1] = flag;
    return;
  }
  record[at] = 1;
  new DataView(record.buffer).setUint32(at + 1, bound.length);
  record.set(bound, at + 5);
  record[at + 5 + bound.length] = flag;
}

/**
 * The library's `ScanOptions`: durability, dirty, bytes to read ahead, whether to cache blocks, block fetches at a time, order.
 * A scan of few rows reads block by block, others read ahead.
 */
export function scanOptionsRecord(small: boolean, reverse: boolean): Uint8Array {
  const record = new Uint8Array(27);
  const view = new DataView(record.buffer);
  view.setInt32(0, memoryDurability);
  view.setBigUint64(5, BigInt(small ? 1 : limits.scanReadAheadBytes));
  record[13] = 1;
  view.setBigUint64(14, BigInt(small ? 1 : limits.scanFetchTasks));
  record[22] = 1;
  view.setInt32(23, reverse ? descending : ascending);
  return record;
}
