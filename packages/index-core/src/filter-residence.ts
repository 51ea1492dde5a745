import type { KeyFilter } from "./key-filter.js";
import { filterRetryMisses } from "./limits.js";

/**
 * How a build ended, or a filter that was in use: `ready` and `failed` by the scan, `stopped` by closing, `outgrown` where its
 * keys no longer fit the memory, `evicted` by another index, `dropped` with its index.
 */
export type FilterOutcome = "ready" | "failed" | "stopped" | "outgrown" | "evicted" | "dropped";

/** What happened to the filter of one index. */
export interface FilterEvent {
  readonly indexId: bigint;
  readonly outcome: FilterOutcome;
  /** Keys in the filter, and its memory. */
  readonly keys: number;
  readonly bytes: number;
  /** How long the build took; 0 for a filter that was in use. */
  readonly durationMs: number;
  /** Why the build failed. */
  readonly error: unknown;
}

/** What is kept for one unique index that this handle has touched. */
export class Residence {
  readonly indexId: bigint;
  /** Holds every key that is stored; answers. */
  ready: KeyFilter | undefined;
  /** Holds what was written since its registration, and what the scan has brought so far; does not answer. */
  building: KeyFilter | undefined;
  /** Probes that a filter would have spared. */
  misses = 0;
  /** Misses from which a build is tried again after one that failed. */
  retryFromMisses = 0;
  /** Keys that an earlier filter had when they no longer fit: what an estimate is corrected by. */
  leastRows = 0;
  usedAt = 0;

  constructor(indexId: bigint) {
    this.indexId = indexId;
  }

  get bytes(): number {
    return (this.ready?.bytes ?? 0) + (this.building?.bytes ?? 0);
  }

  /** Counts a key that was deleted. */
  noteGone(): void {
    this.ready?.noteGone();
    this.building?.noteGone();
  }

  /** Lets a build wait that failed or found no memory: what stood in its way is likely still there. */
  postpone(): void {
    this.retryFromMisses = this.misses + filterRetryMisses;
    this.ready?.forgetGone();
  }
}
