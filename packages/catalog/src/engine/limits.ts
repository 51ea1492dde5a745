/** Most commits that land in one batch (format.md 5.9). */
export const groupMembers = 64;

/** Encoded index entries beyond which a batch takes no further member, in bytes. A single commit may hold this much by itself. */
export const groupIndexBytes = 64 * 1024 * 1024;

/**
 * Index entries from which a commit is large: its unique keys are read before its turn, what was made of its rows is kept
 * for further runs of its closure, and a batch begins with it, so that commits before it need not wait for its write.
 */
export const largeCommitEntries = 4096;

/** Index entries that are made between two turns of the event loop. */
export const derivedEntriesPerTurn = 8192;

/** Large commits whose unique keys are read ahead at the same time. Those that come later wait, without a turn. */
export const commitsReadAhead = 4;

/** Index entries that a commit keeps for further runs of its closure: as many as one commit may have. */
export const rememberedEntriesPerCommit = 1_000_000;

/** Encoded inline rows that a commit keeps for further runs of its closure. */
export const rememberedRowsPerCommit = 1_000_000;

/** How often a commit's closure may run before the commit gives up (format.md 5.6). */
export const commitAttempts = 10;

/** From this attempt on a commit holds its turn while its closure runs, so that a slow closure cannot be overtaken for ever. */
export const exclusiveFromAttempt = 3;

/** How long a commit may hold its turn for its closure and its reads, in milliseconds. */
export const exclusiveAttemptMs = 10_000;

/** How many landed commits are remembered, to tell a late attempt what happened since it began. */
export const premiseHistoryCommits = 1024;

/** How many commits land between two looks for commits that need not be remembered any more. */
export const forgetEveryCommits = 256;

/** How often a read-only handle repeats a read that the writer overtook (format.md 7.9). */
export const readerConsistencyAttempts = 8;

/** A changelog is replayed only if it names at most this share of the entities in memory; beyond it a rescan is quicker (format.md 5.1). */
export const changelogChurnShare = 0.5;

/** Tables whose inline schemas and schema versions are kept in memory. */
export const inlineSchemaCacheEntries = 4096;

/** Records that one batch of a maintenance sweep deletes, unless the caller says otherwise (format.md 7.9). */
export const maintenanceBatchRecords = 1024;

/** How often a flush starts over because rows that it had read were deleted. */
export const flushAttempts = 5;

/** How many of them run beside other commits. The later ones hold their turn, so that they cannot be overtaken for ever. */
export const sharedFlushAttempts = 3;

/** Passes that the maintenance record keeps (format.md 10.3). */
export const maintenanceHistoryPasses = 16;

/** Positions of delete files that are kept in memory for each open catalog, in bytes (eight each). */
export const deletePositionCacheBytes = 32 * 1024 * 1024;

/** Rows of one data file of which each is asked for by its key whether it was deleted; beyond it the file's deletes are read. */
export const locatedRowsByKey = 32;
