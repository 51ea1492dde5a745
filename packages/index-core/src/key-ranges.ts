import { compareBytes } from "@moraine/codec";

/** Keys from `start` (inclusive) to `end` (exclusive); no `end`: without a bound. */
export interface BoundedRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
}

/** The parts of `range` outside of all `holes`, ascending. */
export function withoutHoles(range: BoundedRange, holes: readonly BoundedRange[]): BoundedRange[] {
  const sorted = holes
    .filter((hole) => !isEmpty(hole))
    .toSorted((left, right) => compareBytes(left.start, right.start));
  const parts: BoundedRange[] = [];
  let start: Uint8Array | undefined = range.start;
  for (const hole of sorted) {
    if (start === undefined) break;
    if (hole.end !== undefined && compareBytes(hole.end, start) <= 0) continue;
    if (range.end !== undefined && compareBytes(hole.start, range.end) >= 0) break;
    if (compareBytes(start, hole.start) < 0) parts.push({ start, end: hole.start });
    start = hole.end;
  }
  if (start !== undefined && (range.end === undefined || compareBytes(start, range.end) < 0)) {
    parts.push({ start, end: range.end });
  }
  return parts;
}

function isEmpty({ start, end }: BoundedRange): boolean {
  return end !== undefined && compareBytes(start, end) >= 0;
}
