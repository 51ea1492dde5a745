import { absent, type WriteBatch } from "./interface.js";
import { limits } from "./limits.js";

/**
 * Batches one after the other in one, as far as they fit together: how many of the first ones do, and the batch. Entries keep
 * their order, so that of a key that is there twice the later one counts.
 */
export function combineBatches(batches: readonly WriteBatch[]): {
  readonly combined: number;
  readonly batch: WriteBatch;
} {
  const [first] = batches;
  if (first === undefined) throw new TypeError("there is no batch to combine");
  let bytes = 0;
  let combined = 0;
  let count = 0;
  for (const batch of batches) {
    if (combined > 0 && bytes + batch.data.length > limits.packedBytes) break;
    bytes += batch.data.length;
    count += batch.count;
    combined += 1;
  }
  if (combined === 1) return { combined, batch: first };
  const data = new Uint8Array(bytes);
  const ends = new Uint32Array(2 * count);
  let base = 0;
  let at = 0;
  for (const batch of batches.slice(0, combined)) {
    data.set(batch.data, base);
    for (let i = 0; i < 2 * batch.count; i++) {
      const end = batch.ends[i]!;
      ends[at++] = end === absent ? absent : base + end;
    }
    base += usedBytes(batch);
  }
  return { combined, batch: { count, data: data.subarray(0, base), ends } };
}

/** Where the last entry ends: the data may go on behind it. */
function usedBytes({ count, ends }: WriteBatch): number {
  const valueEnd = ends[2 * count - 1]!;
  return valueEnd === absent ? ends[2 * count - 2]! : valueEnd;
}
