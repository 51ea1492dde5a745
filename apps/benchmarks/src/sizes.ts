import type { Repeats } from "./measure.js";

/** How much each benchmark does. Units are in the names; what is not named otherwise counts calls or items. */
export interface Sizes {
  /** Work of which one run takes a fraction of a second. */
  readonly repeats: Repeats;
  /** Work of which one run takes seconds. */
  readonly slowRepeats: Repeats;
  /** Work of which each run has a process of its own, so that nothing warms up. */
  readonly processRepeats: Repeats;

  readonly encodedKeys: number;
  readonly decodedKeys: number;
  readonly records: number;

  readonly storeEntries: number;
  readonly storeGets: number;
  /** Keys of one `getMany`. */
  readonly storeGetWindow: number;
  readonly storeSingleGets: number;
  /** Entries of the batch during which the event loop is watched. */
  readonly storeLargeBatchEntries: number;
  readonly durableBatches: number;
  readonly durableBatchEntries: number;

  readonly rowsPerCommit: number;
  readonly commitsEager: number;
  readonly commits10Ms: number;
  readonly commits100Ms: number;

  readonly groupMembers: number;
  readonly groupCommitsEager: number;
  readonly groupCommits10Ms: number;
  readonly groupCommits100Ms: number;

  /** Entries of the large commit, and entries that stand between them in the index. */
  readonly bulkEntries: number;
  /** Large commits, of so many entries each, beside which small ones are measured. */
  readonly besideLargeCommits: number;

  readonly lookupRows: number;
  readonly lookupFanOut: number;
  readonly lookups: number;
  readonly fanOutLookups: number;
  readonly lookupManyKeys: number;
  readonly lookupManyCalls: number;
  readonly shortRangeRows: number;
  readonly shortRanges: number;
  readonly longRangeRows: number;
  readonly longRanges: number;

  readonly scopedRows: number;
  /** Share of a file's rows that a read by positions asks for. */
  readonly scopedPositionShare: number;

  readonly openEntries: number;
  readonly smallCommits: number;

  /** Statements of one kind in a run. */
  readonly sqlStatements: number;
  readonly sqlBulkRows: number;
  /** Rows of an INSERT that is measured with and without a unique index. */
  readonly sqlIndexedRows: number;
  readonly sqlFiles: number;
  readonly sqlManyFiles: number;
}

export const fullSizes: Sizes = {
  repeats: { warmUps: 2, runs: 5 },
  slowRepeats: { warmUps: 1, runs: 3 },
  processRepeats: { warmUps: 0, runs: 3 },
  encodedKeys: 100_000,
  decodedKeys: 5_000,
  records: 10_000,
  storeEntries: 100_000,
  storeGets: 10_000,
  storeGetWindow: 1_000,
  storeSingleGets: 1_000,
  storeLargeBatchEntries: 1_000_000,
  durableBatches: 200,
  durableBatchEntries: 10,
  rowsPerCommit: 10,
  commitsEager: 300,
  commits10Ms: 50,
  commits100Ms: 12,
  groupMembers: 64,
  groupCommitsEager: 40,
  groupCommits10Ms: 20,
  groupCommits100Ms: 10,
  bulkEntries: 100_000,
  besideLargeCommits: 4,
  lookupRows: 100_000,
  lookupFanOut: 10,
  lookups: 2_000,
  fanOutLookups: 300,
  lookupManyKeys: 1_000,
  lookupManyCalls: 10,
  shortRangeRows: 100,
  shortRanges: 100,
  longRangeRows: 10_000,
  longRanges: 2,
  scopedRows: 1_000_000,
  scopedPositionShare: 0.01,
  openEntries: 1_000_000,
  smallCommits: 10_000,
  sqlStatements: 40,
  sqlBulkRows: 1_000_000,
  sqlIndexedRows: 1_000,
  sqlFiles: 10_000,
  sqlManyFiles: 100_000,
};

/** Enough to see that every benchmark runs. The figures of such a run mean nothing. */
export const quickSizes: Sizes = {
  repeats: { warmUps: 0, runs: 1 },
  slowRepeats: { warmUps: 0, runs: 1 },
  processRepeats: { warmUps: 0, runs: 1 },
  encodedKeys: 500,
  decodedKeys: 500,
  records: 100,
  storeEntries: 2_000,
  storeGets: 200,
  storeGetWindow: 100,
  storeSingleGets: 20,
  storeLargeBatchEntries: 5_000,
  durableBatches: 5,
  durableBatchEntries: 10,
  rowsPerCommit: 10,
  commitsEager: 5,
  commits10Ms: 3,
  commits100Ms: 2,
  groupMembers: 8,
  groupCommitsEager: 2,
  groupCommits10Ms: 2,
  groupCommits100Ms: 1,
  bulkEntries: 1_000,
  besideLargeCommits: 2,
  lookupRows: 2_000,
  lookupFanOut: 10,
  lookups: 20,
  fanOutLookups: 5,
  lookupManyKeys: 100,
  lookupManyCalls: 2,
  shortRangeRows: 100,
  shortRanges: 2,
  longRangeRows: 1_000,
  longRanges: 1,
  scopedRows: 5_000,
  scopedPositionShare: 0.01,
  openEntries: 5_000,
  smallCommits: 20,
  sqlStatements: 2,
  sqlBulkRows: 5_000,
  sqlIndexedRows: 100,
  sqlFiles: 50,
  sqlManyFiles: 200,
};
