/**
 * Rows of one table by columns, in the layout of the Apache Arrow columnar format: what travels between DuckDB and the catalog.
 * The layout of each type is in packages/duckdb-ext/PROTOCOL.md, "Column data".
 */
export interface RowBatch {
  readonly rows: number;
  readonly columns: readonly ColumnData[];
}

/** One column, or one nested part of a column. */
export interface ColumnData {
  /** In DuckDB's own words: `BIGINT`, `DECIMAL(18,3)`, `STRUCT(a INTEGER)[]`. */
  readonly type: string;
  readonly rows: number;
  /** Bit `i % 8` of byte `i >> 3` is 1 where row `i` is not NULL. `undefined`: no row is NULL. */
  readonly validity: Uint8Array | undefined;
  /** Fixed-width values, bits of booleans, or the bytes of strings. `undefined` for types that only have children. */
  readonly values: Uint8Array | undefined;
  /** `rows + 1` offsets from 0, for strings into `values`, for lists and maps into their child. */
  readonly offsets: Uint32Array | undefined;
  readonly children: readonly ColumnData[];
}
