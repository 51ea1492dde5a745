import { deletePositionCacheBytes } from "../engine/limits.js";

/**
 * Positions that recently read delete files name, ascending, by what identifies the file: one that a catalog names never changes.
 * Keeps those that were used last.
 */
export class DeletePositionCache {
  readonly #limitBytes: number;
  readonly #positions = new Map<string, Float64Array>();
  #bytes = 0;

  constructor(limitBytes: number = deletePositionCacheBytes) {
    this.#limitBytes = limitBytes;
  }

  /** The positions under `key`, read by `read` if they are not there. A failed read leaves nothing. */
  async get(key: string, read: () => Promise<Float64Array>): Promise<Float64Array> {
    const known = this.#positions.get(key);
    if (known !== undefined) {
      // The map's order is that of use.
      this.#positions.delete(key);
      this.#positions.set(key, known);
      return known;
    }
    const positions = await read();
    if (positions.byteLength > this.#limitBytes) return positions;
    this.#bytes += positions.byteLength - (this.#positions.get(key)?.byteLength ?? 0);
    this.#positions.set(key, positions);
    for (const [oldest, { byteLength }] of this.#positions) {
      if (this.#bytes <= this.#limitBytes) break;
      this.#positions.delete(oldest);
      this.#bytes -= byteLength;
    }
    return positions;
  }
}

/** Whether an ascending list holds a position. */
export function holdsPosition(positions: Float64Array, position: number): boolean {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle]! < position) low = middle + 1;
    else high = middle;
  }
  return positions[low] === position;
}
