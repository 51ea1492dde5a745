import { MoraineError } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { CatalogState } from "../model/state.js";
import type { TableFiles } from "./table-files.js";

/**
 * The data file in which each row lies for certain: one whose ids follow from its first one, and in which the row's position is
 * not deleted. `undefined` for rows that are inlined, that lie in a file with ids of its own, and where a file cannot be read:
 * their places are not known, so that nobody may leave a file out for them.
 *
 * Source: specification, "File-located lookups".
 */
export async function locateRows(
  files: TableFiles | undefined,
  state: CatalogState,
  view: ReadView,
  tableId: bigint,
  rowIds: readonly bigint[],
): Promise<(bigint | undefined)[]> {
  const found = new Array<bigint | undefined>(rowIds.length).fill(undefined);
  if (files === undefined || rowIds.length === 0) return found;
  const order = [...rowIds.keys()].sort((a, b) => ((rowIds[a] ?? 0n) < (rowIds[b] ?? 0n) ? -1 : 1));
  for (const file of state.list("data_file", tableId)) {
    const start = file.rowIdStart;
    if (start === undefined || file.recordCount === 0n) continue;
    const end = start + file.recordCount;
    const inside: number[] = [];
    for (let at = firstFrom(order, rowIds, start); at < order.length; at++) {
      const position = order[at] ?? 0;
      if ((rowIds[position] ?? 0n) >= end) break;
      inside.push(position);
    }
    if (inside.length === 0) continue;
    try {
      if (await files.embedsRowIds(state, file)) continue;
      const dead = await files.deadPositions(state, view, file);
      for (const at of inside) {
        if (!dead.has(Number((rowIds[at] ?? 0n) - start))) found[at] = file.dataFileId;
      }
    } catch (error) {
      // A file that cannot be read makes rows unknown, not wrong; whoever scans it is told.
      if (!(error instanceof MoraineError) || error.code === "closed") throw error;
    }
  }
  return found;
}

/** Where in the order the first id stands that is not below `start`. */
function firstFrom(order: readonly number[], rowIds: readonly bigint[], start: bigint): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rowIds[order[middle] ?? 0] ?? 0n) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
