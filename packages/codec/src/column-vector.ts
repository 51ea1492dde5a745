import type { IndexValueType } from "./index-value.js";

/**
 * One column of rows in flat buffers: what scoped reads and decoded inline chunks yield and what index keys are built from.
 *
 * - Fixed-width types: `values` holds `length` elements; `boolean` uses one byte a row (0 or 1), `int128` sixteen
 *   little-endian two's complement bytes a row in a `Uint8Array`.
 * - `string` (UTF-8) and `bytes`: row `i` is `values.subarray(offsets[i], offsets[i + 1])`.
 * - `validity` holds one byte a row, 0 for NULL; `null` means that no row is NULL.
 */
export interface ColumnVector {
  readonly type: IndexValueType;
  readonly length: number;
  readonly validity: Uint8Array | null;
  readonly values:
    | Int8Array
    | Int16Array
    | Int32Array
    | BigInt64Array
    | Uint8Array
    | Uint16Array
    | Uint32Array
    | BigUint64Array
    | Float32Array
    | Float64Array;
  /** `length + 1` byte offsets into `values` for `string` and `bytes`, otherwise `null`. */
  readonly offsets: Int32Array | null;
}
