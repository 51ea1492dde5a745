/** Most rows that one inline insert takes. More belong into a data file: every read of inline rows goes through the catalog store. */
export const inlineRowsPerInsert = 100_000;

/** Chunks that one scan of inline rows keeps decoded at a time. */
export const decodedChunks = 64;
