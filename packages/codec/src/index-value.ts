/**
 * The physical types that an index key holds. Every indexable column type maps to exactly one of them:
 * temporal types to their integer count, decimals to their unscaled integer, UUIDs to sixteen bytes.
 */
export type IndexValueType =
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "int128"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "float32"
  | "float64"
  | "boolean"
  | "string"
  | "bytes";

/**
 * One indexed value. Integers are `bigint` (a safe-integer `number` is accepted by the encoder), floats `number`,
 * `null` is SQL NULL.
 */
export type IndexValue = bigint | number | boolean | string | Uint8Array | null;

/** One column of an index, as its keys see it. */
export interface IndexColumn {
  readonly valueType: IndexValueType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** What is needed to build or read the keys of one index. */
export interface IndexLayout {
  readonly indexId: bigint;
  readonly unique: boolean;
  readonly columns: readonly IndexColumn[];
}

/** The largest sum of canonical value bytes of one index key, in bytes (specification, "Oversized values are refused"). */
export const maxIndexedValueBytes = 1024;
