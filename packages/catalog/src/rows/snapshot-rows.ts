import {
  CommitConflictError,
  ConstraintError,
  decodeValue,
  encodeValue,
  schemaVersionKey,
  snapshotKey,
  SnapshotValue,
} from "@moraine/codec";
import { getOne } from "@moraine/store";
import type { CatalogState } from "../model/state.js";
import { differingColumns, type MetadataChanges, type MetadataRow, type RowUpdate } from "./metadata-row.js";
import { notOneRecord, type RowStaging } from "./row-staging.js";

/**
 * The snapshot record of a commit, exactly as DuckLake gives it; `undefined` for a commit that makes none.
 *
 * Errors: `constraint` for a snapshot without its changes, or changes without a snapshot; `commit_conflict` for a snapshot that
 * does not follow the head.
 */
export function snapshotOf(
  base: CatalogState,
  snapshots: MetadataChanges,
  changes: MetadataChanges,
  versions: MetadataChanges,
): SnapshotValue | undefined {
  const [snapshot, ...more] = snapshots.inserted;
  const [made, ...others] = changes.inserted;
  // Changes without a snapshot are somebody's own rows: see stageSnapshotChanges.
  if (snapshot === undefined) {
    const [row] = versions.inserted;
    if (row !== undefined) throw withoutSnapshot(row);
    return undefined;
  }
  if (made === undefined || more.length > 0 || others.length > 0) {
    throw new ConstraintError(
      `a commit inserts ${snapshots.inserted.length} rows into ducklake_snapshot and ${changes.inserted.length} into ducklake_snapshot_changes`,
      { remedy: "A commit makes one snapshot with one row in each, or none." },
    );
  }
  const snapshotId = snapshot.id("snapshot_id");
  if (snapshotId <= base.head.snapshotId) {
    throw new CommitConflictError(`snapshot ${snapshotId} is there already, and the head is ${base.head.snapshotId}`);
  }
  if (snapshotId !== base.head.snapshotId + 1n || made.id("snapshot_id") !== snapshotId) {
    throw new ConstraintError(
      `a commit makes snapshot ${snapshotId} with the changes of ${made.id("snapshot_id")}, and the head is ${base.head.snapshotId}`,
      { remedy: "Number snapshots without gaps, and give each its own changes." },
    );
  }
  const schemaVersion = snapshot.id("schema_version");
  return {
    snapshotId,
    snapshotTimeMicros: snapshot.time("snapshot_time"),
    schemaVersion,
    nextCatalogId: snapshot.id("next_catalog_id"),
    nextFileId: snapshot.id("next_file_id"),
    // DuckLake writes NULL for no text, and no text for nothing else.
    changesMade: made.optionalText("changes_made") ?? "",
    author: made.optionalText("author"),
    commitMessage: made.optionalText("commit_message"),
    commitExtraInfo: made.optionalText("commit_extra_info"),
    schemaChangedTableIds: versions.inserted.map((row) => changedTable(row, snapshotId, schemaVersion)),
    deletedDataFileIds: [],
  };
}

function changedTable(row: MetadataRow, snapshotId: bigint, schemaVersion: bigint): bigint {
  if (row.id("begin_snapshot") === snapshotId && row.id("schema_version") === schemaVersion) return row.id("table_id");
  throw new ConstraintError(
    `a row of ducklake_schema_versions names snapshot ${row.id("begin_snapshot")} and version ${row.id("schema_version")}, and the commit makes snapshot ${snapshotId} of version ${schemaVersion}`,
    { remedy: "Let DuckLake write these rows." },
  );
}

function withoutSnapshot(row: MetadataRow): ConstraintError {
  return new ConstraintError(`a commit without a snapshot inserts rows into ${row.table}`, {
    remedy: "Change the lake through DuckLake: what it inserts there comes with a row of ducklake_snapshot.",
  });
}

/** Expired snapshots, and edits of snapshots by hand. Gives the head's record where that is edited. */
export async function stageSnapshotChanges(
  staging: RowStaging,
  snapshots: MetadataChanges,
  changes: MetadataChanges,
  versions: MetadataChanges,
): Promise<SnapshotValue | undefined> {
  const head = staging.draft.base.head.snapshotId;
  const expired = new Set<bigint>();
  for (const row of snapshots.deleted) {
    const snapshotId = row.id("snapshot_id");
    if (snapshotId === head) {
      throw new ConstraintError(`snapshot ${head} is the head, which cannot be expired`, {
        remedy: "Expire older snapshots only.",
      });
    }
    expired.add(snapshotId);
    staging.require(snapshotKey(snapshotId), `snapshot ${snapshotId}`);
    staging.writes.delete(snapshotKey(snapshotId));
  }
  for (const row of changes.deleted) {
    if (!expired.has(row.id("snapshot_id")) && !staging.loose.take(row)) throw notOneRecord(row, ["snapshot_id"]);
  }
  if (snapshots.inserted.length === 0) for (const row of changes.inserted) await addLoose(staging, row);
  for (const row of versions.deleted) {
    staging.writes.delete(schemaVersionKey(row.id("table_id"), row.id("begin_snapshot")));
  }
  const [version] = versions.updated;
  if (version !== undefined) throw notOneRecord(version.after, differingColumns(version.before, version.after));
  let editedHead: SnapshotValue | undefined;
  for (const update of [...snapshots.updated, ...changes.updated]) {
    if (update.before.table === "ducklake_snapshot_changes" && staging.loose.take(update.before)) {
      await addLoose(staging, update.after);
      continue;
    }
    const edited = await editSnapshot(staging, update, editedHead);
    if (edited?.snapshotId === head) editedHead = edited;
  }
  return editedHead;
}

/** Keeps the changes of a snapshot that is not there. */
async function addLoose(staging: RowStaging, row: MetadataRow): Promise<void> {
  const snapshotId = row.id("snapshot_id");
  if ((await getOne(staging.view, snapshotKey(snapshotId))) !== undefined) throw notOneRecord(row, ["snapshot_id"]);
  staging.loose.add(row);
}

const edits: Readonly<Record<string, (row: MetadataRow) => Partial<SnapshotValue>>> = {
  snapshot_time: (row) => ({ snapshotTimeMicros: row.time("snapshot_time") }),
  changes_made: (row) => ({ changesMade: row.optionalText("changes_made") ?? "" }),
  author: (row) => ({ author: row.optionalText("author") }),
  commit_message: (row) => ({ commitMessage: row.optionalText("commit_message") }),
  commit_extra_info: (row) => ({ commitExtraInfo: row.optionalText("commit_extra_info") }),
};

async function editSnapshot(
  { draft, view, writes }: RowStaging,
  { before, after }: RowUpdate,
  editedHead: SnapshotValue | undefined,
): Promise<SnapshotValue | undefined> {
  const changed = differingColumns(before, after);
  if (changed.length === 0) return undefined;
  const snapshotId = before.id("snapshot_id");
  const bytes = await getOne(view, snapshotKey(snapshotId));
  if (bytes === undefined || changed.some((name) => !Object.hasOwn(edits, name))) throw notOneRecord(after, changed);
  let record =
    snapshotId === draft.base.head.snapshotId ? (editedHead ?? draft.base.head) : decodeValue(SnapshotValue, bytes);
  for (const name of changed) record = { ...record, ...edits[name]?.(after) };
  writes.put(snapshotKey(snapshotId), encodeValue(SnapshotValue, record));
  return record;
}
