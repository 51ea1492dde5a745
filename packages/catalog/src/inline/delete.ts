import { ConstraintError, InvalidArgumentError, NotFoundError, type RowId, type TableId } from "@moraine/codec";
import type { CommitDraft, FileIndexRemoval } from "../operations.js";
import { checkArray, checkId, checkObject } from "../verbs/arguments.js";
import { requireTable } from "../verbs/require.js";

export interface InlineDeleteArguments {
  readonly table: TableId;
  readonly rowId: RowId | bigint;
  /** Values of the row for every index of the table. Needed only for a row that has been flushed to a file. */
  readonly removals?: readonly FileIndexRemoval[];
}

/**
 * Stages the end of one inline row. Index entries of a row that is still inline are found by moraine; a row that was flushed
 * needs `removals`, as its values are not in the store.
 *
 * Errors: `not_found` for an unknown table, a row id that was never given out, or (when the commit is prepared) a row that
 * has ended already; `constraint` for removals of another row.
 */
export function inlineDelete(draft: CommitDraft, args: InlineDeleteArguments): void {
  checkObject(args, "arguments");
  const tableId = checkId(args.table, "table") as TableId;
  requireTable(draft, tableId);
  const { rowId } = args;
  if (typeof rowId !== "bigint" || rowId < 0n) {
    throw new InvalidArgumentError("rowId is no row id", { remedy: "Pass the row id as a bigint, as lookups give it." });
  }
  if (rowId >= draft.tableStats(tableId).nextRowId) throw new NotFoundError(`row ${rowId} of table ${tableId} does not exist`);
  const removals = checkArray(args.removals ?? [], "removals");
  for (const removal of removals) {
    if (removal.rowId !== rowId) {
      throw new ConstraintError(`a removal for row ${removal.rowId} was given with the delete of row ${rowId}`, {
        remedy: "Give each delete the removals of its own row.",
      });
    }
  }
  draft.inlineOps.push({ kind: "delete_row", tableId, rowId, removals });
  draft.record({ op: "delete_inline", tableId });
}
