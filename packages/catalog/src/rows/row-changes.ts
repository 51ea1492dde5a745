import type { RowBatch } from "./column-data.js";

/** What one DuckDB transaction did to DuckLake's metadata tables: see packages/duckdb-ext/PROTOCOL.md, "Commit". */
export interface RowChanges {
  readonly ddl: readonly DdlChange[];
  readonly tables: readonly TableChanges[];
}

export type DdlKind = "create_table" | "drop_table" | "create_schema" | "drop_schema" | "other";

export interface DdlChange {
  readonly kind: DdlKind;
  readonly schema: string;
  readonly name: string;
  /** Of a table that was created, with types in DuckDB's words. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The statement, for messages. */
  readonly sql: string;
}

/** Rows of one table. `before` and `after` belong together row by row: rows that were updated in place. */
export interface TableChanges {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly deleted: readonly RowBatch[];
  readonly before: readonly RowBatch[];
  readonly after: readonly RowBatch[];
  readonly inserted: readonly RowBatch[];
}
