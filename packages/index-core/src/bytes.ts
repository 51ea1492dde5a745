/**
 * Order of two byte ranges, unsigned and from the left; a range sorts before its extensions. The result is negative, zero
 * or positive. Offsets instead of views: hot loops must not create an object per key.
 */
export function compareRanges(
  left: Uint8Array,
  leftStart: number,
  leftEnd: number,
  right: Uint8Array,
  rightStart: number,
  rightEnd: number,
): number {
  const leftLength = leftEnd - leftStart;
  const rightLength = rightEnd - rightStart;
  const shared = leftLength < rightLength ? leftLength : rightLength;
  for (let i = 0; i < shared; i++) {
    const difference = left[leftStart + i]! - right[rightStart + i]!;
    if (difference !== 0) return difference;
  }
  return leftLength - rightLength;
}

/** The smallest byte string above `bytes`: the exclusive end of a range that still holds it. */
export function successor(bytes: Uint8Array): Uint8Array {
  const next = new Uint8Array(bytes.length + 1);
  next.set(bytes);
  return next;
}
