/** Every limit of this app, with its unit in its name. */

/** Rows that a census asks for in one block. */
export const censusBlockRows = 4096;

/** How often a line of progress is written again. */
export const progressIntervalMs = 100;

/** How often the seconds of a running step are written again. */
export const elapsedIntervalMs = 1000;

/** Most keys that `lookup --many` reads. */
export const maxLookupKeys = 1_000_000;

/** Rows of one statement that `moraine sql` shows at a terminal. */
export const sqlRowsShown = 40;

/** Characters of one value that it shows there. */
export const sqlCellWidth = 80;
