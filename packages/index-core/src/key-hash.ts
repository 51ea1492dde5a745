const wordMultiplier = 0x9e37_79b1;
const finishMultiplier = 0x6c8e_9cf5;

/**
 * A 32-bit hash of a byte range, four bytes a step. Index keys of one index share their first ten bytes and often most of
 * the rest, so every step folds its high bits back down before the next word comes in. Not a defence against keys chosen
 * to collide; the seed, random per process, only keeps precomputed sets of them from working.
 */
export function hashRange(data: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  let i = start;
  for (const lastWord = end - 4; i <= lastWord; i += 4) {
    const word = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    hash = Math.imul(hash ^ word, wordMultiplier);
    hash ^= hash >>> 15;
  }
  let tail = 0;
  for (; i < end; i++) tail = (tail << 8) | data[i]!;
  hash = Math.imul(hash ^ tail, wordMultiplier);
  hash = Math.imul(hash ^ (hash >>> 16), finishMultiplier);
  return (hash ^ (hash >>> 13)) >>> 0;
}
