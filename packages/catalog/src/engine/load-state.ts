import {
  CorruptionError,
  currentPrefix,
  decodeKey,
  decodeValue,
  type EntityKey,
  type EntityKind,
  entityMessages,
  type EntityValue,
  gcFilePrefix,
  GcFileValue,
  HeadValue,
  LooseRowsValue,
  type LooseRowValue,
  type MessageType,
  NotFoundError,
  prefixEnd,
  snapshotKey,
  SnapshotExpiredError,
  SnapshotValue,
  sysHeadKey,
  sysLooseRowsKey,
} from "@moraine/codec";
import { getOne, type KeyRange, type ReadView, rowKey, rowValue } from "@moraine/store";
import { CatalogState, type LoadedEntity } from "../model/state.js";
import { stateAt } from "../model/state-at.js";

/** Reads the head record. Fails with `corruption` where there is none. */
export async function readHead(view: ReadView): Promise<HeadValue> {
  const bytes = await getOne(view, sysHeadKey);
  if (bytes === undefined) throw new CorruptionError("the store has no head record");
  return decodeValue(HeadValue, bytes);
}

export async function readSnapshotRecord(view: ReadView, snapshotId: bigint): Promise<SnapshotValue | undefined> {
  const bytes = await getOne(view, snapshotKey(snapshotId));
  return bytes === undefined ? undefined : decodeValue(SnapshotValue, bytes);
}

/** Rows of metadata tables that belong to no other record. */
export async function readLooseRows(view: ReadView): Promise<readonly LooseRowValue[]> {
  const bytes = await getOne(view, sysLooseRowsKey);
  return bytes === undefined ? [] : decodeValue(LooseRowsValue, bytes).rows;
}

/** Loads the whole catalog at the head of a view. */
export async function loadState(view: ReadView): Promise<CatalogState> {
  const head = await readHead(view);
  const record = await readSnapshotRecord(view, head.snapshotId);
  if (record === undefined)
    throw new CorruptionError(`the head names snapshot ${head.snapshotId}, which has no record`);
  const looseRows = await readLooseRows(view);
  return CatalogState.load(await readEntities(view), await readGcFiles(view), record, head.batchSeq, looseRows);
}

/**
 * Loads the catalog as it was at a past snapshot: versioned kinds from the present and the history, the others as they are.
 *
 * Errors: `not_found` for a snapshot above the head, `snapshot_expired` for one whose record is gone.
 */
export async function loadStateAt(view: ReadView, snapshotId: bigint): Promise<CatalogState> {
  const head = await readHead(view);
  if (snapshotId > head.snapshotId) throw new NotFoundError(`snapshot ${snapshotId}: the head is ${head.snapshotId}`);
  const record = await readSnapshotRecord(view, snapshotId);
  if (record === undefined) throw new SnapshotExpiredError(`snapshot ${snapshotId} has no record any more`);
  const entities = await readEntities(view);
  for await (const block of view.scan(rangeOfPrefix(historySubspace))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "history") throw new CorruptionError(`a ${key.subspace} key in the history`);
      entities.push(decodeEntity(key.entity, rowValue(block, i)));
    }
  }
  return stateAt(entities, await readGcFiles(view), record, head.batchSeq);
}

/** First byte of every history key (format.md 1.2). */
const historySubspace = Uint8Array.of(0x05);

async function readEntities(view: ReadView): Promise<LoadedEntity[]> {
  const entities: LoadedEntity[] = [];
  for (const range of entityRanges()) {
    for await (const block of view.scan(range)) {
      for (let i = 0; i < block.count; i++) {
        const key = decodeKey(rowKey(block, i));
        if (key.subspace !== "current") throw new CorruptionError(`a ${key.subspace} key among the current entities`);
        entities.push(decodeEntity(key.entity, rowValue(block, i)));
      }
    }
  }
  return entities;
}

async function readGcFiles(view: ReadView): Promise<GcFileValue[]> {
  const gcFiles: GcFileValue[] = [];
  for await (const block of view.scan(rangeOfPrefix(gcFilePrefix()))) {
    for (let i = 0; i < block.count; i++) gcFiles.push(decodeValue(GcFileValue, rowValue(block, i)));
  }
  return gcFiles;
}

/** Ranges of `current` that are kept in memory: all of it but the column statistics of files, which grow with the data. */
function entityRanges(): readonly KeyRange[] {
  const skipped = currentPrefix("file_column_stats");
  const first = currentPrefix("schema");
  return [
    { start: first, end: skipped },
    { start: prefixEnd(skipped), end: gcFilePrefix() },
  ];
}

export function rangeOfPrefix(prefix: Uint8Array): KeyRange {
  return { start: prefix, end: prefixEnd(prefix) };
}

/** Decodes an entity's value by its key's kind. */
function decodeEntity(key: EntityKey, bytes: Uint8Array): LoadedEntity {
  return { key, value: decodeEntityValue(key.kind, bytes) };
}

export function decodeEntityValue<K extends EntityKind>(kind: K, bytes: Uint8Array): EntityValue[K] {
  const message: MessageType<EntityValue[K]> = entityMessages[kind];
  return decodeValue(message, bytes);
}
