import { type IndexKeys, type IndexLayout, indexPrefix, InvalidArgumentError, prefixEnd } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { countedEntries, isCounted } from "./counted-entries.js";
import { keyStartOf } from "./index-change.js";
import { KeyTable } from "./key-table.js";
import { scanBlockRows } from "./limits.js";
import { highWord, lowWord, readWord, rowIdBytes, rowIdWords, writeWord } from "./row-id-words.js";
import { wrongValue } from "./stored-row-ids.js";

/** What a comparison of an index with the rows that it covers found. */
export interface IndexVerification {
  /** Entries that the index holds. */
  readonly stored: number;
  /** Different entries that the live rows require. */
  readonly expected: number;
  /** Required entries that the index does not hold. */
  readonly missing: number;
  /** Entries that no live row requires. */
  readonly dead: number;
  /**
   * Value-keyed entries under a required value that name another row, and counted entries that stand for another number of rows
   * than require them. Neither missing nor dead.
   */
  readonly mismatched: number;
}

const state = { unseen: 0, matched: 1, mismatched: 2, missing: 3 } as const;

/**
 * Compares what an index holds with the entries recomputed from live rows, given in any number of lists. The stored
 * entries are held in memory, keys and row ids in flat buffers; so are required entries that are not stored.
 *
 * An entry given twice counts once, unless its row id is one that several rows may have: then it is to stand for two rows. When
 * two rows require one value of a unique index, the row that the entry does not name counts as mismatched (specification,
 * "Verification").
 */
export async function verifyIndex(
  view: ReadView,
  layout: IndexLayout,
  expected: Iterable<IndexKeys> | AsyncIterable<IndexKeys>,
): Promise<IndexVerification> {
  const table = new KeyTable();
  // Both shapes whatever the index is: an entry of the wrong shape is dead, not invisible.
  await loadStored(view, layout.indexId, "unique", table);
  await loadStored(view, layout.indexId, "multi", table);
  const comparison = new Comparison(table);
  for await (const keys of expected) {
    if (keys.layout.indexId !== layout.indexId) {
      throw new InvalidArgumentError(`expected holds entries of index ${keys.layout.indexId}, not ${layout.indexId}`, {
        remedy: "Build the expected entries with the layout of the index that is verified.",
      });
    }
    comparison.require(keys);
  }
  return comparison.result();
}

async function loadStored(view: ReadView, indexId: bigint, shape: "unique" | "multi", table: KeyTable): Promise<void> {
  const prefix = indexPrefix(shape, indexId);
  const valueBytes = shape === "unique" ? rowIdBytes : 0;
  for await (const block of view.scan({ start: prefix, end: prefixEnd(prefix) }, { blockRows: scanBlockRows })) {
    for (let row = 0, start = 0; row < block.count; row++) {
      const keyEnd = block.ends[2 * row]!;
      const valueEnd = block.ends[2 * row + 1]!;
      const isNumber = shape === "multi" && valueEnd - keyEnd === rowIdBytes;
      if (valueEnd - keyEnd !== valueBytes && !isNumber) throw wrongValue(valueEnd - keyEnd, valueBytes);
      const key = table.findOrAdd(block.data, start, keyEnd);
      if (shape === "unique" || isNumber) {
        table.rowWords[key * 2 + highWord] = readWord(block.data, keyEnd);
        table.rowWords[key * 2 + lowWord] = readWord(block.data, keyEnd + 4);
      } else {
        table.rowWords[key * 2 + lowWord] = 1;
      }
      start = valueEnd;
    }
  }
}

/** Keys numbered below `#stored` are stored entries; from there on they are required entries that are not stored. */
class Comparison {
  readonly #table: KeyTable;
  readonly #stored: number;
  /** Value-keyed entries that are required for a second row: key, then row id. */
  readonly #others = new KeyTable();
  /** By the number of a key in the table: how many rows require a counted entry. */
  readonly #rows = new Map<number, number>();
  #expected = 0;
  #missing = 0;
  #mismatched = 0;

  constructor(table: KeyTable) {
    this.#table = table;
    this.#stored = table.count;
  }

  require(keys: IndexKeys): void {
    const table = this.#table;
    const requiredWords = rowIdWords(keys.rowIds);
    for (const i of countedEntries(keys) ?? []) {
      const key = table.findOrAdd(keys.data, keyStartOf(keys, i), keys.ends[i]!);
      this.#rows.set(key, (this.#rows.get(key) ?? 0) + 1);
    }
    for (let i = 0; i < keys.count; i++) {
      const start = keyStartOf(keys, i);
      const end = keys.ends[i]!;
      const key = table.findOrAdd(keys.data, start, end);
      const { states, rowWords } = table;
      const low = requiredWords[i * 2 + lowWord]!;
      const high = requiredWords[i * 2 + highWord]!;
      if (key >= this.#stored && states[key] === state.unseen) {
        states[key] = state.missing;
        rowWords[key * 2 + lowWord] = low;
        rowWords[key * 2 + highWord] = high;
        this.#expected++;
        this.#missing++;
      } else if (
        keys.multi[i] !== 0 ||
        (rowWords[key * 2 + lowWord] === low && rowWords[key * 2 + highWord] === high)
      ) {
        if (states[key] === state.matched || states[key] === state.missing) continue;
        states[key] = state.matched;
        this.#expected++;
      } else if (this.#isNewRow(keys.data, start, end, low, high)) {
        this.#expected++;
        if (key < this.#stored) {
          this.#mismatched++;
          if (states[key] === state.unseen) states[key] = state.mismatched;
        } else {
          this.#missing++;
        }
      }
    }
  }

  result(): IndexVerification {
    const { states, rowWords, keyBytes } = this.#table;
    let dead = 0;
    for (let key = 0; key < this.#stored; key++) {
      if (states[key] === state.unseen) dead++;
      else if (
        isCounted(keyBytes, this.#table.keyStart(key)) &&
        rowWords[key * 2 + lowWord] !== (this.#rows.get(key) ?? 1)
      )
        this.#mismatched++;
    }
    return {
      stored: this.#stored,
      expected: this.#expected,
      missing: this.#missing,
      dead,
      mismatched: this.#mismatched,
    };
  }

  #isNewRow(data: Uint8Array, start: number, end: number, low: number, high: number): boolean {
    const keyed = new Uint8Array(end - start + rowIdBytes);
    keyed.set(data.subarray(start, end));
    writeWord(keyed, end - start, high);
    writeWord(keyed, end - start + 4, low);
    const before = this.#others.count;
    this.#others.findOrAdd(keyed, 0, keyed.length);
    return this.#others.count > before;
  }
}
