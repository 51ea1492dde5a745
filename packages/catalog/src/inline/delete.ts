import { InvalidArgumentError, NotFoundError, type RowId, type TableId, UnsupportedError } from "@moraine/codec";
import { firstProvisionalRowId } from "@moraine/index-core";
import type { CommitDraft } from "../operations.js";
import { checkId, checkKnown, type Names } from "../verbs/arguments.js";
import { requireTable } from "../verbs/require.js";

export interface InlineDeleteArguments {
  readonly table: TableId;
  readonly rowId: RowId | bigint;
}

const inlineDeleteNames: Names<InlineDeleteArguments> = { table: true, rowId: true };

/**
 * Stages the end of one row. A row that is inline gets a tombstone; one that has been flushed or stands in a registered file is
 * looked up there, and its position is recorded as deleted without a delete file. Its index entries are worked out from the
 * row, wherever it is.
 *
 * Errors: `not_found` for an unknown table, a row id that was never given out, or (when the commit is prepared) a row that
 * has ended already, one of a file that the same commit registers, and one of any file without access to data files;
 * `constraint` for an inline row that the same commit flushes; `unsupported` for a provisional row id, which several rows may have.
 */
export function inlineDelete(draft: CommitDraft, args: InlineDeleteArguments): void {
  checkKnown(args, inlineDeleteNames, "arguments");
  const tableId = checkId(args.table, "table") as TableId;
  requireTable(draft, tableId);
  const { rowId } = args;
  if (typeof rowId !== "bigint" || rowId < 0n) {
    throw new InvalidArgumentError("rowId is no row id", {
      remedy: "Pass the row id as a bigint, as lookups give it.",
    });
  }
  if (rowId >= firstProvisionalRowId) {
    throw new UnsupportedError(`row id ${rowId} of table ${tableId} may be that of several rows`, {
      remedy: "Delete the row by SQL, or register a delete file that names its position.",
    });
  }
  if (rowId >= draft.tableStats(tableId).nextRowId) {
    throw new NotFoundError(`row ${rowId} of table ${tableId} does not exist`);
  }
  draft.inlineOps.push({ kind: "delete_row", tableId, rowId });
  draft.record({ op: "delete_inline", tableId });
}
