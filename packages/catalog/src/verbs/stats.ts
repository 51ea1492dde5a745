import type { ColumnId, TableId } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import {
  checkCount,
  checkId,
  checkKnown,
  checkOptionalBoolean,
  checkOptionalString,
  type Count,
  type Names,
} from "./arguments.js";
import { requireColumn, requireTable } from "./require.js";

export interface UpdateTableStatsArguments {
  readonly table: TableId;
  readonly recordCount: Count;
  readonly fileSizeBytes: Count;
}

const updateTableStatsNames: Names<UpdateTableStatsArguments> = { table: true, recordCount: true, fileSizeBytes: true };

/** Statistics of one column over a whole table. What is left out is unknown. */
export interface ColumnStats {
  readonly containsNull?: boolean;
  readonly containsNan?: boolean;
  readonly min?: string;
  readonly max?: string;
  readonly extraStats?: string;
}

const columnStatsNames: Names<ColumnStats> = {
  containsNull: true,
  containsNan: true,
  min: true,
  max: true,
  extraStats: true,
};

export interface UpdateColumnStatsArguments {
  readonly table: TableId;
  readonly column: ColumnId;
  readonly stats: ColumnStats;
}

const updateColumnStatsNames: Names<UpdateColumnStatsArguments> = { table: true, column: true, stats: true };

/** Overwrites a table's row count and size. The counter of row ids stays. */
export function updateTableStats(draft: Draft, args: UpdateTableStatsArguments): void {
  checkKnown(args, updateTableStatsNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const recordCount = checkCount(args.recordCount, "recordCount");
  const fileSizeBytes = checkCount(args.fileSizeBytes, "fileSizeBytes");
  draft.put("table_stats", [tableId], { ...draft.tableStats(tableId), recordCount, fileSizeBytes });
  draft.record({ op: "stats" });
}

/** Overwrites the statistics of a column. */
export function updateColumnStats(draft: Draft, args: UpdateColumnStatsArguments): void {
  checkKnown(args, updateColumnStatsNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const { columnId } = requireColumn(draft, tableId, checkId(args.column, "column"));
  const { stats } = args;
  checkKnown(stats, columnStatsNames, "stats");
  const value = {
    tableId,
    columnId,
    containsNull: checkOptionalBoolean(stats.containsNull, "stats.containsNull"),
    containsNan: checkOptionalBoolean(stats.containsNan, "stats.containsNan"),
    minValue: checkOptionalString(stats.min, "stats.min"),
    maxValue: checkOptionalString(stats.max, "stats.max"),
    extraStats: checkOptionalString(stats.extraStats, "stats.extraStats"),
  };
  draft.put("table_column_stats", [tableId, columnId], value);
  draft.record({ op: "stats" });
}
