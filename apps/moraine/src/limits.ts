/** Every limit of this app, with its unit in its name. */

/** Rows that a census asks for in one block. */
export const censusBlockRows = 4096;
