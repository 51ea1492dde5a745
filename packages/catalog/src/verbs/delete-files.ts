import { type DataFileId, type DeleteFileId, type TableId, ConstraintError, NotFoundError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import {
  checkBoolean,
  checkCount,
  checkId,
  checkKnown,
  checkOptionalString,
  checkText,
  type Count,
  type Names,
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

const deleteFileNames: Names<DeleteFile> = {
  dataFileId: true,
  path: true,
  pathIsRelative: true,
  format: true,
  deleteCount: true,
  fileSizeBytes: true,
  footerSize: true,
  encryptionKey: true,
};

export interface RegisterDeleteFileArguments {
  readonly table: TableId;
  readonly file: DeleteFile;
}

const registerDeleteFileNames: Names<RegisterDeleteFileArguments> = { table: true, file: true };

export interface ExpireDeleteFileArguments {
  readonly table: TableId;
  readonly file: DeleteFileId;
}

const expireDeleteFileNames: Names<ExpireDeleteFileArguments> = { table: true, file: true };

/**
 * Registers a delete file. The table's statistics stay as they are. `not_found` when its data file is not live;
 * `constraint` when that has a live delete file already, or fewer rows than are to die.
 */
export function registerDeleteFile(draft: Draft, args: RegisterDeleteFileArguments): DeleteFileId {
  checkKnown(args, registerDeleteFileNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const { file } = args;
  checkKnown(file, deleteFileNames, "file");
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
  checkKnown(args, expireDeleteFileNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const deleteFileId = checkId(args.file, "file");
  if (draft.get("delete_file", tableId, deleteFileId) === undefined) {
    throw new NotFoundError(`delete file ${deleteFileId} of table ${tableId}`);
  }
  draft.remove("delete_file", [tableId, deleteFileId]);
  draft.record({ op: "rewrite_delete", tableId });
}
