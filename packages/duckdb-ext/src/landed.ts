import type { ColumnData, RowChanges } from "@moraine/catalog";
import { MoraineError, type SnapshotId } from "@moraine/codec";
import type { WritableLake } from "./lake.js";

/**
 * Whether the store holds the very commit that these changes are, made on revision `base`. DuckLake names a snapshot by its id, its
 * time in microseconds and its schema version; a commit without a snapshot cannot be told, and counts as not landed.
 */
export async function hasLanded(
  catalog: WritableLake,
  base: bigint | undefined,
  changes: RowChanges,
): Promise<boolean> {
  if (base !== undefined && catalog.revision <= base) return false;
  const table = changes.tables.find(({ name }) => name === "ducklake_snapshot");
  const batch = table?.inserted[0];
  if (table === undefined || batch?.rows !== 1) return false;
  const cell = (name: string): bigint | undefined => integer(batch.columns[table.columns.indexOf(name)]);
  const id = cell("snapshot_id");
  const time = cell("snapshot_time");
  const schemaVersion = cell("schema_version");
  if (id === undefined || time === undefined) return false;
  try {
    const { currentSnapshot: found } = await catalog.snapshotAt(id as SnapshotId);
    return found.timeMicros === time && found.schemaVersion === schemaVersion;
  } catch (error) {
    // No snapshot of that id, or none any more.
    if (error instanceof MoraineError && (error.code === "not_found" || error.code === "snapshot_expired"))
      return false;
    throw error;
  }
}

function integer(column: ColumnData | undefined): bigint | undefined {
  const { values } = column ?? {};
  return values?.length === 8 ? new DataView(values.buffer, values.byteOffset).getBigInt64(0, true) : undefined;
}
