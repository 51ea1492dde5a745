import {
  CorruptionError,
  currentPrefix,
  decodeKey,
  decodeValue,
  type EntityKey,
  type EntityKind,
  entityMessages,
  gcFilePrefix,
  GcFileValue,
  HeadValue,
  prefixEnd,
  snapshotKey,
  SnapshotValue,
  sysHeadKey,
} from "@moraine/codec";
import { getOne, type KeyRange, type ReadView, rowKey, rowValue } from "@moraine/store";
import { CatalogState, type LoadedEntity } from "../model/state.js";

/** Reads the head record. Fails with `corruption` where there is none. */
export const readHead = async (view: ReadView): Promise<HeadValue> => {
  const bytes = await getOne(view, sysHeadKey);
  if (bytes === undefined) throw new CorruptionError("the store has no head record");
  return decodeValue(HeadValue, bytes);
};

export const readSnapshotRecord = async (view: ReadView, snapshotId: bigint): Promise<SnapshotValue | undefined> => {
  const bytes = await getOne(view, snapshotKey(snapshotId));
  return bytes === undefined ? undefined : decodeValue(SnapshotValue, bytes);
};

/** Loads the whole catalog at the head of a view. */
export const loadState = async (view: ReadView): Promise<CatalogState> => {
  const head = await readHead(view);
  const record = await readSnapshotRecord(view, head.snapshotId);
  if (record === undefined) throw new CorruptionError(`the head names snapshot ${head.snapshotId}, which has no record`);
  const entities: LoadedEntity[] = [];
  for (const range of entityRanges()) {
    for await (const entity of scanCurrent(view, range)) entities.push(entity);
  }
  const gcFiles: GcFileValue[] = [];
  const gcRange = rangeOfPrefix(gcFilePrefix());
  for await (const block of view.scan(gcRange)) {
    for (let i = 0; i < block.count; i++) gcFiles.push(decodeValue(GcFileValue, rowValue(block, i)));
  }
  return CatalogState.load(entities, gcFiles, record, head.batchSeq);
};

/** Ranges of `current` that are kept in memory: all of it but the column statistics of files, which grow with the data. */
const entityRanges = (): readonly KeyRange[] => {
  const skipped = currentPrefix("file_column_stats");
  const first = currentPrefix("schema");
  return [
    { start: first, end: skipped },
    { start: prefixEnd(skipped), end: gcFilePrefix() },
  ];
};

export const rangeOfPrefix = (prefix: Uint8Array): KeyRange => ({ start: prefix, end: prefixEnd(prefix) });

/** Decoded entities of a range of `current`. */
export async function* scanCurrent(view: ReadView, range: KeyRange): AsyncIterableIterator<LoadedEntity> {
  for await (const block of view.scan(range)) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "current") throw new CorruptionError(`a ${key.subspace} key among the current entities`);
      yield decodeEntity(key.entity, rowValue(block, i));
    }
  }
}

/** Decodes an entity's value by its key's kind. */
export const decodeEntity = (key: EntityKey, bytes: Uint8Array): LoadedEntity => ({ key, value: decodeValue(entityMessages[key.kind], bytes) }) as LoadedEntity;

export type { EntityKind };
