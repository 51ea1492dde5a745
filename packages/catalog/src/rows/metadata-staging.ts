import { ConstraintError } from "@moraine/codec";
import type { FileDeletes } from "./file-deletes.js";
import {
  childTables,
  type EntityRows,
  type VersionedKind,
  type VersionedTable,
  versionedTables,
} from "./entity-rows.js";
import {
  stageFileColumnStats,
  stageMappings,
  stageOptions,
  stageScheduledDeletions,
  stageTableColumnStats,
  stageTableStats,
} from "./flat-rows.js";
import { differingColumns, type MetadataChanges, type MetadataRow } from "./metadata-row.js";
import type { MetadataTable } from "./metadata-tables.js";
import { notOneRecord, type RowStaging } from "./row-staging.js";
import { stageColumnTags, stageTags } from "./tag-rows.js";

export const noChanges: MetadataChanges = { deleted: [], updated: [], inserted: [] };

/** Changes of every metadata table, those without any included. */
export type ChangesByTable = (table: MetadataTable) => MetadataChanges;

/**
 * Applies the rows of the metadata tables, all but those of snapshots and of inlined tables. What ends comes before what begins, and
 * rows that live inside of others are folded into them.
 */
export async function stageMetadata(
  staging: RowStaging,
  changesOf: ChangesByTable,
  fileDeletes: FileDeletes,
): Promise<void> {
  for (const [name, parentOf] of Object.entries(childTables)) {
    for (const row of changesOf(name as MetadataTable).inserted) staging.children.add(row, parentOf(row));
  }
  const tables = Object.entries(versionedTables) as [VersionedTable, EntityRows<VersionedKind>][];
  const paired = new Map(tables.map(([name, rows]) => [name, pairUp(rows, changesOf(name))]));
  for (const [name, rows] of tables) {
    for (const row of paired.get(name)?.deleted ?? []) {
      staging.remove(rows, row);
      if (name === "ducklake_data_file") await fileDeletes.removeOf(row.id("table_id"), row.id("data_file_id"));
    }
  }
  for (const [name, rows] of tables) {
    for (const update of paired.get(name)?.updated ?? []) await staging.update(rows, update);
  }
  for (const [name, rows] of tables) {
    for (const row of paired.get(name)?.inserted ?? []) {
      staging.requireSnapshot(row);
      staging.insert(rows, row);
    }
  }
  countColumns(staging, changesOf("ducklake_column").inserted);
  stageTags(staging, changesOf("ducklake_tag"));
  await stageColumnTags(staging, changesOf("ducklake_column_tag"));
  stageMappings(staging, changesOf("ducklake_column_mapping"));
  stageTableStats(staging, changesOf("ducklake_table_stats"));
  stageTableColumnStats(staging, changesOf("ducklake_table_column_stats"));
  await stageFileColumnStats(staging, changesOf("ducklake_file_column_stats"));
  stageScheduledDeletions(staging, changesOf("ducklake_files_scheduled_for_deletion"));
  stageOptions(staging, changesOf("ducklake_metadata"));
  checkChildren(changesOf);
  staging.children.refuseOrphans();
}

/** DuckDB carries some updates out as a delete and an insert: a row that went and came back with its ids and begin was updated. */
function pairUp(rows: EntityRows<VersionedKind>, { deleted, updated, inserted }: MetadataChanges): MetadataChanges {
  if (deleted.length === 0 || inserted.length === 0) return { deleted, updated, inserted };
  const identity = (row: MetadataRow): string => `${rows.ids(row).join("/")}@${row.id("begin_snapshot")}`;
  const gone = new Map(deleted.map((row) => [identity(row), row]));
  const pairs = [...updated];
  const fresh = inserted.filter((after) => {
    const before = gone.get(identity(after));
    if (before === undefined) return true;
    gone.delete(identity(after));
    pairs.push({ before, after });
    return false;
  });
  return { deleted: [...gone.values()], updated: pairs, inserted: fresh };
}

/** A table counts its columns, so that no field id is given out twice. */
function countColumns({ draft }: RowStaging, inserted: readonly MetadataRow[]): void {
  for (const row of inserted) {
    const table = draft.get("table", row.id("table_id"));
    const next = row.id("column_id") + 1n;
    if (table === undefined || table.nextColumnId >= next) continue;
    draft.put("table", [table.tableId], { ...table, nextColumnId: next });
  }
}

const parentTables: Readonly<
  Partial<Record<MetadataTable, { readonly table: MetadataTable; readonly by: readonly string[] }>>
> = {
  ducklake_partition_column: { table: "ducklake_partition_info", by: ["partition_id"] },
  ducklake_sort_expression: { table: "ducklake_sort_info", by: ["sort_id"] },
  ducklake_macro_impl: { table: "ducklake_macro", by: ["macro_id"] },
  ducklake_macro_parameters: { table: "ducklake_macro", by: ["macro_id"] },
  ducklake_file_partition_value: { table: "ducklake_data_file", by: ["data_file_id"] },
  ducklake_file_variant_stats: { table: "ducklake_file_column_stats", by: ["data_file_id", "column_id"] },
  ducklake_name_mapping: { table: "ducklake_column_mapping", by: ["mapping_id"] },
};

/** Rows inside of others go with them. Where the parent stays, taking one away, or changing it, cannot be kept. */
function checkChildren(changesOf: ChangesByTable): void {
  for (const [name, { table, by }] of Object.entries(parentTables)) {
    const { deleted, updated } = changesOf(name as MetadataTable);
    const [update] = updated;
    if (update !== undefined) throw notOneRecord(update.after, differingColumns(update.before, update.after));
    if (deleted.length === 0) continue;
    const idOf = (row: MetadataRow): string => by.map((column) => row.id(column)).join("/");
    const gone = new Set(changesOf(table).deleted.map(idOf));
    const left = deleted.filter((row) => !gone.has(idOf(row)));
    if (left.length === 0) continue;
    throw new ConstraintError(`${left.length} rows of ${name} are deleted, and what they belong to stays`, {
      remedy: `Delete the rows of ${table} with them, as DuckLake does.`,
    });
  }
}
