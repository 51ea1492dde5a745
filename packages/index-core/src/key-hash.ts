const wordMultiplier = 0x9e37_79b1;
const finishMultiplier = 0x6c8e_9cf5;
const secondMultiplier = 0x85eb_ca6b;
const crossMultiplier = 0xc2b2_ae35;

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

/**
 * 64 bits of hash as two words that hardly depend on each other, in one pass: the first mixes words in by exclusive or, the
 * second by addition, so that keys whose differences cancel out in one do not in the other.
 */
export function hashPair(data: Uint8Array, start: number, end: number, seed: number, into: Int32Array): void {
  let first = seed ^ (end - start);
  let second = Math.imul(seed, finishMultiplier) ^ (end - start);
  let i = start;
  for (const lastWord = end - 4; i <= lastWord; i += 4) {
    const word = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    first = Math.imul(first ^ word, wordMultiplier);
    first ^= first >>> 15;
    second = Math.imul((second + word) | 0, secondMultiplier);
    second ^= second >>> 16;
  }
  let tail = 0;
  for (; i < end; i++) tail = (tail << 8) | data[i]!;
  first = Math.imul(first ^ tail, wordMultiplier);
  second = Math.imul((second + tail) | 0, secondMultiplier);
  first = Math.imul(first ^ (first >>> 16), finishMultiplier) ^ Math.imul(second ^ (second >>> 13), crossMultiplier);
  second = Math.imul(second ^ (second >>> 16), finishMultiplier) ^ Math.imul(first ^ (first >>> 13), crossMultiplier);
  into[0] = first ^ (first >>> 15);
  into[1] = second ^ (second >>> 15);
}
