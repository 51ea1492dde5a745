import {
  ChangelogValue,
  changelogKey,
  CorruptionError,
  decodeKey,
  decodeValue,
  GcFileValue,
  type HeadValue,
} from "@moraine/codec";
import { packKeys, type ReadView, valueAt } from "@moraine/store";
import type { EntityChange } from "../model/entities.js";
import { isStateKind } from "../model/entities.js";
import { changelogWindowSnapshots } from "../model/limits.js";
import type { CatalogState, GcFileChange } from "../model/state.js";
import { changelogChurnShare } from "./limits.js";
import { decodeEntityValue, loadState, readLooseRows, readSnapshotRecord } from "./load-state.js";

/**
 * Brings a state up to a newer head. The changelogs between the two name what changed, and only that is read again; a gap in
 * them, a batch that made no snapshot, or more changes than half of the catalog make a fresh load the quicker way (format.md
 * 5.1).
 */
export async function follow(view: ReadView, state: CatalogState, head: HeadValue): Promise<CatalogState> {
  return (await replay(view, state, head)) ?? (await loadState(view));
}

async function replay(view: ReadView, state: CatalogState, head: HeadValue): Promise<CatalogState | undefined> {
  const gap = head.snapshotId - state.head.snapshotId;
  if (gap <= 0n || gap > changelogWindowSnapshots || head.batchSeq - state.batchSeq !== gap) return undefined;
  const keys = await changedKeys(view, state.head.snapshotId + 1n, head.snapshotId);
  if (keys === undefined || keys.length > state.entityCount * changelogChurnShare) return undefined;
  const record = await readSnapshotRecord(view, head.snapshotId);
  if (record === undefined) return undefined;
  const values = await view.getMany(packKeys(keys));
  const changes: EntityChange[] = [];
  const gcChanges: GcFileChange[] = [];
  keys.forEach((bytes, i) => {
    const key = decodeKey(bytes);
    const value = valueAt(values, i);
    if (key.subspace === "gc_file") {
      const after = value === undefined ? undefined : decodeValue(GcFileValue, value);
      gcChanges.push({ dataFileId: key.dataFileId, before: undefined, after });
    } else if (key.subspace === "current") {
      const { kind, ids } = key.entity;
      if (!isStateKind(kind)) return;
      const after = value === undefined ? undefined : decodeEntityValue(kind, value);
      changes.push({ kind, ids, before: undefined, after } as EntityChange);
    } else {
      throw new CorruptionError(`a changelog names a key of ${key.subspace}`);
    }
  });
  return state.apply(changes, gcChanges, record, head.batchSeq, await readLooseRows(view));
}

/** Keys that the commits of a span of snapshots wrote, each once; `undefined` if a changelog is missing. */
export async function changedKeys(view: ReadView, first: bigint, last: bigint): Promise<Uint8Array[] | undefined> {
  const logs: Uint8Array[] = [];
  for (let id = first; id <= last; id++) logs.push(changelogKey(id));
  const values = await view.getMany(packKeys(logs));
  const keys = new Map<string, Uint8Array>();
  for (let i = 0; i < logs.length; i++) {
    const bytes = valueAt(values, i);
    if (bytes === undefined) return undefined;
    for (const key of decodeValue(ChangelogValue, bytes).keys) keys.set(Buffer.from(key).toString("latin1"), key);
  }
  return [...keys.values()];
}
