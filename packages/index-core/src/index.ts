export {
  type EntrySize,
  checkCommitSize,
  checkEntryCount,
  countEntries,
  type IndexChange,
  measureChanges,
} from "./index-change.js";
export { refusedClaim, type RefusedClaim } from "./collisions.js";
export { CommitPlanner } from "./commit-planner.js";
export { type PlannerReport } from "./planner-report.js";
export { type HolderState, type PlannedEntries, type PoisonedIndex } from "./planned-entries.js";
export { lookup, lookupMany, type LookupReport } from "./lookup.js";
export { collectNulls, collectRange, lookupNulls, lookupRange, type RangeOptions } from "./range.js";
export { firstProvisionalRowId } from "./counted-entries.js";
export { countProbed } from "./probed-lists.js";
export { shiftRowIds } from "./shift-row-ids.js";
export { findDeadIndexes, sweepIndex, type SweepStep } from "./sweep.js";
export { type IndexVerification, verifyIndex } from "./verify.js";
export { type IndexSize, measureIndex, measureIndexes } from "./census.js";
export { type FilterEvent, type FilterOutcome } from "./filter-residence.js";
export { UniquenessFilters } from "./uniqueness-filters.js";
export { maxIndexBytesPerCommit, maxIndexEntriesPerCommit } from "./limits.js";
