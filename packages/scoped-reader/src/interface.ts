import type { ColumnVector } from "@moraine/codec";
import type { DataStore } from "@moraine/store";
import type { FooterCache } from "./footer-cache.js";

/** A column of the table as it is now, and what is needed to find it in a file that was written when it was otherwise. */
export interface ColumnRequest {
  /** The column's id, which is its Parquet field id. */
  readonly fieldId: bigint;
  /** The current name, for messages. */
  readonly name: string;
  /** The current DuckLake type name, as `parseColumnType` of the codec reads it. */
  readonly columnType: string;
  /** What rows of files written before the column existed hold, as DuckDB prints the value; `undefined` is NULL. */
  readonly initialDefault: string | undefined;
  /**
   * Names of the column when the file was registered, for a file that has neither field ids nor a name mapping. Empty:
   * the column did not exist then, so it has its initial default. `undefined`: no longer known, so such a file is refused.
   */
  readonly historicalNames: readonly string[] | undefined;
}

/** One entry of a recorded name mapping; `parentColumn` is set for fields inside nested columns, which are never read. */
export interface NameMapEntry {
  readonly sourceName: string;
  readonly targetFieldId: bigint;
  readonly isPartition: boolean;
  readonly parentColumn?: bigint | undefined;
}

/** The recorded name mapping of a file that was registered from outside. */
export interface NameMap {
  readonly entries: readonly NameMapEntry[];
}

/** One Parquet data file, as the catalog describes it. */
export interface FileSource {
  readonly store: DataStore;
  /** Path in `store`. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Recorded length of the footer's metadata, which saves a probe. A wrong one costs a second read, nothing else. */
  readonly footerSizeBytes?: number | undefined;
  /** The catalog records an encryption key for the file. */
  readonly encrypted: boolean;
  readonly recordCount: bigint;
  readonly rowIdStart: bigint | undefined;
  readonly nameMap?: NameMap | undefined;
  /** Parsed footers to share between scans. */
  readonly footers?: FooterCache | undefined;
}

/**
 * How rows are identified (specification, "Rewrite files: row-id resolution").
 *
 * - `lineage`: the file's embedded row-id column if it has one, else `rowIdStart` plus the position.
 * - `ordinal`: the position itself, for a file about to be registered; a file with embedded row ids is refused.
 * - `none`: not at all.
 */
export type RowIdMode = "lineage" | "ordinal" | "none";

/** Row positions in a file, counted from 0, in any order. */
export type Positions = ArrayLike<number> | ArrayLike<bigint>;

export interface ScanOptions {
  readonly columns: readonly ColumnRequest[];
  readonly rowIds: RowIdMode;
  /** Only these rows, each once and in file order. Default: all rows. */
  readonly positions?: Positions | undefined;
  /** Most rows in one batch. Default `limits.batchRows`. */
  readonly batchRows?: number | undefined;
}

/** Some rows of a file, in file order. */
export interface ScopedBatch {
  readonly length: number;
  /** One vector for each requested column, in the order of the request. */
  readonly columns: readonly ColumnVector[];
  /** `null` in mode `none`. */
  readonly rowIds: BigUint64Array | null;
  /** Positions in the file, ascending. */
  readonly positions: Float64Array;
}
