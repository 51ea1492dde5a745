export { type EntrySize, checkCommitSize, checkEntryCount, type IndexChange, measureChanges } from "./index-change.js";
export { CommitPlanner, type PlannerReport } from "./commit-planner.js";
export { type HolderState, type PlannedEntries, type PoisonedIndex } from "./planned-entries.js";
export { lookup, lookupMany, type LookupReport, packEqualityKeys } from "./lookup.js";
export { collectNulls, collectRange, lookupNulls, lookupRange, type RangeOptions } from "./range.js";
export { findDeadIndexes, sweepIndex, type SweepStep } from "./sweep.js";
export { type IndexVerification, verifyIndex } from "./verify.js";
export { type IndexSize, measureIndex, measureIndexes } from "./census.js";
export { maxIndexBytesPerCommit, maxIndexEntriesPerCommit } from "./limits.js";
