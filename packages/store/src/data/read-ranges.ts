import type { ByteRange } from "../interface.js";
import { type PlannedRead, type PlanOptions, planReads } from "./plan-reads.js";
import { forEachBounded } from "./slots.js";

/** Fills `target` with the bytes from `offset` on, or fails. Gives up early when `stop` is aborted. */
export type ReadInto = (offset: number, target: Uint8Array, stop: AbortSignal) => Promise<void>;

export interface RangeReadOptions extends PlanOptions {
  /** Reads under way of this call. */
  readonly readsInFlight: number;
}

/**
 * Bytes of each range in the order asked for, each in memory of its own: a small range never keeps a large read alive, and
 * no two results share bytes. A read that serves a single range goes straight into its result, without a copy. The ranges
 * have passed `checkRanges`.
 */
export async function readPlanned(
  ranges: readonly ByteRange[],
  options: RangeReadOptions,
  readInto: ReadInto,
): Promise<Uint8Array[]> {
  const reads = planReads(ranges, options);
  const results = ranges.map((range) => allocate(range.length));
  await forEachBounded(reads, options.readsInFlight, async (read, stop) => {
    const direct = directTarget(read, results);
    if (direct !== undefined) {
      await readInto(read.offset, direct, stop);
      return;
    }
    const bytes = allocate(read.length);
    await readInto(read.offset, bytes, stop);
    for (const part of read.parts) {
      resultAt(results, part.range).set(
        bytes.subarray(part.readOffset, part.readOffset + part.length),
        part.rangeOffset,
      );
    }
  });
  return results;
}

/** The place in the result that the whole read fills, when it serves one range only. */
function directTarget(read: PlannedRead, results: readonly Uint8Array[]): Uint8Array | undefined {
  const part = read.parts.length === 1 ? read.parts[0] : undefined;
  if (part === undefined) return undefined;
  return resultAt(results, part.range).subarray(part.rangeOffset, part.rangeOffset + part.length);
}

/** Memory that is not cleared first: every byte of it is overwritten, or the call fails and it is dropped. */
function allocate(length: number): Uint8Array {
  const { buffer } = Buffer.allocUnsafeSlow(length);
  return new Uint8Array(buffer, 0, length);
}

function resultAt(results: readonly Uint8Array[], index: number): Uint8Array {
  return results[index] as Uint8Array;
}
