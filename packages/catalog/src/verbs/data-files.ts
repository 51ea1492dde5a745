import {
  type ColumnId,
  type DataFileId,
  type DataFileValue,
  type FileColumnStatsValue,
  type FilePartitionValue,
  type RowId,
  type TableId,
  ConstraintError,
  InvalidArgumentError,
} from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import type { CatalogReader } from "../model/state.js";
import {
  checkArray,
  checkBoolean,
  checkCount,
  checkId,
  checkKnown,
  checkOptionalBoolean,
  checkOptionalString,
  checkString,
  checkText,
  type Count,
  type Names,
  orDefault,
} from "./arguments.js";
import { requireColumn, requireDataFile, requireTable } from "./require.js";

/** Statistics of one column within one file. `min` and `max` are text in DuckLake's form and are not interpreted. */
export interface FileColumnStats {
  readonly columnId: ColumnId;
  readonly columnSizeBytes: Count;
  readonly valueCount: Count;
  readonly nullCount: Count;
  readonly min?: string;
  readonly max?: string;
  readonly containsNan?: boolean;
  readonly extraStats?: string;
}

const fileColumnStatsNames: Names<FileColumnStats> = {
  columnId: true,
  columnSizeBytes: true,
  valueCount: true,
  nullCount: true,
  min: true,
  max: true,
  containsNan: true,
  extraStats: true,
};

/** A file of rows that is in the data store already. */
export interface DataFile {
  readonly path: string;
  /** Default `true`: below the table's folder. */
  readonly pathIsRelative?: boolean;
  /** Default `parquet`. */
  readonly fileFormat?: string;
  readonly recordCount: Count;
  readonly fileSizeBytes: Count;
  readonly footerSize: Count;
  readonly encryptionKey?: string;
  /** One value for each key of the table's partition spec, in its order; empty without one. */
  readonly partitionValues?: readonly string[];
  readonly columnStats?: readonly FileColumnStats[];
}

const dataFileNames: Names<DataFile> = {
  path: true,
  pathIsRelative: true,
  fileFormat: true,
  recordCount: true,
  fileSizeBytes: true,
  footerSize: true,
  encryptionKey: true,
  partitionValues: true,
  columnStats: true,
};

export interface RegisterDataFileArguments {
  readonly table: TableId;
  readonly file: DataFile;
}

const registerDataFileNames: Names<RegisterDataFileArguments> = { table: true, file: true };

export interface ExpireDataFileArguments {
  readonly table: TableId;
  readonly file: DataFileId;
}

const expireDataFileNames: Names<ExpireDataFileArguments> = { table: true, file: true };

/** What a registration gave the file. Row `n` of it has the id `rowIdStart + n`, as long as the file embeds no ids of its own. */
export interface RegisteredDataFile {
  readonly dataFileId: DataFileId;
  readonly rowIdStart: RowId;
}

/** How a file's rows came to be: fresh ones, or those of drained inline chunks, which keep their ids and their age. */
export interface DataFilePlace {
  readonly rowIdStart: bigint | undefined;
  readonly beginSnapshot: bigint;
  readonly partialMax: bigint | undefined;
}

/** A data file whose every argument has been checked against the draft; staging it cannot fail. */
export interface CheckedDataFile {
  readonly tableId: bigint;
  readonly recordCount: bigint;
  readonly fileSizeBytes: bigint;
  readonly value: Pick<
    DataFileValue,
    | "tableId"
    | "path"
    | "pathIsRelative"
    | "fileFormat"
    | "recordCount"
    | "fileSizeBytes"
    | "footerSize"
    | "partitionId"
    | "encryptionKey"
    | "partitionValues"
  >;
  readonly columnStats: readonly Omit<FileColumnStatsValue, "dataFileId">[];
}

/**
 * Registers a file: its rows get the table's next row ids, and its rows and bytes are counted in. `not_found` for a
 * table or column that is not live, `constraint` when the partition values do not match the table's spec.
 */
export function registerDataFile(draft: Draft, args: RegisterDataFileArguments): RegisteredDataFile {
  checkKnown(args, registerDataFileNames, "arguments");
  const file = checkDataFile(draft, checkId(args.table, "table"), args.file, "file");
  const rowIdStart = draft.addRows(file.tableId, file.recordCount, file.fileSizeBytes);
  const dataFileId = stageDataFile(draft, file, { rowIdStart, beginSnapshot: draft.snapshotId, partialMax: undefined });
  draft.record({ op: "insert", tableId: file.tableId });
  return { dataFileId, rowIdStart: rowIdStart as RowId };
}

/**
 * Takes a file and its delete files out of the catalog, and its rows and bytes out of the table's count. The objects
 * stay in the data store; the past keeps reading them. `not_found` when the file is not live.
 */
export function expireDataFile(draft: Draft, args: ExpireDataFileArguments): void {
  checkKnown(args, expireDataFileNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const file = requireDataFile(draft, tableId, checkId(args.file, "file"));
  for (const { deleteFileId } of draft.deleteFilesOf(tableId, file.dataFileId))
    draft.remove("delete_file", [tableId, deleteFileId]);
  draft.remove("data_file", [tableId, file.dataFileId]);
  const stats = draft.tableStats(tableId);
  draft.put("table_stats", [tableId], {
    ...stats,
    recordCount: atLeastZero(stats.recordCount - file.recordCount),
    fileSizeBytes: atLeastZero(stats.fileSizeBytes - file.fileSizeBytes),
  });
  draft.record({ op: "merge_adjacent", tableId });
}

/** Statistics can be overwritten by hand, so what is taken out may be more than what is there. */
function atLeastZero(count: bigint): bigint {
  return count > 0n ? count : 0n;
}

/** Checks a file against the table's columns and partition spec. `argument` is its name in messages. */
export function checkDataFile(draft: CatalogReader, table: bigint, file: DataFile, argument: string): CheckedDataFile {
  const { tableId } = requireTable(draft, table);
  checkKnown(file, dataFileNames, argument);
  const recordCount = checkCount(file.recordCount, `${argument}.recordCount`);
  const fileSizeBytes = checkCount(file.fileSizeBytes, `${argument}.fileSizeBytes`);
  const spec = draft.list("partition", tableId)[0];
  return {
    tableId,
    recordCount,
    fileSizeBytes,
    value: {
      tableId,
      path: checkText(file.path, `${argument}.path`),
      pathIsRelative: checkBoolean(orDefault(file.pathIsRelative, true), `${argument}.pathIsRelative`),
      fileFormat: checkText(orDefault(file.fileFormat, "parquet"), `${argument}.fileFormat`),
      recordCount,
      fileSizeBytes,
      footerSize: checkCount(file.footerSize, `${argument}.footerSize`),
      partitionId: spec?.partitionId,
      encryptionKey: checkOptionalString(file.encryptionKey, `${argument}.encryptionKey`),
      partitionValues: partitionValues(file, tableId, spec?.columns.length ?? 0, argument),
    },
    columnStats: columnStats(draft, file, tableId, argument),
  };
}

/** Writes a checked file into the draft. Rows, bytes and the recorded change are the caller's. */
export function stageDataFile(draft: Draft, file: CheckedDataFile, place: DataFilePlace): DataFileId {
  const dataFileId = draft.allocateFileId();
  const { value } = file;
  // Spelt out: spread objects of this many fields get a shape each, which a table of 100,000 files feels.
  draft.put("data_file", [file.tableId, dataFileId], {
    dataFileId,
    tableId: value.tableId,
    beginSnapshot: place.beginSnapshot,
    endSnapshot: undefined,
    fileOrder: undefined,
    path: value.path,
    pathIsRelative: value.pathIsRelative,
    fileFormat: value.fileFormat,
    recordCount: value.recordCount,
    fileSizeBytes: value.fileSizeBytes,
    footerSize: value.footerSize,
    rowIdStart: place.rowIdStart,
    partitionId: value.partitionId,
    encryptionKey: value.encryptionKey,
    mappingId: undefined,
    partialMax: place.partialMax,
    partitionValues: value.partitionValues,
  });
  for (const stats of file.columnStats) draft.addFileColumnStats({ ...stats, dataFileId });
  return dataFileId as DataFileId;
}

function partitionValues(file: DataFile, tableId: bigint, keyCount: number, argument: string): FilePartitionValue[] {
  const values = checkArray(orDefault(file.partitionValues, []), `${argument}.partitionValues`);
  if (values.length !== keyCount) {
    throw new ConstraintError(
      `a file of table ${tableId} has ${values.length} partition values where the table has ${keyCount} partition keys`,
      { remedy: "Pass one value for each key of the table's partition spec, in its order." },
    );
  }
  return values.map((value, at) => ({
    partitionKeyIndex: BigInt(at),
    partitionValue: checkString(value, `${argument}.partitionValues[${at}]`),
    isNull: false,
  }));
}

function columnStats(
  draft: CatalogReader,
  file: DataFile,
  tableId: bigint,
  argument: string,
): Omit<FileColumnStatsValue, "dataFileId">[] {
  const seen = new Set<bigint>();
  return checkArray(orDefault(file.columnStats, []), `${argument}.columnStats`).map((stats, at) => {
    const here = `${argument}.columnStats[${at}]`;
    checkKnown(stats, fileColumnStatsNames, here);
    const columnId = checkId(stats.columnId, `${here}.columnId`);
    requireColumn(draft, tableId, columnId);
    if (seen.has(columnId)) {
      throw new InvalidArgumentError(`${argument}.columnStats names column ${columnId} twice`, {
        remedy: "Pass the statistics of each column once.",
      });
    }
    seen.add(columnId);
    return {
      tableId,
      columnId,
      columnSizeBytes: checkCount(stats.columnSizeBytes, `${here}.columnSizeBytes`),
      valueCount: checkCount(stats.valueCount, `${here}.valueCount`),
      nullCount: checkCount(stats.nullCount, `${here}.nullCount`),
      minValue: checkOptionalString(stats.min, `${here}.min`),
      maxValue: checkOptionalString(stats.max, `${here}.max`),
      containsNan: checkOptionalBoolean(stats.containsNan, `${here}.containsNan`),
      extraStats: checkOptionalString(stats.extraStats, `${here}.extraStats`),
      variantStats: [],
      countsUnknown: false,
    };
  });
}
