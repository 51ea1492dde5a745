import type { EntityValue } from "@moraine/codec";
import type { CatalogState } from "../model/state.js";

type DataFile = EntityValue["data_file"];

const known = new WeakMap<CatalogState, Map<bigint, FilesByRowId>>();

/** The data files of a table by the span of row ids that follow from their first one. Spans may overlap. */
export class FilesByRowId {
  /** By their first row id. */
  readonly #files: readonly DataFile[];
  readonly #starts: BigUint64Array;
  /** Where the span of any file up to this one ends at most. */
  readonly #ends: BigUint64Array;

  private constructor(files: readonly DataFile[]) {
    const spans = files.filter(({ rowIdStart, recordCount }) => rowIdStart !== undefined && recordCount > 0n);
    spans.sort((a, b) => compare(a.rowIdStart ?? 0n, b.rowIdStart ?? 0n));
    this.#files = spans;
    this.#starts = BigUint64Array.from(spans, ({ rowIdStart }) => rowIdStart ?? 0n);
    this.#ends = new BigUint64Array(spans.length);
    let most = 0n;
    for (const [i, { recordCount }] of spans.entries()) {
      const end = this.#starts[i]! + recordCount;
      if (end > most) most = end;
      this.#ends[i] = most;
    }
  }

  /** Made once for a state and a table. */
  static of(state: CatalogState, tableId: bigint): FilesByRowId {
    const tables = known.get(state) ?? new Map<bigint, FilesByRowId>();
    known.set(state, tables);
    let files = tables.get(tableId);
    if (files === undefined) tables.set(tableId, (files = new FilesByRowId(state.list("data_file", tableId))));
    return files;
  }

  /** Files in whose span a row id lies. */
  *holding(rowId: bigint): Generator<DataFile, void, undefined> {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= rowId) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && this.#ends[i]! > rowId; i--) {
      const file = this.#files[i]!;
      if (this.#starts[i]! + file.recordCount > rowId) yield file;
    }
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
