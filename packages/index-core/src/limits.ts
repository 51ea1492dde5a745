/** Every fixed bound of this package. They are safety invariants and not options; changing one asks for new measurements. */

/** Most index entries (additions and removals) that one commit may name. Specification, "Commit size is bounded". */
export const maxIndexEntriesPerCommit = 1_000_000;

/** Most encoded key and value bytes of index entries that one commit may name. Same source. */
export const maxIndexBytesPerCommit = 64 * 1024 * 1024;

/** Keys that one `getMany` of the uniqueness check asks for. */
export const uniquenessProbeWindowKeys = 1024;

/** Keys that are entered between two turns of the event loop when a commit is probed ahead. */
export const probeAheadSliceKeys = 8192;

/** Keys that one `getMany` of a lookup asks for. */
export const lookupProbeWindowKeys = 512;

/** Prefix scans of a lookup over a multi-shaped index that run at once. */
export const lookupScanConcurrency = 32;

/** New keys of one index from which two scans are spent on finding spans that hold no entry at all. */
export const absenceScanMinimumKeys = 256;

/** Spans known to hold no entry that are remembered for one index; the oldest is forgotten first. */
export const absentSpansPerIndex = 8;

/** Key bytes that one `KeyTable` holds. Its offsets are 32 bits wide and its buffer doubles when it grows. */
export const keyTableMaxBytes = 2 * 1024 * 1024 * 1024;

/** Keys that a `KeyTable` makes room for when nothing better is known. */
export const keyTableInitialKeys = 64;

/** Rows that a scan of this package asks for in one block. */
export const scanBlockRows = 4096;

/** Characters of an index name that an error text quotes. */
export const quotedNameMaxCharacters = 128;
