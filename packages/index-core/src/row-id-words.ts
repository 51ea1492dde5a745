/**
 * Row ids as pairs of 32-bit words over the memory of a `BigUint64Array`, so that hot loops copy and compare them without
 * making one bigint object per entry.
 */

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Position of a row id's low word within its pair on this machine. */
export const lowWord = littleEndian ? 0 : 1;
/** Position of a row id's high word within its pair on this machine. */
export const highWord = 1 - lowWord;

/** Bytes of a row id in a key's suffix and in the value of a unique-shaped entry. */
export const rowIdBytes = 8;

/** The words of `rowIds`: row id `i` is `words[2 * i + lowWord]` and `words[2 * i + highWord]`. */
export function rowIdWords(rowIds: BigUint64Array): Uint32Array {
  return new Uint32Array(rowIds.buffer, rowIds.byteOffset, rowIds.length * 2);
}

/** Reads a big-endian 32-bit word. */
export function readWord(data: Uint8Array, offset: number): number {
  return ((data[offset]! << 24) | (data[offset + 1]! << 16) | (data[offset + 2]! << 8) | data[offset + 3]!) >>> 0;
}

/** Writes a big-endian 32-bit word. */
export function writeWord(data: Uint8Array, offset: number, word: number): void {
  data[offset] = word >>> 24;
  data[offset + 1] = word >>> 16;
  data[offset + 2] = word >>> 8;
  data[offset + 3] = word;
}

/** A growing list of row ids, filled from their big-endian bytes. */
export class RowIdList {
  #rowIds: BigUint64Array;
  #words: Uint32Array;
  #count = 0;

  constructor(expectedRows = 16) {
    this.#rowIds = new BigUint64Array(expectedRows);
    this.#words = rowIdWords(this.#rowIds);
  }

  get count(): number {
    return this.#count;
  }

  /** Appends the row id whose eight big-endian bytes begin at `offset`. */
  appendBytes(data: Uint8Array, offset: number): void {
    if (this.#count === this.#rowIds.length) this.#grow(this.#count + 1);
    const at = this.#count * 2;
    this.#words[at + highWord] = readWord(data, offset);
    this.#words[at + lowWord] = readWord(data, offset + 4);
    this.#count++;
  }

  appendAll(rowIds: BigUint64Array): void {
    const needed = this.#count + rowIds.length;
    if (needed > this.#rowIds.length) this.#grow(needed);
    this.#rowIds.set(rowIds, this.#count);
    this.#count = needed;
  }

  /** The row ids in the order they were appended; a copy only when the list has room to spare. */
  finish(): BigUint64Array {
    return this.#count === this.#rowIds.length ? this.#rowIds : this.#rowIds.slice(0, this.#count);
  }

  #grow(needed: number): void {
    const grown = new BigUint64Array(Math.max(needed, this.#rowIds.length * 2));
    grown.set(this.#rowIds.subarray(0, this.#count));
    this.#rowIds = grown;
    this.#words = rowIdWords(grown);
  }
}

/** Sorts in place and drops repeats. */
export function sortedDistinct(rowIds: BigUint64Array): BigUint64Array {
  rowIds.sort();
  const words = rowIdWords(rowIds);
  let kept = 0;
  for (let i = 0; i < rowIds.length; i++) {
    const from = i * 2;
    const last = (kept - 1) * 2;
    if (kept > 0 && words[from] === words[last] && words[from + 1] === words[last + 1]) continue;
    words[kept * 2] = words[from]!;
    words[kept * 2 + 1] = words[from + 1]!;
    kept++;
  }
  return kept === rowIds.length ? rowIds : rowIds.slice(0, kept);
}
