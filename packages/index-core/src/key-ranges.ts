import { compareBytes, type KeyRangeBytes } from "@moraine/codec";

/** The parts of `range` outside of all `holes`, ascending. */
export function withoutHoles(range: KeyRangeBytes, holes: readonly KeyRangeBytes[]): KeyRangeBytes[] {
  const sorted = holes
    .filter(({ start, end }) => compareBytes(start, end) < 0)
    .toSorted((left, right) => compareBytes(left.start, right.start));
  const parts: KeyRangeBytes[] = [];
  let start = range.start;
  for (const hole of sorted) {
    if (compareBytes(hole.end, start) <= 0) continue;
    if (compareBytes(hole.start, range.end) >= 0) break;
    if (compareBytes(start, hole.start) < 0) parts.push({ start, end: hole.start });
    start = hole.end;
  }
  if (compareBytes(start, range.end) < 0) parts.push({ start, end: range.end });
  return parts;
}
