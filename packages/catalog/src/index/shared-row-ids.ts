import { ConstraintError } from "@moraine/codec";
import { firstProvisionalRowId, type IndexChange } from "@moraine/index-core";

/**
 * What to do where rows share an id that is not provisional. DuckLake 1.5.5 gives such ids where it merges files whose rows do not follow
 * each other by the recorded first id alone, as a flush of inlined rows leaves them in the partitions of a table.
 */
export const sharedRowIdRemedy =
  "DuckLake gives rows the ids of others where it merges files that a flush has written to several partitions. Copy the table's rows " +
  "into a new one (CREATE TABLE ... AS), and index that.";

/**
 * Refuses the entries of a new index of which several are of rows with one id: the end of one row would take the entry of the others,
 * and under a unique index they could share a value. Entries of provisional ids are counted, and may be of several rows.
 */
export function requireOwnRowIds(changes: readonly IndexChange[], tableId: bigint): void {
  const shared = sharedRowId(changes.flatMap(({ additions }) => additions?.rowIds.subarray(0, additions.count) ?? []));
  if (shared === undefined) return;
  throw new ConstraintError(`rows of table ${tableId} share the row id ${shared}: an index could not tell them apart`, {
    remedy: sharedRowIdRemedy,
  });
}

/** An id that comes more than once and is not provisional; `undefined` where there is none. */
export function sharedRowId(lists: readonly BigUint64Array[]): bigint | undefined {
  const all = new BigUint64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let ascends = true;
  for (const list of lists) {
    for (const rowId of list) {
      if (at > 0 && rowId <= all[at - 1]!) ascends = false;
      all[at++] = rowId;
    }
  }
  if (ascends) return undefined;
  all.sort();
  for (let i = 1; i < all.length; i++) {
    const rowId = all[i]!;
    if (rowId >= firstProvisionalRowId) return undefined;
    if (rowId === all[i - 1]) return rowId;
  }
  return undefined;
}
