import { ConstraintError, type DataFileId, type SnapshotId, type TableId } from "@moraine/codec";
import type { CommitDraft } from "../operations.js";
import { checkArray, checkId, checkKnown, type Names } from "../verbs/arguments.js";
import { checkDataFile, type DataFile, stageDataFile } from "../verbs/data-files.js";
import { requireTable } from "../verbs/require.js";

/** A data file that a flush registers: its rows keep the ids and the age that they had inline. */
export interface FlushedDataFile {
  readonly file: DataFile;
  /** The smallest row id of the file. */
  readonly rowIdStart: bigint;
  /** The snapshot at which the oldest row of the file began. */
  readonly beginSnapshot: bigint;
  /** The snapshot at which the youngest row began, where the file spans several. */
  readonly partialMax?: bigint;
}

const flushedDataFileNames: Names<FlushedDataFile> = {
  file: true,
  rowIdStart: true,
  beginSnapshot: true,
  partialMax: true,
};

export interface FlushInlinedDataArguments {
  readonly table: TableId;
  /** Only chunks of this schema version are drained. */
  readonly schemaVersion: bigint;
  readonly files: readonly FlushedDataFile[];
  /**
   * Only chunks begun by this snapshot are drained: the one at which the caller read the rows. If one of them was deleted since,
   * the commit fails with `commit_conflict`. A table with indexes needs it wherever the files hold rows. Default: every chunk
   * that is there when the commit begins.
   */
  readonly throughSnapshot?: SnapshotId;
}

const flushInlinedDataNames: Names<FlushInlinedDataArguments> = {
  table: true,
  schemaVersion: true,
  files: true,
  throughSnapshot: true,
};

/**
 * Moves the inline rows of one schema version to data files that the caller has written. Every chunk that was there when the
 * commit began is drained; rows that the same commit inlines stay. Index entries do not change, as they name row ids.
 *
 * Errors: `not_found` for an unknown table; `constraint` for a file that is not older than this commit, whose `partialMax` lies
 * outside of its age, or whose rows were not given out before this commit, and for a `throughSnapshot` above the head.
 */
export function flushInlinedData(draft: CommitDraft, args: FlushInlinedDataArguments): DataFileId[] {
  checkKnown(args, flushInlinedDataNames, "arguments");
  const tableId = checkId(args.table, "table") as TableId;
  requireTable(draft, tableId);
  const schemaVersion = checkId(args.schemaVersion, "schemaVersion");
  const throughSnapshot =
    args.throughSnapshot === undefined ? undefined : checkId(args.throughSnapshot, "throughSnapshot");
  if (throughSnapshot !== undefined && throughSnapshot > draft.base.head.snapshotId) {
    throw new ConstraintError(
      `throughSnapshot ${throughSnapshot} lies above the head, which is snapshot ${draft.base.head.snapshotId}`,
      { remedy: "Give the snapshot at which the rows were read that the files hold." },
    );
  }
  const allocated = draft.base.get("table_stats", tableId)?.nextRowId ?? 0n;
  const checked = checkArray(args.files, "files").map((flushed, at) => {
    const here = `files[${at}]`;
    checkKnown(flushed, flushedDataFileNames, here);
    const file = checkDataFile(draft, tableId, flushed.file, `${here}.file`);
    const rowIdStart = checkId(flushed.rowIdStart, `${here}.rowIdStart`);
    const beginSnapshot = checkId(flushed.beginSnapshot, `${here}.beginSnapshot`);
    const partialMax = flushed.partialMax === undefined ? undefined : checkId(flushed.partialMax, `${here}.partialMax`);
    if (beginSnapshot >= draft.snapshotId) {
      throw new ConstraintError(
        `${here} begins at snapshot ${beginSnapshot}, and this commit makes snapshot ${draft.snapshotId}`,
        {
          remedy: "Give the snapshot at which the oldest of its rows was inlined.",
        },
      );
    }
    if (partialMax !== undefined && (partialMax < beginSnapshot || partialMax >= draft.snapshotId)) {
      throw new ConstraintError(
        `${here} has its youngest row at snapshot ${partialMax}, outside of ${beginSnapshot} to ${draft.snapshotId - 1n}`,
        {
          remedy: "Give the snapshot at which the youngest of its rows was inlined.",
        },
      );
    }
    if (rowIdStart + file.recordCount > allocated) {
      throw new ConstraintError(
        `${here} claims row ids up to ${rowIdStart + file.recordCount}, and the table had given out ${allocated} before this commit`,
        {
          remedy: "Flush only rows that were inlined by earlier commits.",
        },
      );
    }
    return { file, place: { rowIdStart, beginSnapshot, partialMax } };
  });
  const ids = checked.map(({ file, place }) => {
    const stats = draft.tableStats(tableId);
    draft.put("table_stats", [tableId], { ...stats, fileSizeBytes: stats.fileSizeBytes + file.fileSizeBytes });
    return stageDataFile(draft, file, place);
  });
  draft.inlineOps.push({ kind: "flush", tableId, schemaVersion, throughSnapshot, dataFileIds: ids });
  draft.record({ op: "flush_inline", tableId });
  return ids;
}
