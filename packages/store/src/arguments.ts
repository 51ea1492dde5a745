import { InvalidArgumentError } from "@moraine/codec";
import { isBuilt } from "./batch-builder.js";
import { absent, type KeyRange, type PackedKeys, type ScanOptions, type WriteBatch } from "./interface.js";
import { limits } from "./limits.js";

/** Refuses a packed list whose ends do not fit its data, or that holds an empty or overlong key. */
export function checkKeys(keys: PackedKeys): void {
  const { data, ends } = keys;
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i]!;
    if (end <= start) throw invalid(`keys: key ${i} is empty`, "Give every key at least one byte.");
    if (end - start > limits.keyBytes)
      throw invalid(`keys: key ${i} has more than ${limits.keyBytes} bytes`, "Use shorter keys.");
    start = end;
  }
  if (start > data.length) throw invalid("keys: the ends reach past the data", "Build the list with packKeys.");
}

/** Whether the range can hold any key. Refuses empty bounds and bounds in the wrong order. */
export function checkRange(range: KeyRange): boolean {
  const { start, end } = range;
  if (start !== undefined) checkBound("start", start);
  if (end !== undefined) checkBound("end", end);
  if (start === undefined || end === undefined) return true;
  const order = Buffer.compare(start, end);
  if (order > 0)
    throw invalid("range: start is above end", "Exchange the bounds; `reverse` gives the rows in descending order.");
  return order < 0;
}

function checkBound(name: string, bound: Uint8Array): void {
  if (!(bound instanceof Uint8Array))
    throw invalid(`range: ${name} is not a Uint8Array`, "Give bytes, or leave the side open.");
  if (bound.length === 0) throw invalid(`range: ${name} is empty`, "Leave the side open instead.");
}

export function checkScanOptions(options: ScanOptions): void {
  checkCount("limit", options.limit, 0);
  checkCount("blockRows", options.blockRows, 1);
}

/** Refuses a number that is given and not a whole number from `least`. */
export function checkCount(name: string, value: number | undefined, least: number): void {
  if (value === undefined) return;
  if (!Number.isSafeInteger(value) || value < least)
    throw invalid(`${name} is not a whole number from ${least}`, `Give a whole number from ${least}.`);
}

/** Refuses a batch that is empty or whose ends do not fit its data. */
export function checkBatch(batch: WriteBatch): void {
  const { count, data, ends } = batch;
  if (count > 0 && isBuilt(batch)) return;
  if (count === 0) throw invalid("batch: it is empty", "Write only when there is something to write.");
  if (!Number.isSafeInteger(count) || count < 0 || ends.length < 2 * count) {
    throw invalid("batch: count does not fit its ends", "Build the batch with BatchBuilder.");
  }
  let start = 0;
  for (let i = 0; i < count; i++) {
    const keyEnd = ends[2 * i]!;
    const valueEnd = ends[2 * i + 1]!;
    if (keyEnd <= start || keyEnd - start > limits.keyBytes) {
      throw invalid(
        `batch: the key of entry ${i} is empty or has more than ${limits.keyBytes} bytes`,
        "Correct the key.",
      );
    }
    start = keyEnd;
    if (valueEnd === absent) continue;
    if (valueEnd < keyEnd)
      throw invalid(`batch: the value of entry ${i} ends before it begins`, "Build the batch with BatchBuilder.");
    start = valueEnd;
  }
  if (start > data.length) throw invalid("batch: the ends reach past the data", "Build the batch with BatchBuilder.");
}

function invalid(message: string, remedy: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { remedy });
}
