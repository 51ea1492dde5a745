import {
  decodeValue,
  entityKinds,
  entityMessages,
  type EntityValue,
  equalValue,
  type Key,
  type MessageType,
} from "@moraine/codec";
import type { StateKind } from "../model/entities.js";
import type { ChangedRecords, RecordChange } from "./follow-changes.js";
import type { FollowOutput } from "./follow-output.js";
import { pastVersions } from "./serve-entities.js";
import { isServedKind, type ServedEntityKind, servedKinds } from "./serve-kinds.js";

/** What commits did to the records of one entity. */
interface TouchedEntity {
  readonly kind: ServedEntityKind;
  readonly ids: readonly bigint[];
  /** Of file column statistics, which no state holds. */
  stats: RecordChange | undefined;
  readonly past: RecordChange<Extract<Key, { readonly subspace: "history" }>>[];
}

/** The steps for every entity that DuckLake's tables show. */
export async function followEntities(changed: ChangedRecords, out: FollowOutput): Promise<void> {
  for (const entity of touchedEntities(changed)) await followEntity(entity.kind, entity, changed, out);
}

function touchedEntities(changed: ChangedRecords): Iterable<TouchedEntity> {
  const touched = new Map<string, TouchedEntity>();
  const touch = (kind: ServedEntityKind, ids: readonly bigint[]): TouchedEntity => {
    const name = `${kind}/${ids.join("/")}`;
    const known = touched.get(name);
    if (known !== undefined) return known;
    const entity: TouchedEntity = { kind, ids, stats: undefined, past: [] };
    touched.set(name, entity);
    return entity;
  };
  for (const change of changed.of("current")) {
    const { kind, ids } = change.key.entity;
    if (!isServedKind(kind)) continue;
    const entity = touch(kind, ids);
    if (kind === "file_column_stats") entity.stats = change;
  }
  for (const change of changed.of("history")) {
    const { kind, ids } = change.key.entity;
    if (isServedKind(kind)) touch(kind, ids).past.push(change);
  }
  return touched.values();
}

interface Versions<V> {
  readonly before: V | undefined;
  readonly after: V | undefined;
}

async function followEntity<K extends ServedEntityKind>(
  kind: K,
  entity: TouchedEntity,
  changed: ChangedRecords,
  out: FollowOutput,
): Promise<void> {
  const { own, addOwn } = servedKinds[kind];
  const message: MessageType<EntityValue[K]> = entityMessages[kind];
  const current = presentVersions(kind, entity, changed);
  if (own !== undefined) {
    const { before, after } = current;
    if (before === undefined || after === undefined || !equalValue(message, before, after)) {
      if (before !== undefined)
        out.deleteKeyed(own, entity.ids, entityKinds[kind].versioned ? [["end_snapshot", null]] : []);
      if (after !== undefined) addOwn(after, out.rows);
    }
    for (const past of entity.past) {
      if (past.before !== undefined) out.deleteKeyed(own, entity.ids, [["end_snapshot", past.key.endSnapshot]]);
      if (past.after !== undefined) addOwn(decodeValue(message, past.after), out.rows);
    }
  }
  await followParts(kind, entity, current, changed, out);
}

/** An entity as it is live before and after, if it is. */
function presentVersions<K extends ServedEntityKind>(
  kind: K,
  { ids, stats }: TouchedEntity,
  { landed }: ChangedRecords,
): Versions<EntityValue[K]> {
  if (kind === "file_column_stats") {
    const message: MessageType<EntityValue[K]> = entityMessages[kind];
    const read = (bytes: Uint8Array | undefined): EntityValue[K] | undefined =>
      bytes === undefined ? undefined : decodeValue(message, bytes);
    return { before: read(stats?.before), after: read(stats?.after) };
  }
  const held = kind as K & StateKind;
  return {
    before: landed.before.get(held, ...ids) as EntityValue[K] | undefined,
    after: landed.after.get(held, ...ids) as EntityValue[K] | undefined,
  };
}

/** Parts belong to the newest version of an entity, the live one or the one that ended last. */
async function followParts<K extends ServedEntityKind>(
  kind: K,
  entity: TouchedEntity,
  current: Versions<EntityValue[K]>,
  changed: ChangedRecords,
  out: FollowOutput,
): Promise<void> {
  const { parts, addParts, partTables, sameParts } = servedKinds[kind];
  if (parts.length === 0) return;
  const { before, after } = await newestVersions(kind, entity, current, changed);
  if (before === after || (before !== undefined && after !== undefined && sameParts(before, after))) return;
  if (before !== undefined) for (const table of partTables(before)) out.deleteKeyed(table, entity.ids);
  if (after !== undefined) addParts(after, out.rows);
}

async function newestVersions<K extends ServedEntityKind>(
  kind: K,
  { ids, past }: TouchedEntity,
  current: Versions<EntityValue[K]>,
  changed: ChangedRecords,
): Promise<Versions<EntityValue[K]>> {
  let { before, after } = current;
  if (past.length === 0 || (before !== undefined && after !== undefined)) return current;
  const message: MessageType<EntityValue[K]> = entityMessages[kind];
  const { partTables } = servedKinds[kind];
  const read = (bytes: Uint8Array | undefined): EntityValue[K] | undefined =>
    bytes === undefined ? undefined : decodeValue(message, bytes);
  const gone = past.map((change) => read(change.before));
  const added = past
    .toSorted((a, b) => (a.key.endSnapshot < b.key.endSnapshot ? -1 : 1))
    .flatMap(({ after: put }) => read(put) ?? []);
  if ([...gone, ...added].every((value) => value === undefined || partTables(value).length === 0)) return current;
  if (kind === "column") {
    // The one kind that has several versions under an id. They are looked for only where the live one is not there to tell.
    const endedNow = past.some(({ key, after: put }) => put !== undefined && isNew(key.endSnapshot, changed));
    before ??= (await pastVersions(changed.landed.beforeView, kind, ...ids)).at(-1)?.value;
    after ??= endedNow ? added.at(-1) : (await pastVersions(changed.afterView, kind, ...ids)).at(-1)?.value;
  } else {
    before ??= gone.find((value) => value !== undefined);
    after ??= added.find((value) => value !== undefined);
  }
  return { before, after };
}

function isNew(snapshotId: bigint, { landed }: ChangedRecords): boolean {
  return snapshotId > landed.before.head.snapshotId;
}
