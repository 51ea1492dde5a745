/** Every fixed bound of this package. They are safety invariants and not options; changing one asks for new measurements. */

/** Most index entries (additions and removals) that one commit may name. Specification, "Commit size is bounded". */
export const maxIndexEntriesPerCommit = 1_000_000;

/** Most encoded key and value bytes of index entries that one commit may name. Same source. */
export const maxIndexBytesPerCommit = 64 * 1024 * 1024;

/** Keys that the uniqueness check asks for at once. */
export const uniquenessProbeWindowKeys = 1024;

/** Keys that one `getMany` of the uniqueness check asks for: when one has its answer the next is sent. */
export const uniquenessProbeKeys = 256;

/** Entries of a large commit that are entered, planned, staged, noted or compared between two turns of the event loop. */
export const entriesPerTurn = 8192;

/** Keys of a lookup that are asked for at once. Specification, "Lookups". */
export const lookupProbeWindowKeys = 512;

/** Keys that one `getMany` of a lookup asks for: when one has its answer the next is sent, while the others are under way. */
export const lookupProbeKeys = 128;

/**
 * Keys of a lookup from which on one `getMany` asks for a whole window's half: so many at once go past the store's cache of
 * rows, which would forget everything else for keys that hardly come again.
 */
export const manyLookupKeys = 16_384;
export const manyLookupProbeKeys = 256;

/** Prefix scans of a lookup over a multi-shaped index that run at once. */
export const lookupScanConcurrency = 32;

/** Keys of a lookup over a multi-shaped index that one scan may look for, and from which it is worth trying. */
export const denseScanKeys = 256;

/**
 * Rows of other keys that such a scan passes over for each key before scans of single keys are cheaper (measured: 2.3 us a row,
 * 120 us to begin a scan; half of that, because what was passed over is lost).
 */
export const denseScanRowsPerKey = 24;

/** Runs of keys that are scanned one by one without a try, after a try that gave up. */
export const sparseRunsWithoutTry = 8;

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

/** Bits of a uniqueness filter for each key that it is made for: about 0.1 % of absent keys then look as if they were there. */
export const filterBitsPerKey = 16;

/** Keys that the smallest uniqueness filter is made for (32 KiB). */
export const filterMinimumKeys = 16_384;

/** Room of a new uniqueness filter beyond the keys that are expected in it, as a factor. */
export const filterRoomFactor = 1.25;

/** A full uniqueness filter is extended by so many times the keys that it has: by the first factor for which there is memory. */
export const filterGrowthFactors = [3, 1, 0.25];

/** Memory for all uniqueness filters of one open catalog, those being built included, in bytes. */
export const filtersMaxBytes = 64 * 1024 * 1024;

/**
 * Rows of a scan that cost about as much as one probe that finds nothing (measured: 35 us a row, 50 to 260 us a probe). An
 * index gets its filter when the probes that it would have spared have cost what the scan will.
 */
export const filterScanRowsPerMiss = 2;

/** Misses after a failed or refused build before the next one is tried. */
export const filterRetryMisses = 10_000;

/** Rows in one block of the scan that fills a filter. Closing waits for at most one block. */
export const filterScanBlockRows = 1024;

/** Share of a filter's keys that have been deleted from which it is built anew. */
export const filterDeadShare = 0.75;

/** Keys below which a filter is never built anew: it takes too little memory to be worth a scan. */
export const filterRebuildMinimumKeys = 65_536;
