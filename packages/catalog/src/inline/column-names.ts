import { ColumnValue, decodeValue, historyPrefix } from "@moraine/codec";
import { type ReadView, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";

/**
 * What a table's columns were called in the past. Inline chunks and files without field ids name their columns as they were
 * when the rows were written, so a column is found by its name at that snapshot.
 */
export class ColumnNames {
  readonly #versions = new Map<bigint, ColumnValue[]>();

  constructor(current: Iterable<ColumnValue>, past: Iterable<ColumnValue>) {
    for (const version of [...past, ...current]) {
      const known = this.#versions.get(version.columnId);
      if (known === undefined) this.#versions.set(version.columnId, [version]);
      else known.push(version);
    }
  }

  /** The name of a column at a snapshot; `undefined` where the column did not exist. */
  nameAt(columnId: bigint, snapshotId: bigint): string | undefined {
    const versions = this.#versions.get(columnId) ?? [];
    return versions.find(({ beginSnapshot, endSnapshot }) => beginSnapshot <= snapshotId && (endSnapshot === undefined || endSnapshot > snapshotId))
      ?.columnName;
  }

  /** Every name that a column has had, the newest last. */
  namesOf(columnId: bigint): string[] {
    return [...new Set((this.#versions.get(columnId) ?? []).map((version) => version.columnName))];
  }
}

/** Ended versions of a table's columns, in the order in which they ended for each column. */
export async function readColumnHistory(view: ReadView, tableId: bigint): Promise<ColumnValue[]> {
  const past: ColumnValue[] = [];
  for await (const block of view.scan(rangeOfPrefix(historyPrefix("column", tableId)))) {
    for (let i = 0; i < block.count; i++) past.push(decodeValue(ColumnValue, rowValue(block, i)));
  }
  return past;
}
