import type { ReadScope } from "@moraine/catalog";
import type { IndexId } from "@moraine/codec";
import { maxLocatedRows } from "./limits.js";

/**
 * The data file in which each live row lies, or `undefined` where that is not certain: then nobody may leave a file out. Of very
 * many rows none is looked for: `undefined` in place of all. A row is
 * certain where the catalog finds it alive in a file whose row ids follow from its first one.
 */
export async function locateRows(
  scope: ReadScope,
  index: IndexId,
  rowIds: BigUint64Array,
): Promise<readonly (bigint | undefined)[] | undefined> {
  if (rowIds.length > maxLocatedRows) return undefined;
  return await scope.locateRows({ index, rowIds: Array.from(rowIds) });
}
