import { Db, DbReader } from "@slatedb/uniffi";
import { type FolderDescriptors, nodeFolders } from "../folder-descriptors.js";
import {
  absent,
  type KeyRange,
  type PackedKeys,
  type PackedValues,
  type RowBlock,
  type ScanOptions,
  type WriteBatch,
} from "../interface.js";
import { limits } from "../limits.js";
import type { SlateReadable, StoreLoops } from "../loops.js";
import { turns } from "../turns.js";
import { detach, nextTurn } from "../within.js";
import { copyKeys } from "../packed.js";
import { type NativeAddon, type NativeBatch, readableKind, type ReadableKind } from "./addon.js";
import { GatheredGets } from "./gathered-gets.js";
import { bindingErrorFrom } from "./native-errors.js";
import { NativeSnapshot } from "./native-snapshot.js";
import { rangeRecord, scanOptionsRecord } from "./records.js";

/** The loops in native code: one call of the addon for many keys or rows, with all waiting on a thread of its own. */
export class NativeLoops implements StoreLoops {
  readonly name = "native";
  readonly pooledConnections = false;
  readonly folders: FolderDescriptors = {
    outliveThreads: true,
    open: (path) => {
      const descriptor = this.#addon.openFolder(Buffer.from(path));
      // Node's own function says what is wrong.
      return descriptor < 0 ? nodeFolders.open(path) : descriptor;
    },
    close: (descriptor) => this.#addon.closeFolder(descriptor),
  };
  readonly #addon: NativeAddon;
  readonly #localGets: GatheredGets<SlateReadable>;
  readonly #remoteGets: GatheredGets<SlateReadable>;

  constructor(addon: NativeAddon) {
    this.#addon = addon;
    this.#localGets = new GatheredGets((from, keys) => this.#get(from, keys, limits.nativeSpinMicroseconds));
    this.#remoteGets = new GatheredGets((from, keys) => this.#get(from, keys, 0));
  }

  getMany(from: SlateReadable, keys: PackedKeys, remote: boolean): Promise<PackedValues> {
    // What lies in memory is answered in microtasks alone, which must not keep timers and I/O from running for long.
    const turn = turns.next();
    if (turn === null) return this.#start(from, keys, remote);
    const copy = copyKeys(keys);
    return turn.then(() => this.#start(from, copy, remote));
  }

  scan(from: SlateReadable, range: KeyRange, options: ScanOptions): AsyncIterableIterator<RowBlock> {
    return this.#blocks(from, range, options);
  }

  write(to: Db, batch: WriteBatch): Promise<bigint> {
    return asBinding(async () => {
      // In the same step as the call: batches are applied in the order in which they are begun.
      const input = this.#addon.writeBegin(to.uniffiHandle);
      await this.#append(input, batch);
      return this.#addon.writeEnd(input);
    });
  }

  flush(db: Db): Promise<void> {
    return asBinding(() => this.#addon.flush(db.uniffiHandle));
  }

  moveToTables(db: Db): Promise<void> {
    return asBinding(() => this.#addon.moveToTables(db.uniffiHandle));
  }

  durableSequence(db: Db): bigint {
    try {
      return this.#addon.durableSequence(db.uniffiHandle);
    } catch (error) {
      throw bindingErrorFrom(error);
    }
  }

  async snapshot(db: Db): Promise<NativeSnapshot> {
    const pin = await asBinding(() => this.#addon.snapshot(db.uniffiHandle));
    return new NativeSnapshot(this.#addon, pin, (snapshot) => this.#sendGathered(snapshot));
  }

  shutdown(db: Db | DbReader): Promise<void> {
    this.#sendGathered(db);
    return asBinding(() => this.#addon.shutdown(kindOf(db), db.uniffiHandle));
  }

  /** Copies a batch into the addon in parts, between which timers and I/O run. One that is small is copied at once. */
  async #append(input: NativeBatch, { count, data, ends }: WriteBatch): Promise<void> {
    try {
      for (let first = 0, start = 0; first < count;) {
        const { next, end } = partOf(ends, count, first, start);
        this.#addon.writeAppend(input, data.subarray(start, end), ends.subarray(2 * first, 2 * next), start);
        first = next;
        start = end;
        if (first < count) await nextTurn();
      }
    } catch (error) {
      this.#addon.writeAbort(input);
      throw error;
    }
  }

  #sendGathered(from: SlateReadable): void {
    this.#localGets.sendNow(from);
    this.#remoteGets.sendNow(from);
  }

  #start(from: SlateReadable, keys: PackedKeys, remote: boolean): Promise<PackedValues> {
    if (keys.ends.length !== 1) return this.#get(from, keys, 0);
    const gets = remote ? this.#remoteGets : this.#localGets;
    return gets.get(from, keys.data.subarray(0, keys.ends[0]));
  }

  /** Does not throw. `spinMicroseconds` counts for one key by itself only. */
  #get(from: SlateReadable, keys: PackedKeys, spinMicroseconds: number): Promise<PackedValues> {
    const { data, ends } = keys;
    const count = ends.length;
    try {
      const buffer = this.#addon.getMany(
        kindOf(from),
        handleOf(from),
        data,
        ends,
        limits.nativeGetWindowKeys,
        limits.nativeInlineKeys,
        count === 1 ? spinMicroseconds : 0,
      );
      if (!(buffer instanceof Promise)) return Promise.resolve(valuesIn(buffer, count));
      return buffer.then(
        (late) => valuesIn(late, count),
        (error: unknown) => {
          throw bindingErrorFrom(error);
        },
      );
    } catch (error) {
      return Promise.reject(bindingErrorFrom(error));
    }
  }

  async *#blocks(from: SlateReadable, range: KeyRange, options: ScanOptions): AsyncIterableIterator<RowBlock> {
    let remaining = options.limit ?? Number.POSITIVE_INFINITY;
    const blockRows = options.blockRows ?? limits.scanBlockRows;
    const isSmall = remaining <= limits.smallScanRows;
    const optionsRecord = scanOptionsRecord(isSmall, options.reverse === true);
    const cursor = this.#addon.scan(kindOf(from), handleOf(from), rangeRecord(range), optionsRecord);
    const read = async (inlineRows: number): Promise<BlockRead> => {
      try {
        const rows = Math.min(blockRows, remaining, limits.mostBlockRows);
        return blockIn(await this.#addon.scanNext(cursor, rows, limits.scanBlockBytes, inlineRows));
      } catch (error) {
        throw bindingErrorFrom(error);
      }
    };
    /** A block that is waited for later: until then its failure is not one that nobody handles. */
    const ahead = (): Promise<BlockRead> => {
      const reading = read(0);
      detach(reading);
      return reading;
    };
    try {
      const turn = turns.next();
      if (turn !== null) await turn;
      let reading = read(isSmall ? limits.nativeInlineRows : 0);
      for (let isFirst = true; ; isFirst = false) {
        const { block, ended } = await reading;
        if (block.count === 0) return;
        remaining -= block.count;
        const isLast = ended || remaining <= 0;
        // Whoever came back for a second block is likely to want the third one: it is read while the second is used.
        if (!isLast && !isFirst) reading = ahead();
        yield block;
        if (isLast) return;
        if (isFirst) reading = ahead();
        await nextTurn();
      }
    } finally {
      this.#addon.scanClose(cursor);
    }
  }
}

/** The entries from `first` on that are copied in one go: the number of the entry after them, and where their bytes end. */
function partOf(ends: Uint32Array, count: number, first: number, start: number): { next: number; end: number } {
  let next = first;
  let end = start;
  while (next < count && end - start < limits.nativeCopyBytes) {
    const valueEnd = ends[2 * next + 1]!;
    end = valueEnd === absent ? ends[2 * next]! : valueEnd;
    next += 1;
  }
  return { next, end };
}

/** Makes a call of the addon, in this step, whose errors are then those of the binding. */
async function asBinding<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw bindingErrorFrom(error);
  }
}

function kindOf(from: SlateReadable): ReadableKind {
  if (from instanceof NativeSnapshot) return readableKind.snapshot;
  if (from instanceof Db) return readableKind.db;
  if (from instanceof DbReader) return readableKind.reader;
  throw new TypeError("not an object that the native loops can read");
}

/** Fails once the object has been disposed. */
function handleOf(from: SlateReadable): unknown {
  return from instanceof NativeSnapshot ? from.pin : from.uniffiHandle;
}

function valuesIn(buffer: ArrayBuffer, count: number): PackedValues {
  return {
    data: new Uint8Array(buffer, 8 * count),
    offsets: new Uint32Array(buffer, 0, count),
    lengths: new Uint32Array(buffer, 4 * count, count),
  };
}

interface BlockRead {
  readonly block: RowBlock;
  readonly ended: boolean;
}

const trailerBytes = 12;

function blockIn(buffer: ArrayBuffer): BlockRead {
  const trailerStart = buffer.byteLength - trailerBytes;
  const [bytes = 0, count = 0, ended = 0] = new Uint32Array(buffer, trailerStart, 3);
  return {
    block: {
      count,
      data: new Uint8Array(buffer, 0, bytes),
      ends: new Uint32Array(buffer, trailerStart - 8 * count, 2 * count),
    },
    ended: ended === 1,
  };
}
