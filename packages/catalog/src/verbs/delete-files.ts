import { type DataFileId, type DeleteFileId, type TableId, ConstraintError, NotFoundError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import {
  type Count,
  checkBoolean,
  checkCount,
  checkId,
  checkObject,
  checkOptionalString,
  checkText,
  orDefault,
} from "./arguments.js";
import { requireDataFile, requireTable } from "./require.js";

/** A file that names rows of one data file as dead, by position. It is in the data store already. */
export interface DeleteFile {
  readonly dataFileId: DataFileId;
  readonly path: string;
  /** Default `true`: below the table's folder. */
  readonly pathIsRelative?: boolean;
  /** Default `parquet`. */
  readonly format?: string;
  readonly deleteCount: Count;
  readonly fileSizeBytes: Count;
  readonly footerSize: Count;
  readonly encryptionKey?: string;
}

export interface RegisterDeleteFileArguments {
  readonly table: TableId;
  readonly file: DeleteFile;
}

export interface ExpireDeleteFileArguments {
  readonly table: TableId;
  readonly file: DeleteFileId;
}

/**
 * Registers a delete file. The table's statistics stay as they are. `not_found` when its data file is not live;
 * `constraint` when that has a live delete file already, or fewer rows than are to die.
 */
export function registerDeleteFile(draft: Draft, args: RegisterDeleteFileArguments): DeleteFileId {
  checkObject(args, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const { file } = args;
  checkObject(file, "file");
  const target = requireDataFile(draft, tableId, checkId(file.dataFileId, "file.dataFileId"));
  const { dataFileId } = target;
  const path = checkText(file.path, "file.path");
  const pathIsRelative = checkBoolean(orDefault(file.pathIsRelative, true), "file.pathIsRelative");
  const format = checkText(orDefault(file.format, "parquet"), "file.format");
  const deleteCount = checkCount(file.deleteCount, "file.deleteCount");
  const fileSizeBytes = checkCount(file.fileSizeBytes, "file.fileSizeBytes");
  const footerSize = checkCount(file.footerSize, "file.footerSize");
  const encryptionKey = checkOptionalString(file.encryptionKey, "file.encryptionKey");
  const live = draft.deleteFilesOf(tableId, dataFileId)[0];
  if (live !== undefined) {
    throw new ConstraintError(`data file ${dataFileId} has the live delete file ${live.deleteFileId}`, {
      remedy:
        "Write one delete file with the positions of both, expire the old one, and register the new one in the same commit.",
    });
  }
  if (deleteCount > target.recordCount) {
    throw new ConstraintError(
      `${deleteCount} rows are to die in data file ${dataFileId}, which has ${target.recordCount}`,
      {
        remedy: "Pass the number of positions that the delete file names.",
      },
    );
  }
  const deleteFileId = draft.allocateFileId();
  draft.put("delete_file", [tableId, deleteFileId], {
    deleteFileId,
    tableId,
    beginSnapshot: draft.snapshotId,
    endSnapshot: undefined,
    dataFileId,
    path,
    pathIsRelative,
    format,
    deleteCount,
    fileSizeBytes,
    footerSize,
    encryptionKey,
    partialMax: undefined,
  });
  draft.record({ op: "delete_from_file", tableId, dataFileId });
  return deleteFileId as DeleteFileId;
}

/** Takes a delete file out of the catalog: to replace it, or because its data file was rewritten. */
export function expireDeleteFile(draft: Draft, args: ExpireDeleteFileArguments): void {
  checkObject(args, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const deleteFileId = checkId(args.file, "file");
  if (draft.get("delete_file", tableId, deleteFileId) === undefined) {
    throw new NotFoundError(`delete file ${deleteFileId} of table ${tableId}`);
  }
  draft.remove("delete_file", [tableId, deleteFileId]);
  draft.record({ op: "rewrite_delete", tableId });
}
