/** Most rows that one inline insert takes. More belong into a data file: every read of inline rows goes through the catalog store. */
export const inlineRowsPerInsert = 100_000;
