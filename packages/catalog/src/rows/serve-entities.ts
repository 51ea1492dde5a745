import {
  CorruptionError,
  decodeKey,
  decodeValue,
  type EntityKind,
  entityKinds,
  type EntityValue,
  entityMessages,
  historyPrefix,
  type Key,
  type MessageType,
} from "@moraine/codec";
import { type KeyRange, type ReadView, rowKey, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { CatalogState } from "../model/state.js";
import type { FollowStep } from "./follow-step.js";
import { type ServedEntityKind, servedKinds } from "./serve-kinds.js";
import { RowLists } from "./serve-table.js";

/** Keys and values of a range, block by block. */
export async function* scanRecords<T>(
  view: ReadView,
  range: KeyRange,
  message: MessageType<T>,
): AsyncIterableIterator<readonly (readonly [key: Key, value: T])[]> {
  for await (const block of view.scan(range)) {
    const records: (readonly [Key, T])[] = [];
    for (let i = 0; i < block.count; i++)
      records.push([decodeKey(rowKey(block, i)), decodeValue(message, rowValue(block, i))]);
    yield records;
  }
}

/** A past version of an entity. */
export interface PastVersion<K extends EntityKind> {
  readonly ids: readonly bigint[];
  readonly value: EntityValue[K];
}

/** Past versions of a kind, or of those under the leading ids given. Those of one entity follow each other in the order in which they ended. */
export async function pastVersions<K extends EntityKind>(
  view: ReadView,
  kind: K,
  ...leadingIds: bigint[]
): Promise<PastVersion<K>[]> {
  const versions: PastVersion<K>[] = [];
  const message: MessageType<EntityValue[K]> = entityMessages[kind];
  for await (const records of scanRecords(view, rangeOfPrefix(historyPrefix(kind, ...leadingIds)), message)) {
    for (const [key, value] of records) {
      if (key.subspace !== "history") throw new CorruptionError(`a ${key.subspace} key in the history`);
      versions.push({ ids: key.entity.ids, value });
    }
  }
  return versions;
}

/** The kinds of entity that a state holds and DuckLake's tables show, with their rows: current versions and past ones. */
export async function* entityRows(state: CatalogState, view: ReadView): AsyncIterableIterator<FollowStep> {
  for (const kind of Object.keys(servedKinds) as ServedEntityKind[])
    if (kind !== "file_column_stats") yield* kindRows(kind, state, view);
}

async function* kindRows<K extends Exclude<ServedEntityKind, "file_column_stats">>(
  kind: K,
  state: CatalogState,
  view: ReadView,
): AsyncIterableIterator<FollowStep> {
  const { addOwn, addParts, parts } = servedKinds[kind];
  const rows = new RowLists();
  if (entityKinds[kind].versioned) {
    const past = await pastVersions(view, kind);
    past.forEach(({ ids, value }, at) => {
      addOwn(value, rows);
      if (parts.length === 0) return;
      const isLast = past[at + 1]?.ids.every((id, i) => id === ids[i]) !== true;
      if (isLast && state.get(kind, ...ids) === undefined) addParts(value, rows);
    });
  }
  for (const value of state.list(kind)) {
    addOwn(value, rows);
    addParts(value, rows);
  }
  yield* rows.take();
}
