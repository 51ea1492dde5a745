import { prefixEnd } from "@moraine/codec";
import type { ReadView, RowBlock } from "@moraine/store";
import { compareRanges } from "./bytes.js";
import type { KeyTable } from "./key-table.js";
import { denseScanRowsPerKey, scanBlockRows } from "./limits.js";
import type { RowIdList } from "./row-id-words.js";
import { appendRowId } from "./stored-row-ids.js";

/** Numbers of the keys of a table, in the order of their bytes. */
export function keysInOrder(keys: KeyTable): Uint32Array {
  const { keyBytes } = keys;
  const order = Uint32Array.from({ length: keys.count }, (_, key) => key);
  return order.sort((a, b) =>
    compareRanges(keyBytes, keys.keyStart(a), keys.keyEnd(a), keyBytes, keys.keyStart(b), keys.keyEnd(b)),
  );
}

/** How far one scan over several keys got. */
export interface DenseScan {
  /** Keys of the order that are done with; the others are to be scanned one by one. */
  readonly done: number;
  /** Keys that had an entry. */
  readonly hits: number;
}

/**
 * Appends the rows of keys that follow each other in `order` by one scan from the first to the last of them: a scan costs as much
 * to begin as dozens of rows. Gives up once it has met too many rows of other keys. No key is a prefix of another one.
 */
export async function scanDense(
  view: ReadView,
  keys: KeyTable,
  order: Uint32Array,
  found: RowIdList,
): Promise<DenseScan> {
  const cursor = new KeyCursor(keys, order);
  const budget = order.length * denseScanRowsPerKey;
  const range = { start: cursor.bytes(0), end: prefixEnd(cursor.bytes(order.length - 1)) };
  let passed = 0;
  for await (const block of view.scan(range, { blockRows: Math.min(scanBlockRows, budget) })) {
    for (let row = 0; row < block.count; row++) {
      if (cursor.reach(block, row)) appendRowId(block, row, "multi", found);
      else passed++;
    }
    // The key that the scan stands at may have more rows behind the block: it is done with only when the scan is.
    if (passed > budget && !cursor.isInside) return { done: cursor.at, hits: cursor.hits };
  }
  return { done: order.length, hits: cursor.hits };
}

/** Follows a scan through keys in their order. */
class KeyCursor {
  readonly #keys: KeyTable;
  readonly #order: Uint32Array;
  /** The first key that is not below the last row. */
  at = 0;
  hits = 0;
  /** Whether the last row belongs to the key that the cursor is at. */
  isInside = false;

  constructor(keys: KeyTable, order: Uint32Array) {
    this.#keys = keys;
    this.#order = order;
  }

  bytes(at: number): Uint8Array {
    const key = this.#order[at]!;
    return this.#keys.keyBytes.slice(this.#keys.keyStart(key), this.#keys.keyEnd(key));
  }

  /** Moves on to a row of a scan; whether it belongs to one of the keys. */
  reach(block: RowBlock, row: number): boolean {
    const from = row === 0 ? 0 : block.ends[2 * row - 1]!;
    const to = block.ends[2 * row]!;
    const { keyBytes } = this.#keys;
    while (this.at < this.#order.length) {
      const key = this.#order[this.at]!;
      const [start, end] = [this.#keys.keyStart(key), this.#keys.keyEnd(key)];
      const order = compareRanges(block.data, from, Math.min(to, from + end - start), keyBytes, start, end);
      if (order < 0) {
        this.isInside = false;
        return false;
      }
      if (order === 0) {
        if (!this.isInside) this.hits++;
        this.isInside = true;
        return true;
      }
      this.at++;
      this.isInside = false;
    }
    return false;
  }
}
