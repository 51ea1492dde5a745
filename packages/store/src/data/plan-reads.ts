import { InvalidArgumentError } from "@moraine/codec";
import type { ByteRange } from "../interface.js";
import { dataLimits } from "./limits.js";

/** One read of consecutive bytes, and what it delivers. */
export interface PlannedRead {
  readonly offset: number;
  readonly length: number;
  /** Never empty. Parts of one read may overlap, where the ranges asked for do. */
  readonly parts: readonly PlannedPart[];
}

/** Bytes that go from a read to one of the ranges asked for. */
export interface PlannedPart {
  /** Which range. */
  readonly range: number;
  /** First byte within the read. */
  readonly readOffset: number;
  /** First byte within the range. */
  readonly rangeOffset: number;
  readonly length: number;
}

export interface PlanOptions {
  /** Unwanted bytes between two ranges that may be read to save a request. */
  readonly gapBytes: number;
  /** Longest read. */
  readonly readBytes: number;
}

interface GrowingRead {
  readonly offset: number;
  end: number;
  readonly parts: PlannedPart[];
}

/** Refuses ranges that are no ranges, or too many at once. Fails with `invalid_argument`. */
export function checkRanges(ranges: readonly ByteRange[]): void {
  if (!Array.isArray(ranges)) throw refuse("ranges must be an array", "Give an array of { offset, length }.");
  if (ranges.length > dataLimits.rangesPerRead) {
    throw refuse(
      `${ranges.length} ranges, more than the limit of ${dataLimits.rangesPerRead}`,
      "Read them in several calls.",
    );
  }
  let total = 0;
  ranges.forEach((range: ByteRange, index) => {
    if (typeof range !== "object" || range === null) {
      throw refuse(`ranges[${index}] must be an object`, "Give an array of { offset, length }.");
    }
    for (const name of ["offset", "length"] as const) {
      if (!Number.isSafeInteger(range[name]) || range[name] < 0) {
        throw refuse(`ranges[${index}].${name} must be a whole number of at least 0`, "Give byte counts as numbers.");
      }
    }
    if (!Number.isSafeInteger(range.offset + range.length)) {
      throw refuse(`ranges[${index}] ends beyond 2^53 bytes`, "Give a range within the object.");
    }
    total += range.length;
  });
  if (total > dataLimits.bytesPerRead) {
    throw refuse(
      `${total} bytes in one read, more than the limit of ${dataLimits.bytesPerRead}`,
      "Read them in several calls.",
    );
  }
}

/** Where the last byte asked for ends. 0: nothing is asked for, and so whether the object exists is not either. */
export function lastByteOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((last, { offset, length }) => (length > 0 ? Math.max(last, offset + length) : last), 0);
}

function refuse(message: string, remedy: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { remedy });
}

/**
 * Plans the reads that serve `ranges`, before any is made: sorted and without overlap, near ranges together, none longer
 * than `readBytes`. No byte is read twice, and no gap of more than `gapBytes` is read. Empty ranges need no read.
 */
export function planReads(ranges: readonly ByteRange[], { gapBytes, readBytes }: PlanOptions): PlannedRead[] {
  const order = Uint32Array.from(ranges.keys()).filter((index) => rangeAt(ranges, index).length > 0);
  order.sort((left, right) => rangeAt(ranges, left).offset - rangeAt(ranges, right).offset);
  const reads: GrowingRead[] = [];
  // The first read that can still serve a range: offsets only grow, so reads that end before it are finished. All but the
  // last one, which may yet grow.
  let first = 0;
  for (const range of order) {
    const { offset, length } = rangeAt(ranges, range);
    const end = offset + length;
    while (first < reads.length - 1 && readAt(reads, first).end <= offset) first++;
    let position = offset;
    // Reads from here on join without a gap up to the last one's end, because an earlier range ran across them.
    for (let index = first; index < reads.length && position < end; index++) {
      const read = readAt(reads, index);
      if (read.end > position) position = addPart(read, range, offset, position, Math.min(end, read.end));
    }
    while (position < end) {
      const last = reads.at(-1);
      if (last !== undefined && position - last.end <= gapBytes && end - last.offset <= readBytes) {
        last.end = end;
        position = addPart(last, range, offset, position, end);
      } else {
        const read: GrowingRead = { offset: position, end: Math.min(end, position + readBytes), parts: [] };
        reads.push(read);
        position = addPart(read, range, offset, position, read.end);
      }
    }
  }
  return reads.map((read) => ({ offset: read.offset, length: read.end - read.offset, parts: read.parts }));
}

/** Notes that `read` serves `range` from `position` to `end`, and returns `end`. */
function addPart(read: GrowingRead, range: number, rangeStart: number, position: number, end: number): number {
  read.parts.push({
    range,
    readOffset: position - read.offset,
    rangeOffset: position - rangeStart,
    length: end - position,
  });
  return end;
}

function rangeAt(ranges: readonly ByteRange[], index: number): ByteRange {
  return ranges[index] as ByteRange;
}

function readAt(reads: readonly GrowingRead[], index: number): GrowingRead {
  return reads[index] as GrowingRead;
}
