import type { RawColumn } from "./raw-column.js";

export type IntegerArray = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;
export type BigIntegerArray = BigInt64Array | BigUint64Array;

/** Fixed-width values of a raw column as a typed array over its memory, or over a copy where they are not aligned. */
export function integersOf(raw: RawColumn, bytes: 1 | 2 | 4, signed: boolean): IntegerArray {
  const { buffer, byteOffset } = aligned(raw.values, bytes);
  const { length } = raw;
  switch (bytes) {
    case 1:
      return signed ? new Int8Array(buffer, byteOffset, length) : new Uint8Array(buffer, byteOffset, length);
    case 2:
      return signed ? new Int16Array(buffer, byteOffset, length) : new Uint16Array(buffer, byteOffset, length);
    case 4:
      return signed ? new Int32Array(buffer, byteOffset, length) : new Uint32Array(buffer, byteOffset, length);
  }
}

export function bigIntegersOf(raw: RawColumn, signed: true): BigInt64Array;
export function bigIntegersOf(raw: RawColumn, signed: boolean): BigIntegerArray;
export function bigIntegersOf(raw: RawColumn, signed: boolean): BigIntegerArray {
  const { buffer, byteOffset } = aligned(raw.values, 8);
  return signed
    ? new BigInt64Array(buffer, byteOffset, raw.length)
    : new BigUint64Array(buffer, byteOffset, raw.length);
}

export function float32Of(raw: RawColumn): Float32Array {
  const { buffer, byteOffset } = aligned(raw.values, 4);
  return new Float32Array(buffer, byteOffset, raw.length);
}

export function float64Of(raw: RawColumn): Float64Array {
  const { buffer, byteOffset } = aligned(raw.values, 8);
  return new Float64Array(buffer, byteOffset, raw.length);
}

/** Sets the slots of NULL rows to zero, so that equal columns have equal bytes. `width` is in elements a row. */
export function clearNulls(
  values: IntegerArray | BigIntegerArray | Float32Array | Float64Array,
  validity: Uint8Array | null,
  width = 1,
): void {
  if (validity === null) return;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    for (let i = 0; i < validity.length; i++) if (validity[i] === 0) values[i] = 0n;
    return;
  }
  if (width === 1) {
    for (let i = 0; i < validity.length; i++) if (validity[i] === 0) values[i] = 0;
    return;
  }
  for (let i = 0; i < validity.length; i++) if (validity[i] === 0) values.fill(0, i * width, (i + 1) * width);
}

function aligned(bytes: Uint8Array, width: number): { buffer: ArrayBufferLike; byteOffset: number } {
  if (bytes.byteOffset % width === 0) return bytes;
  return new Uint8Array(bytes);
}
