import type { InlineChunk } from "../inline/chunks.js";

/** Versions of inlined rows, by the snapshot at which they began and their row id. */
export class RowSet {
  readonly #rows = new Map<bigint, Set<bigint>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(begin: bigint, rowId: bigint): void {
    const ofBegin = this.#rows.get(begin) ?? new Set<bigint>();
    this.#rows.set(begin, ofBegin);
    if (!ofBegin.has(rowId)) this.#size += 1;
    ofBegin.add(rowId);
  }

  /** Takes out the rows that a chunk holds. Gives their positions in it, ascending. */
  takeFrom({ beginSnapshot, rowIdStart, rowCount }: InlineChunk): number[] {
    const ofBegin = this.#rows.get(beginSnapshot);
    if (ofBegin === undefined) return [];
    const offsets: number[] = [];
    for (let offset = 0; offset < rowCount; offset++) {
      if (ofBegin.delete(rowIdStart + BigInt(offset))) offsets.push(offset);
    }
    this.#size -= offsets.length;
    return offsets;
  }
}
