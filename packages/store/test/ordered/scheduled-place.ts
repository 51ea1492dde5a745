import { type Db, type DbSnapshot, FlushType, ObjectStore } from "@slatedb/uniffi";
import type { Backend } from "../../src/backend.js";
import { nodeFolders } from "../../src/folder-descriptors.js";
import { absent, nextTurn, packValues, type RowBlock, type WriteBatch } from "../../src/index.js";
import { parseLocation } from "../../src/location.js";
import type { SlateReadable, StoreLoops } from "../../src/loops.js";
import type { ManifestHead } from "../../src/manifest.js";

/** What a database holds: values by key, both as text with a character a byte. */
export type State = ReadonlyMap<string, string>;

const textOf = (bytes: Uint8Array, start = 0, end = bytes.length): string => {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1", start, end);
};

/** Lets what waits go on one by one, in an order that somebody else picks. */
class Schedule {
  readonly #waiting: (() => void)[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  release(pick: number): void {
    const [go] = this.#waiting.splice(pick % Math.max(1, this.#waiting.length), 1);
    go?.();
  }
}

/** What is known of one `Db`, whose own contents stay empty. */
interface Database {
  state: State;
  sequence: bigint;
  durableSequence: bigint;
  /** Another one has been opened: nothing becomes durable by this one any more. */
  isFenced: boolean;
  /** Settles when the write before has been applied, and when it has been answered. */
  applied: Promise<unknown>;
  answered: Promise<unknown>;
}

/**
 * A place for one writer in which everything takes as long as a test wants: each step of a write, a flush, a snapshot, a read
 * and an opening waits until `release` picks it. It keeps to what `StoreLoops` promises and to what SlateDB does, and to
 * nothing else: batches of one `Db` are applied and answered in the order of the calls, a snapshot is cut at any moment of its
 * call, and what a new `Db` begins with is what was durable when it fenced the one before.
 */
export class ScheduledPlace {
  readonly #schedule = new Schedule();
  readonly #databases = new Map<SlateReadable, Database>();
  readonly #snapshots = new WeakMap<SlateReadable, State>();
  #durable: State = new Map();
  #epoch = 0n;
  #opening = false;
  /** How many gets have reached the loops. */
  gets = 0;

  /** How many steps wait for being released. */
  get waiting(): number {
    return this.#schedule.size;
  }

  /** Lets one of those that wait go on. */
  release(pick: number): void {
    this.#schedule.release(pick);
  }

  /** Lets everything run that does not wait for being released. */
  async settle(): Promise<void> {
    do await nextTurn();
    while (this.#opening);
  }

  /** Lets everything go on, the oldest first, until the call has settled; the `left` oldest go on waiting. */
  async runToEnd<T>(call: Promise<T>, left = 0): Promise<T> {
    let isPending = true;
    const settled = call.finally(() => {
      isPending = false;
    });
    settled.catch(() => undefined);
    while (isPending) {
      if (this.waiting > left) this.release(left);
      await this.settle();
    }
    return settled;
  }

  readonly loops: StoreLoops = {
    name: "plain",
    pooledConnections: false,
    folders: nodeFolders,
    getMany: async (from, { data, ends }) => {
      const state = this.#stateOf(from);
      this.gets += 1;
      const keys = Array.from(ends, (end, i) => textOf(data, i === 0 ? 0 : ends[i - 1], end));
      await this.#schedule.turn();
      return packValues(keys.map((key) => bytesOf(state.get(key))));
    },
    scan: (from) => rowsOf(this.#stateOf(from)),
    write: (to, batch) => this.#write(this.#database(to), batch),
    flush: async (db) => {
      const database = this.#database(db);
      const { state, sequence } = database;
      await this.#schedule.turn();
      if (database.isFenced) throw new Error("a newer writer has opened this store");
      this.#durable = state;
      database.durableSequence = sequence;
      await this.#schedule.turn();
    },
    moveToTables: (db) => db.flush_with_options({ flush_type: FlushType.MemTable }),
    durableSequence: (db) => this.#database(db).durableSequence,
    snapshot: async (db) => {
      await this.#schedule.turn();
      const snapshot = { dispose: () => undefined } as unknown as DbSnapshot;
      this.#snapshots.set(snapshot, this.#database(db).state);
      await this.#schedule.turn();
      return snapshot;
    },
    shutdown: (from) => from.shutdown(),
  };

  readonly backend: Backend = {
    location: parseLocation("memory://scheduled"),
    objectStore: ObjectStore.resolve("memory:///"),
    path: "store",
    folder: null,
    prepareForWriting: () => Promise.resolve(),
    prepareForReading: () => Promise.resolve(),
    openWriter: async (open) => {
      await this.#schedule.turn();
      for (const database of this.#databases.values()) database.isFenced = true;
      this.#opening = true;
      const opened = await open().finally(() => {
        this.#opening = false;
      });
      this.#epoch += 1n;
      await this.#schedule.turn();
      return opened;
    },
    readManifest: () => Promise.resolve<ManifestHead>({ writerEpoch: this.#epoch, replayAfterWalId: 0n }),
    diagnose: () => Promise.resolve(undefined),
    close: () => undefined,
  };

  async #write(database: Database, batch: WriteBatch): Promise<bigint> {
    const { applied, answered } = database;
    const applying = applied
      .then(() => this.#schedule.turn())
      .then(() => {
        database.state = stateAfter(database.state, batch);
        database.sequence += 1n;
        return database.sequence;
      });
    const answering = Promise.all([applying, answered]).then(() => this.#schedule.turn());
    database.applied = applying;
    database.answered = answering;
    await answering;
    return applying;
  }

  #database(db: Db): Database {
    const known = this.#databases.get(db);
    if (known !== undefined) return known;
    const done = Promise.resolve();
    const state = this.#durable;
    const fresh = { state, sequence: 0n, durableSequence: 0n, isFenced: false, applied: done, answered: done };
    this.#databases.set(db, fresh);
    return fresh;
  }

  #stateOf(from: SlateReadable): State {
    const state = this.#snapshots.get(from) ?? this.#databases.get(from)?.state;
    if (state === undefined) throw new Error("neither a snapshot nor a database of this place");
    return state;
  }
}

function bytesOf(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : Buffer.from(text, "latin1");
}

function stateAfter(before: State, { count, data, ends }: WriteBatch): State {
  const state = new Map(before);
  for (let i = 0, start = 0; i < count; i++) {
    const keyEnd = ends[2 * i]!;
    const valueEnd = ends[2 * i + 1]!;
    const key = textOf(data, start, keyEnd);
    if (valueEnd === absent) state.delete(key);
    else state.set(key, textOf(data, keyEnd, valueEnd));
    start = valueEnd === absent ? keyEnd : valueEnd;
  }
  return state;
}

/** All rows in one block, at once. */
async function* rowsOf(state: State): AsyncIterableIterator<RowBlock> {
  await Promise.resolve();
  const parts = [...state].flat();
  let end = 0;
  const ends = Uint32Array.from(parts, (part) => (end += part.length));
  yield { count: state.size, data: Buffer.from(parts.join(""), "latin1"), ends };
}
