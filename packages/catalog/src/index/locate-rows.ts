import { type EntityValue, inlineFileDeleteKey, MoraineError } from "@moraine/codec";
import { holdsPosition } from "@moraine/scoped-reader";
import { packKeys, type ReadView, valueAt } from "@moraine/store";
import { locatedRowsByKey } from "../engine/limits.js";
import type { CatalogState } from "../model/state.js";
import { FilesByRowId } from "./files-by-row-id.js";
import { inlineFileDeletes, type TableFiles } from "./table-files.js";

/** Rows that lie in one file, if they live there: where each stands in the caller's list, and its position in the file. */
interface FileRows {
  readonly file: EntityValue["data_file"];
  readonly at: number[];
  readonly positions: number[];
}

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
  const groups = groupsOf(FilesByRowId.of(state, tableId), rowIds);
  const deleted = await deletedOneByOne(view, groups);
  for (const [i, { file, at, positions }] of groups.entries()) {
    try {
      if (await files.embedsRowIds(state, file)) continue;
      const isDeleted = deleted[i] ?? (await inlineFileDeletes(view, file));
      const listed = await files.listedPositions(state, file);
      for (const [row, position] of positions.entries()) {
        const isDead = isDeleted.has(position) || listed.some((list) => holdsPosition(list, position));
        if (!isDead) found[at[row]!] = file.dataFileId;
      }
    } catch (error) {
      // A file that cannot be read makes rows unknown, not wrong; whoever scans it is told.
      if (!(error instanceof MoraineError) || error.code === "closed") throw error;
    }
  }
  return found;
}

function groupsOf(spans: FilesByRowId, rowIds: readonly bigint[]): FileRows[] {
  const groups = new Map<bigint, FileRows>();
  for (const [at, rowId] of rowIds.entries()) {
    for (const file of spans.holding(rowId)) {
      let group = groups.get(file.dataFileId);
      if (group === undefined) groups.set(file.dataFileId, (group = { file, at: [], positions: [] }));
      group.at.push(at);
      group.positions.push(Number(rowId - (file.rowIdStart ?? 0n)));
    }
  }
  return [...groups.values()];
}

/**
 * Which rows of each group were deleted one by one, without a delete file: by their keys, all at once. `undefined` for groups of so many
 * rows that it is better to read all such deletes of the file.
 */
async function deletedOneByOne(
  view: ReadView,
  groups: readonly FileRows[],
): Promise<readonly (ReadonlySet<number> | undefined)[]> {
  const few = groups.map(({ positions }) => positions.length <= locatedRowsByKey);
  const keys = groups.flatMap(({ file, positions }, i) =>
    few[i] === true
      ? positions.map((position) => inlineFileDeleteKey(file.tableId, file.dataFileId, BigInt(position)))
      : [],
  );
  if (keys.length === 0) return [];
  const values = await view.getMany(packKeys(keys));
  let next = 0;
  return groups.map(({ positions }, i) => {
    if (few[i] !== true) return undefined;
    return new Set(positions.filter(() => valueAt(values, next++) !== undefined));
  });
}
