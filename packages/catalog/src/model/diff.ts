import {
  type EntityValue,
  type FileColumnStatsValue,
  ColumnValue,
  FileColumnStatsValue as FileColumnStatsMessage,
  GcFileValue,
  TableValue,
  currentKey,
  encodeValue,
  entityKinds,
  entityMessages,
  equalValue,
  gcFileKey,
  historyKey,
} from "@moraine/codec";
import type { EntityChange, EntityChangeOf, StateKind } from "./entities.js";
import type { GcFileChange } from "./state.js";

/** Where encoded records go: the batch that a commit writes. */
export interface BatchSink {
  put(key: Uint8Array, value: Uint8Array): void;
  delete(key: Uint8Array): void;
}

export interface DiffOptions {
  /**
   * Overwrite a table record whose only change is `nextColumnId`, without a history version. Column rows that DuckLake
   * writes raise the counter of a table that they do not otherwise touch; the verbs never do.
   */
  readonly columnCounterInPlace?: boolean;
  /** Entities whose records are overwritten or deleted without a history version: edits and hard deletes. Keys as `entityText` gives them. */
  readonly withoutHistory?: ReadonlySet<string>;
}

/** An entity as the element of a set. */
export function entityText(kind: StateKind, ids: readonly bigint[]): string {
  return `${kind}/${ids.join("/")}`;
}

/**
 * Writes the records of a commit's net changes (format.md 5.2): a versioned entity that changed or went leaves its old
 * version under `history`, ended by the new snapshot; the other kinds are overwritten in place. Gives the `current`
 * keys that were put or deleted, which is what the changelog lists.
 */
export function encodeEntityChanges(
  changes: readonly EntityChange[],
  newSnapshotId: bigint,
  sink: BatchSink,
  options: DiffOptions = {},
): Uint8Array[] {
  return changes.map((change) => encodeChange(change, newSnapshotId, sink, options));
}

/** Adds the statistics records of new files. */
export function encodeFileColumnStats(stats: readonly FileColumnStatsValue[], sink: BatchSink): Uint8Array[] {
  return stats.map((value) => {
    const key = currentKey("file_column_stats", value.tableId, value.dataFileId, value.columnId);
    sink.put(key, encodeValue(FileColumnStatsMessage, value));
    return key;
  });
}

/** Adds and removes scheduled deletions. */
export function encodeGcChanges(changes: readonly GcFileChange[], sink: BatchSink): Uint8Array[] {
  return changes.map((change) => {
    const key = gcFileKey(change.dataFileId);
    if (change.after === undefined) sink.delete(key);
    else sink.put(key, encodeValue(GcFileValue, change.after));
    return key;
  });
}

function encodeChange<K extends StateKind>(
  change: EntityChangeOf<K>,
  end: bigint,
  sink: BatchSink,
  options: DiffOptions,
): Uint8Array {
  const { kind, ids, before, after } = change;
  const key = currentKey(kind, ...ids);
  if (before !== undefined && entityKinds[kind].versioned && !staysOneVersion(change, options)) {
    sink.put(historyKey(kind, ids, end), encodeValue(entityMessages[kind], { ...before, endSnapshot: end }));
  }
  if (after === undefined) sink.delete(key);
  else sink.put(key, encodeValue(entityMessages[kind], after));
  return key;
}

/** The changes of versioned kinds that mint no version (format.md 5.2, 5.10). */
function staysOneVersion(change: EntityChangeOf<StateKind>, options: DiffOptions): boolean {
  const { kind, ids, before, after } = change;
  if (options.withoutHistory?.has(entityText(kind, ids)) === true) return true;
  if (before === undefined || after === undefined) return false;
  if (kind === "column") {
    const next = after as EntityValue["column"];
    return equalValue(ColumnValue, { ...(before as EntityValue["column"]), tags: next.tags }, next);
  }
  if (kind === "table" && options.columnCounterInPlace === true) {
    const next = after as EntityValue["table"];
    return equalValue(TableValue, { ...(before as EntityValue["table"]), nextColumnId: next.nextColumnId }, next);
  }
  return false;
}
