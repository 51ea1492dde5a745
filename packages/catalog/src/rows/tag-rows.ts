import { ColumnValue, decodeValue, type EntityValue, historyKey, historyPrefix } from "@moraine/codec";
import { rowKey, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import { columnRows } from "./entity-rows.js";
import type { MetadataChanges, MetadataRow } from "./metadata-row.js";
import { encodeOf, type RowStaging } from "./row-staging.js";

type Tag = EntityValue["tag"]["entries"][number];

/** Tags of schemas, tables and views: one record for each object. */
export function stageTags(staging: RowStaging, changes: MetadataChanges): void {
  const { draft } = staging;
  for (const [objectId, edits] of byObject(changes, (row) => `${row.id("object_id")}`)) {
    const ids = [BigInt(objectId)];
    const entries = edited(draft.get("tag", ...ids)?.entries ?? [], edits);
    if (entries.length > 0) draft.put("tag", ids, { objectId: BigInt(objectId), entries });
    else if (draft.get("tag", ...ids) !== undefined) draft.remove("tag", ids);
  }
}

/**
 * Tags of columns, which are kept inside of the column. Comes after the columns themselves: a version that the commit makes has
 * taken over the tags of the one before, and one that it ends keeps them as they are when it ends.
 */
export async function stageColumnTags(staging: RowStaging, changes: MetadataChanges): Promise<void> {
  const { draft } = staging;
  const columns = byObject(changes, (row) => `${row.id("table_id")}/${row.id("column_id")}`);
  for (const [text, all] of columns) {
    const ids = text.split("/").map(BigInt);
    const edits = { ...all, removed: all.removed.filter((row) => !staging.loose.take(row)) };
    const live = draft.get("column", ...ids);
    if (live !== undefined) {
      draft.put("column", ids, { ...live, tags: edited(live.tags, edits) });
      continue;
    }
    const ended = draft.base.get("column", ...ids);
    if (ended !== undefined) {
      stageEnded(staging, { ...ended, endSnapshot: staging.snapshotId, tags: edited(ended.tags, edits) });
      continue;
    }
    const past = await newestPastVersion(staging, ids);
    if (past !== undefined) stageEnded(staging, { ...past, tags: edited(past.tags, edits) });
    // Tags go with their column's record; the rows that say so have nothing left to delete.
    else for (const row of edits.added) staging.loose.add(row);
  }
}

/** Writes a column's last version over the one that the diff writes, or that the store holds. */
function stageEnded(staging: RowStaging, column: ColumnValue): void {
  if (column.endSnapshot === undefined) return;
  const ids = [column.tableId, column.columnId];
  staging.overrides.push([historyKey(columnRows.kind, ids, column.endSnapshot), encodeOf(columnRows.kind, column)]);
}

/** Of the versions that the commit leaves: one whose row it deletes must not come back with its tags. */
async function newestPastVersion(staging: RowStaging, ids: readonly bigint[]): Promise<ColumnValue | undefined> {
  const range = rangeOfPrefix(historyPrefix("column", ...ids));
  for await (const block of staging.view.scan(range, { reverse: true })) {
    for (let i = 0; i < block.count; i++)
      if (!staging.deletesPast(rowKey(block, i))) return decodeValue(ColumnValue, rowValue(block, i));
  }
  return undefined;
}

interface TagEdits {
  readonly removed: MetadataRow[];
  readonly added: MetadataRow[];
}

function byObject(
  { deleted, updated, inserted }: MetadataChanges,
  keyOf: (row: MetadataRow) => string,
): Map<string, TagEdits> {
  const objects = new Map<string, TagEdits>();
  const of = (row: MetadataRow): TagEdits => {
    const key = keyOf(row);
    const known = objects.get(key) ?? { removed: [], added: [] };
    objects.set(key, known);
    return known;
  };
  for (const row of deleted) of(row).removed.push(row);
  for (const { before, after } of updated) {
    of(before).removed.push(before);
    of(after).added.push(after);
  }
  for (const row of inserted) of(row).added.push(row);
  return objects;
}

/** Tags in their order, updated ones in their place. A tag that is to go and is not there has gone with its record. */
function edited(tags: readonly Tag[], { removed, added }: TagEdits): Tag[] {
  const out: (Tag | undefined)[] = [...tags];
  const free: number[] = [];
  for (const row of removed) {
    const at = out.findIndex((tag) => tag !== undefined && isTag(tag, row));
    if (at < 0) continue;
    out[at] = undefined;
    free.push(at);
  }
  for (const row of added) {
    const tag: Tag = {
      beginSnapshot: row.id("begin_snapshot"),
      endSnapshot: row.optionalId("end_snapshot"),
      key: row.text("key"),
      value: row.optionalText("value") ?? "",
      isNull: row.isNull("value"),
    };
    // An update keeps its place: the freed one of the same key.
    const at = free.findIndex(
      (place) => tags[place]?.key === tag.key && tags[place].beginSnapshot === tag.beginSnapshot,
    );
    if (at < 0) out.push(tag);
    else out[free.splice(at, 1)[0] as number] = tag;
  }
  return out.filter((tag) => tag !== undefined);
}

function isTag(tag: Tag, row: MetadataRow): boolean {
  return (
    tag.key === row.text("key") &&
    tag.beginSnapshot === row.id("begin_snapshot") &&
    tag.endSnapshot === row.optionalId("end_snapshot")
  );
}
