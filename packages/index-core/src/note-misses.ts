import type { KeyTable } from "./key-table.js";
import { keyState } from "./planned-entries.js";
import type { UniquenessFilters } from "./uniqueness-filters.js";

/** Keys of one index among those that are probed together. */
export interface ProbeRequest {
  readonly indexId: bigint;
  readonly first: number;
  readonly last: number;
}

/** Tells the filters which of the keys that were probed a filter would have spared: those that are absent. */
export function noteMisses(
  filters: UniquenessFilters,
  { states }: KeyTable,
  requests: readonly ProbeRequest[],
  probed: readonly number[],
): void {
  for (const { indexId, first, last } of requests) {
    let misses = 0;
    for (let i = first; i < last; i++) if (states[probed[i]!] === keyState.absent) misses++;
    if (misses > 0) filters.noteMisses(indexId, misses);
  }
}
