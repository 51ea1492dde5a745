import {
  ChangelogValue,
  HeadValue,
  type LooseRowValue,
  SchemaVersionValue,
  SnapshotValue,
  changelogKey,
  encodeValue,
  schemaVersionKey,
  snapshotKey,
  sysHeadKey,
} from "@moraine/codec";
import {
  type BatchSink,
  type DiffOptions,
  encodeEntityChanges,
  encodeFileColumnStats,
  encodeGcChanges,
} from "./diff.js";
import type { Draft } from "./draft.js";
import { encodeLooseRows, withoutChangesOf } from "./loose-rows.js";
import { changelogWindowSnapshots, maxChangelogKeys } from "./limits.js";
import type { CatalogState } from "./state.js";

/** What a snapshot record says beside what follows from the draft. */
export interface CommitInfo {
  /** Microseconds since the epoch, UTC. */
  readonly timeMicros: bigint;
  readonly author?: string | undefined;
  readonly commitMessage?: string | undefined;
  readonly commitExtraInfo?: string | undefined;
  /**
   * Whether a commit moves the numbers by which DuckLake knows that what it remembers is old, also where moraine itself needs no new
   * ones: `next_file_id` for statistics, `schema_version` for the tables of inlined rows.
   */
  readonly tellsDuckLake?: boolean;
  /** Whether it inlines rows of a table in columns that the table had none in. */
  readonly inlinesAnew?: boolean;
}

/** The snapshot record of the commit that a draft describes. */
function snapshotRecord(draft: Draft, info: CommitInfo): SnapshotValue {
  const { head } = draft.base;
  const { changes } = draft;
  const isTold = info.tellsDuckLake === true && info.inlinesAnew === true;
  return {
    snapshotId: draft.snapshotId,
    snapshotTimeMicros: info.timeMicros,
    schemaVersion: head.schemaVersion + (changes.schemaChanged || isTold ? 1n : 0n),
    nextCatalogId: draft.nextCatalogId,
    nextFileId: draft.nextFileId + (info.tellsDuckLake === true && changesStatsOnly(draft) ? 1n : 0n),
    changesMade: changes.toText(),
    author: info.author,
    commitMessage: info.commitMessage,
    commitExtraInfo: info.commitExtraInfo,
    schemaChangedTableIds: changes.schemaChangedIds,
    deletedDataFileIds: changes.deletedDataFileIds,
  };
}

const statsKinds: ReadonlySet<string> = new Set(["table_stats", "table_column_stats"]);

/**
 * Whether statistics changed that DuckLake may know, and no file came. DuckLake keeps a table's statistics, and with them its next row id, for as long as
 * `next_file_id` stays: like DuckLake itself where it inlines rows, a commit that makes no file skips one id for that.
 */
function changesStatsOnly(draft: Draft): boolean {
  if (draft.nextFileId !== draft.base.head.nextFileId) return false;
  return draft.entityChanges().some(({ kind, before }) => before !== undefined && statsKinds.has(kind));
}

/**
 * Writes every catalog record of a draft into the batch, all but the head (`stageHead`: a group of commits shares one),
 * and gives the state that the commit leaves. Inline records and index entries are the caller's, and so is the case
 * of a draft that `isEmpty`. A draft of options or scheduled deletions alone makes no snapshot: only the batch number moves.
 */
export function stageCatalogRecords(draft: Draft, info: CommitInfo, sink: BatchSink): CatalogState {
  return stageRecords(draft, draft.mintsSnapshot ? snapshotRecord(draft, info) : undefined, sink);
}

export interface StageOptions extends DiffOptions {
  /** Keys of `current` records beside the draft's that the commit writes, for its changelog. */
  readonly otherKeys?: readonly Uint8Array[];
  /** The head's own snapshot record, where a commit that makes no snapshot edits it. */
  readonly editedHead?: SnapshotValue | undefined;
  /** Loose rows as the commit leaves them, where it may change them. */
  readonly looseRows?: readonly LooseRowValue[];
}

/** The same with a snapshot record that is given, or none. */
export function stageRecords(
  draft: Draft,
  record: SnapshotValue | undefined,
  sink: BatchSink,
  options: StageOptions = {},
): CatalogState {
  const keys = encodeEntityChanges(draft.entityChanges(), draft.snapshotId, sink, options);
  for (const key of encodeFileColumnStats(draft.newFileColumnStats, sink)) keys.push(key);
  for (const key of encodeGcChanges(draft.gcChanges(), sink)) keys.push(key);
  const batchSeq = draft.base.batchSeq + 1n;
  const { looseRows: given = draft.base.looseRows } = options;
  const looseRows = record === undefined ? given : withoutChangesOf(record.snapshotId, given);
  if (looseRows !== draft.base.looseRows) encodeLooseRows(looseRows, sink);
  if (record === undefined) return draft.toState(options.editedHead ?? draft.base.head, batchSeq, looseRows);

  for (const id of record.schemaChangedTableIds) {
    const value = encodeValue(SchemaVersionValue, { schemaVersion: record.schemaVersion });
    sink.put(schemaVersionKey(id, record.snapshotId), value);
  }
  stageChangelog(record.snapshotId, [...keys, ...(options.otherKeys ?? [])], sink);
  sink.put(snapshotKey(record.snapshotId), encodeValue(SnapshotValue, record));
  return draft.toState(record, batchSeq, looseRows);
}

/**
 * Writes the changelog record of a snapshot and deletes the one that leaves the window. A commit of too many keys gets
 * no record, and readers scan; one that wrote none gets an empty record (format.md 5.1).
 */
export function stageChangelog(snapshotId: bigint, currentKeys: readonly Uint8Array[], sink: BatchSink): void {
  const keys = sortedDistinct(currentKeys);
  if (keys.length <= maxChangelogKeys) sink.put(changelogKey(snapshotId), encodeValue(ChangelogValue, { keys }));
  if (snapshotId > changelogWindowSnapshots) sink.delete(changelogKey(snapshotId - changelogWindowSnapshots));
}

/** The head record: what every catalog batch ends with. */
export function stageHead(state: CatalogState, sink: BatchSink): void {
  sink.put(sysHeadKey, encodeValue(HeadValue, { snapshotId: state.head.snapshotId, batchSeq: state.batchSeq }));
}

function sortedDistinct(keys: readonly Uint8Array[]): Uint8Array[] {
  const sorted = [...keys].sort((a, b) => Buffer.compare(a, b));
  return sorted.filter((key, at) => at === 0 || Buffer.compare(key, sorted[at - 1] as Uint8Array) !== 0);
}
