import {
  CorruptionError,
  type DataFileId,
  decodeKey,
  decodeValue,
  InlineFileDeleteValue,
  inlineFileDeletePrefix,
  type SnapshotId,
  type TableId,
} from "@moraine/codec";
import { type ReadView, rowKey, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";

/** A row of a data file that was deleted by itself, beside the file's delete files. */
export interface DeletedFileRow {
  readonly dataFileId: DataFileId;
  /** The row's position in the file, from 0. */
  readonly position: bigint;
  /** The snapshot from which on the row is dead. */
  readonly beginSnapshot: SnapshotId;
}

export async function readDeletedFileRows(view: ReadView, tableId: TableId): Promise<DeletedFileRow[]> {
  const rows: DeletedFileRow[] = [];
  for await (const block of view.scan(rangeOfPrefix(inlineFileDeletePrefix(tableId)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "inline" || key.kind !== "file_delete") {
        throw new CorruptionError("a foreign key among the deleted rows of files");
      }
      const { beginSnapshot } = decodeValue(InlineFileDeleteValue, rowValue(block, i));
      rows.push({
        dataFileId: key.dataFileId as DataFileId,
        position: key.position,
        beginSnapshot: beginSnapshot as SnapshotId,
      });
    }
  }
  return rows;
}
