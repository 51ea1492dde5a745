import { ConstraintError, type EntityValue, parseColumnType } from "@moraine/codec";
import { quoted } from "../model/error-text.js";
import type { CommitDraft } from "../operations.js";

/**
 * What rows may not do to indexes, and what follows for them: the indexes of a table that is dropped end with it; a column that an
 * index covers stays, and keeps its type. Its name is free.
 *
 * Errors: `constraint`, which names index and column.
 */
export function settleIndexes(draft: CommitDraft): void {
  const tables = new Set<bigint>();
  for (const { kind, ids } of draft.entityChanges()) {
    if (kind === "table" || kind === "column") tables.add(ids[0] ?? 0n);
  }
  for (const tableId of tables) {
    const definitions = draft.indexesOf(tableId);
    if (draft.get("table", tableId) === undefined) {
      for (const { indexId } of definitions) draft.remove("index", [tableId, indexId]);
    } else {
      for (const definition of definitions) checkColumns(draft, definition);
    }
  }
}

function checkColumns(draft: CommitDraft, { indexName, tableId, columnIds }: EntityValue["index"]): void {
  for (const columnId of columnIds) {
    const before = draft.base.get("column", tableId, columnId);
    const after = draft.get("column", tableId, columnId);
    if (after !== undefined && (before === undefined || sameType(before.columnType, after.columnType))) continue;
    const name = quoted((before ?? after)?.columnName ?? `${columnId}`);
    const what = after === undefined ? "dropped" : "given another type";
    throw new ConstraintError(`column ${name} is ${what}, and index ${quoted(indexName)} covers it`, {
      remedy: "Drop the index first, and create it again afterwards.",
    });
  }
}

/** Types have several names: DuckLake's own and SQL's. */
function sameType(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(parseColumnType(a)) === JSON.stringify(parseColumnType(b));
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    return false;
  }
}
