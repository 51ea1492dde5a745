/**
 * Values of one column as a decoder left them: Arrow's layout, borrowed memory. Whoever reads one copies what it keeps,
 * because the memory behind it may be reused as soon as the call is over.
 */
export interface RawColumn {
  readonly length: number;
  /** One bit a row, least significant first, 0 for NULL; row 0 is bit `validityOffset`. `null`: no row is NULL. */
  readonly validity: Uint8Array | null;
  readonly validityOffset: number;
  /** Little-endian values of the storage width from row 0 on; bits for booleans, then row 0 is bit `valuesOffset`. */
  readonly values: Uint8Array;
  readonly valuesOffset: number;
  /** `length + 1` byte offsets into `values` for variable-length values. */
  readonly offsets: Int32Array | null;
}

/** One byte a row from a bitmap, or `null` when no row is NULL. */
export function expandValidity(raw: RawColumn): Uint8Array | null {
  const { validity, validityOffset, length } = raw;
  if (validity === null) return null;
  const bytes = new Uint8Array(length);
  let valid = 0;
  for (let i = 0; i < length; i++) {
    const at = validityOffset + i;
    const bit = ((validity[at >> 3] ?? 0) >> (at & 7)) & 1;
    bytes[i] = bit;
    valid += bit;
  }
  return valid === length ? null : bytes;
}
