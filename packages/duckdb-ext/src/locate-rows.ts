import type { ReadScope } from "@moraine/catalog";
import type { IndexId, RowId } from "@moraine/codec";
import { maxLocatedRows } from "./limits.js";

/**
 * The data file in which each live row lies, or `undefined` where that is not certain: then nobody may leave a file out. A row is
 * certain where the catalog finds it alive in a file whose row ids follow from its first one.
 */
export async function locateRows(
  scope: ReadScope,
  index: IndexId,
  rowIds: readonly RowId[],
): Promise<readonly (bigint | undefined)[]> {
  if (rowIds.length > maxLocatedRows) return rowIds.map(() => undefined);
  return await scope.locateRows({ index, rowIds });
}
