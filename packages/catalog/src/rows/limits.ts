/** Rows of one batch on its way to DuckDB. */
export const rowsPerBatch = 8192;

/** Bytes that a batch of several rows may have. A single row may be larger. */
export const bytesPerBatch = 4 * 1024 * 1024;
