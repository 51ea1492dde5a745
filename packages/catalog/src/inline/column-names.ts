import { ColumnValue, decodeValue, historyPrefix } from "@moraine/codec";
import { type ReadView, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";

/**
 * What a table's columns were called in the past. Inline chunks and files without field ids name their columns as they were
 * when the rows were written, so a column is found by its name at that snapshot.
 */
export class ColumnNames {
  readonly #versions = new Map<bigint, ColumnValue[]>();

  /** Where versions overlap, the first one counts. */
  constructor(current: Iterable<ColumnValue>, past: Iterable<ColumnValue>) {
    for (const version of [...past, ...current]) {
      const known = this.#versions.get(version.columnId);
      if (known === undefined) this.#versions.set(version.columnId, [version]);
      else known.push(version);
    }
  }

  /** The name of a column at a snapshot; `undefined` where the column did not exist. */
  nameAt(columnId: bigint, snapshotId: bigint): string | undefined {
    return this.#at(columnId, snapshotId)?.columnName;
  }

  /** Whether the oldest known version of a column is younger than a snapshot. */
  beganAfter(columnId: bigint, snapshotId: bigint): boolean {
    return (this.#versions.get(columnId) ?? []).every((version) => version.beginSnapshot > snapshotId);
  }

  /** The type of a column at a snapshot. */
  typeAt(columnId: bigint, snapshotId: bigint): string | undefined {
    return this.#at(columnId, snapshotId)?.columnType;
  }

  /** Names from the top-level column down to a nested field, joined by NUL, at a snapshot. */
  pathAt(columnId: bigint, snapshotId: bigint): string | undefined {
    const version = this.#at(columnId, snapshotId);
    if (version?.parentColumn === undefined) return version?.columnName;
    const parent = this.pathAt(version.parentColumn, snapshotId);
    return parent === undefined ? undefined : `${parent}\0${version.columnName}`;
  }

  /** Ids of every column that the table has or had. */
  all(): IterableIterator<bigint> {
    return this.#versions.keys();
  }

  #at(columnId: bigint, snapshotId: bigint): ColumnValue | undefined {
    return (this.#versions.get(columnId) ?? []).find(
      ({ beginSnapshot, endSnapshot }) =>
        beginSnapshot <= snapshotId && (endSnapshot === undefined || endSnapshot > snapshotId),
    );
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
