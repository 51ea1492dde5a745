/** A figure to reach: at least so much of a rate, at most so much of a time or of memory. In the figure's own unit. */
export interface Target {
  readonly relation: "at least" | "at most";
  readonly value: number;
}

const atLeast = (value: number): Target => ({ relation: "at least", value });
const atMost = (value: number): Target => ({ relation: "at most", value });

/** What moraine sets out to reach on a machine of two cores with a store on the local disk. README.md explains each. */
export const targets = {
  storePutPerSecond: atLeast(250_000),
  storeGetMemoryPerSecond: atLeast(166_667),
  storeGetTablesPerSecond: atLeast(83_333),
  storeScanPerSecond: atLeast(400_000),
  mainThreadBlockedMs: atMost(10),
  int64KeysPerSecond: atLeast(3_000_000),
  string20KeysPerSecond: atLeast(1_000_000),
  tenRowCommitEagerMs: atMost(3),
  groupCommitsEagerPerSecond: atLeast(3_000),
  groupCommits10MsPerSecond: atLeast(2_500),
  groupCommits100MsPerSecond: atLeast(300),
  uniqueCheckedEntriesPerSecond: atLeast(80_000),
  uniqueCheckedByFilterPerSecond: atLeast(160_000),
  largeCommitPeakMiB: atMost(300),
  besideLargeCommitP99Ms: atMost(300),
  uniqueLookupMemoryUs: atMost(25),
  uniqueLookupTablesUs: atMost(60),
  lookupMany1000Ms: atMost(10),
  range100Ms: atMost(0.4),
  range10000Ms: atMost(20),
  scopedBigintRowsPerSecond: atLeast(4_000_000),
  openCleanMs: atMost(300),
  openAfterKillMs: atMost(500),
  /** Of the same statement's time on a DuckDB file. */
  sqlRatio: atMost(1.3),
  sqlUniqueAddsMs: atMost(30),
  sqlUniqueBulkPerSecond: atLeast(20_000),
  sqlLookupMs: atMost(3),
  sqlAttachMs: atMost(3_000),
  sqlAttachMiB: atMost(400),
} as const;

export function reaches(value: number, target: Target): boolean {
  return target.relation === "at least" ? value >= target.value : value <= target.value;
}
