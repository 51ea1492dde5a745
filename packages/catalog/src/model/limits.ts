/** A changelog record is written only for commits of at most this many keys (format.md 5.1). */
export const maxChangelogKeys = 4096;

/** How many snapshots back a commit deletes the changelog record (format.md 5.1). */
export const changelogWindowSnapshots = 64n;

/** How deep a column tree may nest. Deeper trees come from cyclic objects, not from tables. */
export const maxColumnNestingLevels = 64;

/** Entries of one node of the in-memory trees: wide enough to stay shallow, small enough to copy in well under a microsecond. */
export const maxTreeNodeEntries = 32;

/** Characters of a name that an error message quotes before it cuts. */
export const maxQuotedNameCharacters = 80;

/** The largest row id: DuckLake serves them as signed 64-bit integers. */
export const largestRowId = 2n ** 63n - 1n;
