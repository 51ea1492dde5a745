import {
  ConstraintError,
  currentKey,
  decodeValue,
  encodeValue,
  type EntityValue,
  FileColumnStatsValue,
} from "@moraine/codec";
import { getOne } from "@moraine/store";
import type { ChildRows } from "./entity-rows.js";
import { differingColumns, type MetadataChanges, type MetadataRow } from "./metadata-row.js";
import { notOneRecord, type RowStaging } from "./row-staging.js";

/** Statistics of tables: a row is a record. */
export function stageTableStats({ draft }: RowStaging, { deleted, updated, inserted }: MetadataChanges): void {
  for (const row of deleted) draft.remove("table_stats", [row.id("table_id")]);
  for (const { before, after } of updated) sameIds(before, after, ["table_id"]);
  for (const row of [...updated.map(({ after }) => after), ...inserted]) {
    const tableId = row.id("table_id");
    draft.put("table_stats", [tableId], {
      tableId,
      recordCount: row.id("record_count"),
      nextRowId: row.id("next_row_id"),
      fileSizeBytes: row.id("file_size_bytes"),
    });
  }
}

export function stageTableColumnStats({ draft }: RowStaging, { deleted, updated, inserted }: MetadataChanges): void {
  for (const row of deleted) draft.remove("table_column_stats", [row.id("table_id"), row.id("column_id")]);
  for (const { before, after } of updated) sameIds(before, after, ["table_id", "column_id"]);
  for (const row of [...updated.map(({ after }) => after), ...inserted]) {
    const ids = [row.id("table_id"), row.id("column_id")] as const;
    draft.put("table_column_stats", ids, {
      tableId: ids[0],
      columnId: ids[1],
      containsNull: row.optionalFlag("contains_null"),
      containsNan: row.optionalFlag("contains_nan"),
      minValue: row.optionalText("min_value"),
      maxValue: row.optionalText("max_value"),
      extraStats: row.optionalText("extra_stats"),
    });
  }
}

/** Statistics of files, which are not held in memory. Those of a file come with it; they change by hand only. */
export async function stageFileColumnStats(
  staging: RowStaging,
  { deleted, updated, inserted }: MetadataChanges,
): Promise<void> {
  const { draft, writes, view, otherKeys, children } = staging;
  for (const row of deleted) {
    const key = currentKey("file_column_stats", row.id("table_id"), row.id("data_file_id"), row.id("column_id"));
    writes.delete(key);
    otherKeys.push(key);
  }
  for (const { before, after } of updated) {
    sameIds(before, after, ["table_id", "data_file_id", "column_id"]);
    const key = currentKey("file_column_stats", after.id("table_id"), after.id("data_file_id"), after.id("column_id"));
    const bytes = await getOne(view, key);
    if (bytes === undefined) throw notOneRecord(after, differingColumns(before, after));
    const { variantStats } = decodeValue(FileColumnStatsValue, bytes);
    writes.put(key, encodeValue(FileColumnStatsValue, { ...fileColumnStats(after, children), variantStats }));
    otherKeys.push(key);
  }
  for (const row of inserted) {
    staging.requireSnapshot(row);
    draft.addFileColumnStats(fileColumnStats(row, children));
  }
}

function fileColumnStats(row: MetadataRow, children: ChildRows): EntityValue["file_column_stats"] {
  const dataFileId = row.id("data_file_id");
  const columnId = row.id("column_id");
  const variants = children.take("ducklake_file_variant_stats", `${dataFileId}/${columnId}`, "column_id");
  return {
    dataFileId,
    tableId: row.id("table_id"),
    columnId,
    ...counts(row),
    ...bounds(row),
    variantStats: variants.map((variant) => ({
      variantPath: variant.text("variant_path"),
      shreddedType: variant.text("shredded_type"),
      ...counts(variant),
      ...bounds(variant),
    })),
  };
}

type Counts = Pick<EntityValue["file_column_stats"], "columnSizeBytes" | "valueCount" | "nullCount" | "countsUnknown">;
type Bounds = Pick<EntityValue["file_column_stats"], "minValue" | "maxValue" | "containsNan" | "extraStats">;

/** DuckLake knows both counts or neither. */
function counts(row: MetadataRow): Counts {
  const valueCount = row.optionalId("value_count");
  const nullCount = row.optionalId("null_count");
  const countsUnknown = valueCount === undefined || nullCount === undefined;
  return {
    columnSizeBytes: row.optionalId("column_size_bytes") ?? 0n,
    valueCount: countsUnknown ? 0n : valueCount,
    nullCount: countsUnknown ? 0n : nullCount,
    countsUnknown,
  };
}

function bounds(row: MetadataRow): Bounds {
  return {
    minValue: row.optionalText("min_value"),
    maxValue: row.optionalText("max_value"),
    containsNan: row.optionalFlag("contains_nan"),
    extraStats: row.optionalText("extra_stats"),
  };
}

/** Files whose objects are to be deleted. */
export function stageScheduledDeletions({ draft }: RowStaging, { deleted, updated, inserted }: MetadataChanges): void {
  for (const row of [...deleted, ...updated.map(({ before }) => before)]) draft.removeGcFile(row.id("data_file_id"));
  for (const row of [...updated.map(({ after }) => after), ...inserted]) {
    draft.putGcFile({
      dataFileId: row.id("data_file_id"),
      path: row.text("path"),
      pathIsRelative: row.flag("path_is_relative"),
      scheduleStartMicros: row.time("schedule_start"),
    });
  }
}

/** Name mappings, which are written once. */
export function stageMappings(staging: RowStaging, { deleted, updated, inserted }: MetadataChanges): void {
  const { draft, children } = staging;
  for (const row of deleted) draft.remove("mapping", [row.id("table_id"), row.id("mapping_id")]);
  const [update] = updated;
  if (update !== undefined) throw notOneRecord(update.after, differingColumns(update.before, update.after));
  for (const row of inserted) {
    staging.requireSnapshot(row);
    const ids = [row.id("table_id"), row.id("mapping_id")] as const;
    if (draft.get("mapping", ...ids) !== undefined) {
      throw new ConstraintError(`mapping ${ids[1]} of table ${ids[0]} is there already`, {
        remedy: "Give the mapping an id of its own.",
      });
    }
    draft.put("mapping", ids, {
      mappingId: ids[1],
      tableId: ids[0],
      mapType: row.text("type"),
      nameMappings: children.take("ducklake_name_mapping", `${ids[1]}`, "column_id").map((name) => ({
        columnId: name.id("column_id"),
        sourceName: name.text("source_name"),
        targetFieldId: name.id("target_field_id"),
        parentColumn: name.optionalId("parent_column"),
        isPartition: name.flag("is_partition"),
      })),
    });
  }
}

/** Keys of the global scope that say what the lake is, and that nobody changes. */
const fixedKeys: ReadonlySet<string> = new Set(["version", "created_by", "data_path", "encrypted"]);

/** Options, by scope. */
export function stageOptions(staging: RowStaging, { deleted, updated, inserted }: MetadataChanges): void {
  for (const row of [...deleted, ...updated.map(({ before }) => before)]) setOption(staging, row, undefined);
  for (const row of [...updated.map(({ after }) => after), ...inserted]) setOption(staging, row, row.text("value"));
}

function setOption({ draft }: RowStaging, row: MetadataRow, value: string | undefined): void {
  const key = row.text("key");
  const ids = optionIdsOf(row);
  if (ids[0] === 0n && fixedKeys.has(key)) {
    throw new ConstraintError(`a commit changes ${key} in ducklake_metadata, which is set when the lake is created`, {
      remedy: "Leave it as it is.",
    });
  }
  const options = new Map(draft.get("option", ...ids)?.options);
  if (value === undefined) options.delete(key);
  else options.set(key, value);
  if (options.size > 0) draft.put("option", ids, { options });
  else if (draft.get("option", ...ids) !== undefined) draft.remove("option", ids);
}

function optionIdsOf(row: MetadataRow): [bigint, bigint] {
  const scope = row.optionalText("scope");
  if (scope === undefined) return [0n, 0n];
  if (scope === "schema") return [1n, row.id("scope_id")];
  if (scope === "table") return [2n, row.id("scope_id")];
  throw new ConstraintError("a row of ducklake_metadata has a scope that is neither NULL, schema nor table", {
    remedy: "Set options with DuckLake's set_option.",
  });
}

function sameIds(before: MetadataRow, after: MetadataRow, names: readonly string[]): void {
  const changed = names.filter((name) => before.id(name) !== after.id(name));
  if (changed.length > 0) throw notOneRecord(after, changed);
}
