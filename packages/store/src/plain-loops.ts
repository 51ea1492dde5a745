import {
  type Db,
  type DbReader,
  type DbSnapshot,
  DurabilityLevel,
  FlushType,
  IterationOrder,
  WriteBatch as SlateWriteBatch,
  type KeyValue,
} from "@slatedb/uniffi";
import { nodeFolders } from "./folder-descriptors.js";
import {
  absent,
  type KeyRange,
  type PackedKeys,
  type PackedValues,
  type RowBlock,
  type ScanOptions,
  type WriteBatch,
} from "./interface.js";
import { readSlots } from "./call-slots.js";
import { limits } from "./limits.js";
import type { SlateReadable, StoreLoops } from "./loops.js";
import { NativeSnapshot } from "./native/native-snapshot.js";
import { copyKeys, keyAt, packValues } from "./packed.js";
import { turns } from "./turns.js";
import { nextTurn } from "./within.js";

/** The loops over the plain JavaScript binding: one call of the binding for each key or row. */
export const plainLoops: StoreLoops = {
  name: "plain",
  pooledConnections: false,
  folders: nodeFolders,
  getMany(from, keys, remote) {
    const source = ownReadable(from);
    const count = keys.ends.length;
    if (count === 1) return getSingle(source, onlyKey(keys));
    if (count === 0) return Promise.resolve(packValues([]));
    return getWindow(source, copyKeys(keys), remote ? limits.remoteGetWindowKeys : limits.localGetWindowKeys);
  },
  scan: (from, range, options) => scanBlocks(ownReadable(from), range, options),
  async write(to, batch) {
    const slateBatch = buildBatch(batch);
    try {
      const handle = await to.write_with_options(slateBatch, quickWrite);
      return BigInt(handle.seqnum);
    } finally {
      slateBatch.dispose();
    }
  },
  flush: (db) => db.flush(),
  moveToTables: (db) => db.flush_with_options({ flush_type: FlushType.MemTable }),
  durableSequence: (db) => BigInt(db.status().durable_seq),
  snapshot: (db) => db.snapshot(),
  shutdown: (db) => db.shutdown(),
};

/** What the binding can read. */
type PlainReadable = Db | DbSnapshot | DbReader;

function ownReadable(from: SlateReadable): PlainReadable {
  if (from instanceof NativeSnapshot) throw new Error("a snapshot of the native loops is read by them only");
  return from;
}

const quickWrite = { await_durable: false } as const;

function onlyKey(keys: PackedKeys): Uint8Array {
  return keys.ends[0] === keys.data.length ? keys.data : keyAt(keys, 0);
}

/** As few promises as possible: most lookups of a catalog are of one key. */
function getSingle(from: PlainReadable, key: Uint8Array): Promise<PackedValues> {
  const turn = turns.next();
  if (turn === null && readSlots.tryTake()) return getInSlot(from, key);
  const copy = key.slice();
  return (turn ?? Promise.resolve()).then(() => readSlots.take()).then(() => getInSlot(from, copy));
}

function getInSlot(from: PlainReadable, key: Uint8Array): Promise<PackedValues> {
  return from.get(key).then(
    (value) => {
      readSlots.release();
      return packOne(value);
    },
    (error: unknown) => {
      readSlots.release();
      throw error;
    },
  );
}

const nothing = new Uint8Array(0);

function packOne(value: Uint8Array | undefined): PackedValues {
  return value === undefined
    ? { data: nothing, offsets: new Uint32Array(1), lengths: Uint32Array.of(absent) }
    : { data: value, offsets: new Uint32Array(1), lengths: Uint32Array.of(value.length) };
}

async function getWindow(from: PlainReadable, keys: PackedKeys, window: number): Promise<PackedValues> {
  const count = keys.ends.length;
  const values: (Uint8Array | undefined)[] = Array.from({ length: count });
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < count && !failed) {
      const i = next++;
      const turn = turns.next();
      if (turn !== null) await turn;
      if (!readSlots.tryTake()) await readSlots.take();
      try {
        values[i] = await from.get(keyAt(keys, i));
        readSlots.release();
      } catch (error) {
        readSlots.release();
        failed = true;
        throw error;
      }
    }
  };
  const workers: Promise<void>[] = [];
  for (let i = Math.min(window, count); i > 0; i--) workers.push(worker());
  // Every worker is waited for before an error is passed on, so that nothing of this call is in flight afterwards.
  const results = await Promise.allSettled(workers);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return packValues(values);
}

async function* scanBlocks(
  from: PlainReadable,
  range: KeyRange,
  options: ScanOptions,
): AsyncIterableIterator<RowBlock> {
  let remaining = options.limit ?? Number.POSITIVE_INFINITY;
  const blockRows = options.blockRows ?? limits.scanBlockRows;
  const bounds = { start: range.start, start_inclusive: true, end: range.end, end_inclusive: false };
  const iterator = await readSlots.run(() => {
    return from.scan_with_options(bounds, {
      durability_filter: DurabilityLevel.Memory,
      dirty: false,
      read_ahead_bytes: remaining <= limits.smallScanRows ? 1 : limits.scanReadAheadBytes,
      cache_blocks: true,
      max_fetch_tasks: remaining <= limits.smallScanRows ? 1 : limits.scanFetchTasks,
      order: options.reverse === true ? IterationOrder.Descending : IterationOrder.Ascending,
    });
  });
  try {
    let ended = false;
    while (!ended && remaining > 0) {
      const rows: KeyValue[] = [];
      let bytes = 0;
      const wanted = Math.min(blockRows, remaining);
      while (rows.length < wanted && bytes < limits.scanBlockBytes) {
        const turn = turns.next();
        if (turn !== null) await turn;
        if (!readSlots.tryTake()) await readSlots.take();
        let row: KeyValue | undefined;
        try {
          row = await iterator.next();
        } finally {
          readSlots.release();
        }
        if (row === undefined) {
          ended = true;
          break;
        }
        rows.push(row);
        bytes += row.key.length + row.value.length;
      }
      if (rows.length === 0) return;
      remaining -= rows.length;
      yield packRows(rows, bytes);
      if (!ended && remaining > 0) await nextTurn();
    }
  } finally {
    iterator.dispose();
  }
}

function packRows(rows: readonly KeyValue[], bytes: number): RowBlock {
  const data = new Uint8Array(bytes);
  const ends = new Uint32Array(rows.length * 2);
  let end = 0;
  for (let i = 0; i < rows.length; i++) {
    const { key, value } = rows[i]!;
    data.set(key, end);
    end += key.length;
    ends[2 * i] = end;
    data.set(value, end);
    end += value.length;
    ends[2 * i + 1] = end;
  }
  return { count: rows.length, data, ends };
}

function buildBatch(batch: WriteBatch): SlateWriteBatch {
  const slateBatch = new SlateWriteBatch();
  try {
    let start = 0;
    for (let i = 0; i < batch.count; i++) {
      const keyEnd = batch.ends[2 * i]!;
      const valueEnd = batch.ends[2 * i + 1]!;
      const key = batch.data.subarray(start, keyEnd);
      if (valueEnd === absent) {
        slateBatch.delete(key);
        start = keyEnd;
      } else {
        slateBatch.put(key, batch.data.subarray(keyEnd, valueEnd));
        start = valueEnd;
      }
    }
    return slateBatch;
  } catch (error) {
    slateBatch.dispose();
    throw error;
  }
}
