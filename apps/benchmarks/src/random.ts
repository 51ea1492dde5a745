/** Every random choice of the benchmarks starts from here, so that two runs do the same work. */
const seed = 0x9e37_79b9;

/** Numbers in [0, 1) that are the same in every run (mulberry32). `stream` gives independent sequences. */
export function randomNumbers(stream: number): () => number {
  let state = (seed ^ Math.imul(stream + 1, 0x85eb_ca6b)) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` whole numbers from 0 to below `limit`, repeats possible. */
export function randomIntegers(stream: number, count: number, limit: number): number[] {
  const next = randomNumbers(stream);
  return Array.from({ length: count }, () => Math.floor(next() * limit));
}

/** The numbers from 0 to below `count` in a random order. */
export function shuffled(stream: number, count: number): Uint32Array {
  const next = randomNumbers(stream);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(next() * (i + 1));
    const value = order[i] as number;
    order[i] = order[other] as number;
    order[other] = value;
  }
  return order;
}
