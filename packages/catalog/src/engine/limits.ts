/** Most commits that land in one batch (format.md 5.9). */
export const groupMembers = 64;

/** Encoded index entries beyond which a batch takes no further member, in bytes. A single commit may hold this much by itself. */
export const groupIndexBytes = 64 * 1024 * 1024;

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
