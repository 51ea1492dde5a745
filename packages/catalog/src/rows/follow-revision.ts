import { decodeValue, SchemaVersionValue, SnapshotValue } from "@moraine/codec";
import type { InlineRegistry } from "../inline/registry.js";
import { ChangedRecords, type LandedWrites } from "./follow-changes.js";
import { followEntities } from "./follow-entities.js";
import { followInlined } from "./follow-inlined.js";
import { FollowOutput } from "./follow-output.js";
import type { FollowStep } from "./follow-step.js";
import type { SettingRow } from "./serve-cells.js";
import { followLoose } from "./serve-loose.js";
import { settingRows } from "./serve-settings.js";

/**
 * What commits that landed together changed in DuckLake's tables, from the records that they wrote: the rows of a record as it
 * was go, and those of it as it is come. A copy of the tables below the commits becomes equal to a load above them.
 */
export async function revisionSteps(landed: LandedWrites, registry: InlineRegistry): Promise<FollowStep[]> {
  const changed = await ChangedRecords.read(landed);
  const out = new FollowOutput();
  followSettings(changed, out);
  followSnapshots(changed, out);
  await followEntities(changed, out);
  followGcFiles(changed, out);
  followSchemaVersions(changed, out);
  await followInlined(changed, registry, out);
  followLoose(landed.before, landed.after, out);
  return out.steps();
}

function followSettings(changed: ChangedRecords, out: FollowOutput): void {
  const { before, after } = changed.landed;
  for (const { key } of changed.of("current")) {
    if (key.entity.kind !== "option") continue;
    const { ids } = key.entity;
    const was = rowsByKey(settingRows(ids, before.get("option", ...ids)));
    const is = rowsByKey(settingRows(ids, after.get("option", ...ids)));
    for (const row of was.values()) {
      if (is.get(row.key)?.value === row.value) continue;
      out.delete("ducklake_metadata", [
        ["key", row.key],
        ["scope", row.scope ?? null],
        ["scope_id", row.scopeId ?? null],
      ]);
    }
    for (const row of is.values()) if (was.get(row.key)?.value !== row.value) out.rows.add("ducklake_metadata", row);
  }
}

function rowsByKey(rows: readonly SettingRow[]): Map<string, SettingRow> {
  return new Map(rows.map((row) => [row.key, row]));
}

function followSnapshots(changed: ChangedRecords, out: FollowOutput): void {
  for (const { key, before, after } of changed.of("snapshot")) {
    if (before !== undefined) {
      out.delete("ducklake_snapshot", [["snapshot_id", key.snapshotId]]);
      out.delete("ducklake_snapshot_changes", [["snapshot_id", key.snapshotId]]);
    }
    if (after === undefined) continue;
    const snapshot = decodeValue(SnapshotValue, after);
    out.rows.add("ducklake_snapshot", snapshot);
    out.rows.add("ducklake_snapshot_changes", snapshot);
  }
}

function followGcFiles(changed: ChangedRecords, out: FollowOutput): void {
  const changes = changed.of("gc_file");
  if (changes.length === 0) return;
  const { before, after } = changed.landed;
  const was = new Set(before.gcFiles().map(({ dataFileId }) => dataFileId));
  const is = new Map(after.gcFiles().map((file) => [file.dataFileId, file]));
  for (const { key } of changes) {
    if (was.has(key.dataFileId))
      out.delete("ducklake_files_scheduled_for_deletion", [["data_file_id", key.dataFileId]]);
    const file = is.get(key.dataFileId);
    if (file !== undefined) out.rows.add("ducklake_files_scheduled_for_deletion", file);
  }
}

function followSchemaVersions(changed: ChangedRecords, out: FollowOutput): void {
  for (const { key, before, after } of changed.of("schema_version")) {
    const { tableId, beginSnapshot } = key;
    if (before !== undefined) {
      out.delete("ducklake_schema_versions", [
        ["table_id", tableId],
        ["begin_snapshot", beginSnapshot],
      ]);
    }
    if (after === undefined) continue;
    const { schemaVersion } = decodeValue(SchemaVersionValue, after);
    out.rows.add("ducklake_schema_versions", { tableId, beginSnapshot, schemaVersion });
  }
}
