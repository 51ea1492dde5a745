import { indexPrefix } from "@moraine/codec";
import { absent, type WriteBatch } from "@moraine/store";
import { sliced, type Slices } from "./slices.js";

/** What every value-keyed entry of every index begins with. */
const [subspace, shape] = indexPrefix("unique");

/** Visits the key of every value-keyed index entry that a batch puts or deletes, whoever put it there. */
export function* valueKeys(
  { count, data, ends }: WriteBatch,
  visit: (data: Uint8Array, start: number, end: number, isPut: boolean) => void,
): Slices<undefined> {
  let start = 0;
  for (const [first, last] of sliced(count)) {
    for (let i = first; i < last; i++) {
      const keyEnd = ends[2 * i]!;
      const valueEnd = ends[2 * i + 1]!;
      if (data[start] === subspace && data[start + 1] === shape) visit(data, start, keyEnd, valueEnd !== absent);
      start = valueEnd === absent ? keyEnd : valueEnd;
    }
    yield last - first;
  }
}
