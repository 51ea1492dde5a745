import { ConstraintError } from "@moraine/codec";
import { quoted } from "../model/error-text.js";
import type { EntryBuilder } from "./entry-builder.js";

/** A set of small numbers that tells repeats: which rows of a file an entry has been seen for. */
export class RowCover {
  readonly #bits: Uint8Array;
  #count = 0;

  constructor(rows: number) {
    this.#bits = new Uint8Array(Math.ceil(rows / 8));
  }

  get count(): number {
    return this.#count;
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  /** Adds a row. Returns false if it was there already. */
  add(row: number): boolean {
    if (this.has(row)) return false;
    this.#bits[row >> 3] = (this.#bits[row >> 3] ?? 0) | (1 << (row & 7));
    this.#count += 1;
    return true;
  }
}

/** Refuses entries that leave an index short: an index that is silently short is worse than none (specification, "Coverage"). */
export function incomplete(
  builder: EntryBuilder,
  what: string,
  given: number | bigint,
  needed: number | bigint,
): ConstraintError {
  return new ConstraintError(
    `index ${quoted(builder.context.definition.indexName)} (${builder.indexId}): ${given} ${what} were given, ${needed} are needed`,
    {
      remedy:
        'Give one entry for every row and every index of the table, or "scoped-read" to let moraine read the file.',
    },
  );
}
