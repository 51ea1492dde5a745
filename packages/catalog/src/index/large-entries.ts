import type { IndexKeys } from "@moraine/codec";
import { shiftRowIds } from "@moraine/index-core";
import { largeCommitEntries } from "../engine/limits.js";
import type { CommitDraft } from "../operations.js";
import type { Origin } from "../remembered.js";
import type { Unchanged } from "../unchanged.js";
import type { EntryBuilder } from "./entry-builder.js";

/** Rows with consecutive ids, none of which is dead, and what their values are read from. */
export interface EntryRows {
  readonly tableId: bigint;
  readonly rowIdStart: bigint;
  readonly count: number;
  /** Same parts, same values, for as long as they are unchanged. */
  readonly origin: Origin;
  readonly unchanged: Unchanged;
}

/**
 * Adds entries of rows to some indexes. Those of many rows are made once a commit: a further run of its closure gives the
 * same rows other ids, so it takes the entries over with their row ids shifted.
 */
export async function addOnce(
  draft: CommitDraft,
  builders: readonly EntryBuilder[],
  rows: EntryRows,
  derive: (builders: readonly EntryBuilder[]) => void | Promise<void>,
): Promise<void> {
  const { memory } = draft;
  if (memory === undefined || rows.count < largeCommitEntries) {
    await derive(builders);
    return;
  }
  const missing: EntryBuilder[] = [];
  for (const builder of builders) {
    const known = memory.entries.find(originOf(draft, builder, rows));
    if (known === undefined) missing.push(builder);
    else builder.addKeys(shiftRowIds(known.keys, rows.rowIdStart - known.rowIdStart));
  }
  if (missing.length === 0) return;
  const made = missing.map((builder) => builder.apart());
  await derive(made);
  missing.forEach((builder, i) => {
    const keys: IndexKeys | undefined = made[i]?.takeAdditions();
    if (keys === undefined) return;
    builder.addKeys(keys);
    const entries = { keys, rowIdStart: rows.rowIdStart };
    memory.entries.keep(originOf(draft, builder, rows), rows.unchanged, entries, keys.count);
  });
}

/** Records are shared between states until they change, so that the same ones mean the same index over the same columns. */
function originOf(draft: CommitDraft, { context }: EntryBuilder, { origin, tableId }: EntryRows): Origin {
  return [
    ...origin,
    context.definition,
    ...context.columnIds.map((columnId) => draft.get("column", tableId, columnId)),
  ];
}
