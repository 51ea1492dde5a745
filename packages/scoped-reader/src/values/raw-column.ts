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
  const bytes = unpackBits(validity, validityOffset, length);
  return bytes.includes(0) ? bytes : null;
}

/** `count` bits from bit `offset` on, least significant first, as bytes of 0 or 1. */
export function unpackBits(bits: Uint8Array, offset: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  let i = 0;
  const single = (end: number): void => {
    for (; i < end; i++) {
      const at = offset + i;
      bytes[i] = ((bits[at >> 3] ?? 0) >> (at & 7)) & 1;
    }
  };
  single(Math.min(count, (8 - (offset & 7)) & 7));
  // Whole bytes of the bitmap, eight rows a turn.
  for (let from = (offset + i) >> 3; i + 8 <= count; i += 8, from++) {
    const byte = bits[from] ?? 0;
    bytes[i] = byte & 1;
    bytes[i + 1] = (byte >> 1) & 1;
    bytes[i + 2] = (byte >> 2) & 1;
    bytes[i + 3] = (byte >> 3) & 1;
    bytes[i + 4] = (byte >> 4) & 1;
    bytes[i + 5] = (byte >> 5) & 1;
    bytes[i + 6] = (byte >> 6) & 1;
    bytes[i + 7] = byte >> 7;
  }
  single(count);
  return bytes;
}
