import { absent, type WritableStore, type WriteBatch } from "@moraine/store";

/** One entry of a batch; `value` is `undefined` for a delete. Keys and values in hex. */
export interface BatchEntry {
  readonly key: string;
  readonly value: string | undefined;
}

/** A batch that was handed to the store, as it was written. */
export type WrittenBatch = readonly BatchEntry[];

export interface StoreHooks {
  /** Runs around each durable write. `next` writes the batch. */
  write?: (next: () => ReturnType<WritableStore["write"]>, batch: WrittenBatch) => ReturnType<WritableStore["write"]>;
  /** Runs before each `getMany`. */
  beforeGet?: (keyCount: number) => Promise<void>;
  /** Runs before each scan. */
  beforeScan?: () => Promise<void>;
  /** Runs before each snapshot is taken. */
  beforeSnapshot?: () => Promise<void>;
}

/** A store that remembers every batch and lets a test step in: the seam at which failing and slow stores are made. */
export class HookedStore implements WritableStore {
  readonly inner: WritableStore;
  readonly batches: WrittenBatch[] = [];
  hooks: StoreHooks = {};

  constructor(inner: WritableStore) {
    this.inner = inner;
  }

  get location(): string {
    return this.inner.location;
  }

  get failure(): Error | null {
    return this.inner.failure;
  }

  /** Durable writes so far. */
  get writes(): number {
    return this.batches.length;
  }

  getMany: WritableStore["getMany"] = async (keys) => {
    await this.hooks.beforeGet?.(keys.ends.length);
    return await this.inner.getMany(keys);
  };

  scan: WritableStore["scan"] = (range, options) => this.#scan(range, options);

  async *#scan(...args: Parameters<WritableStore["scan"]>): ReturnType<WritableStore["scan"]> {
    await this.hooks.beforeScan?.();
    yield* this.inner.scan(...args);
  }

  snapshot: WritableStore["snapshot"] = async () => {
    await this.hooks.beforeSnapshot?.();
    return await this.inner.snapshot();
  };

  checkpointMemory: WritableStore["checkpointMemory"] = () => this.inner.checkpointMemory();
  close: WritableStore["close"] = () => this.inner.close();

  write: WritableStore["write"] = async (batch) => {
    const entries = entriesOf(batch);
    this.batches.push(entries);
    const next = (): ReturnType<WritableStore["write"]> => this.inner.write(batch);
    return this.hooks.write === undefined ? await next() : await this.hooks.write(next, entries);
  };
}

function entriesOf(batch: WriteBatch): BatchEntry[] {
  const entries: BatchEntry[] = [];
  let at = 0;
  for (let i = 0; i < batch.count; i++) {
    const keyEnd = batch.ends[2 * i]!;
    const valueEnd = batch.ends[2 * i + 1]!;
    const value = valueEnd === absent ? undefined : hex(batch.data.subarray(keyEnd, valueEnd));
    entries.push({ key: hex(batch.data.subarray(at, keyEnd)), value });
    at = valueEnd === absent ? keyEnd : valueEnd;
  }
  return entries;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Entries of a batch that belong to one index, or to any. */
export function indexEntriesIn(batch: WrittenBatch, index?: bigint): BatchEntry[] {
  const id = index === undefined ? "" : index.toString(16).padStart(16, "0");
  return batch.filter(({ key }) => key.startsWith(`0702${id}`) || key.startsWith(`0703${id}`));
}

/** How many entries of one index, or of any, a batch puts and deletes. */
export function indexWritesIn(
  batch: WrittenBatch | undefined,
  index?: bigint,
): { readonly puts: number; readonly deletes: number } {
  const entries = indexEntriesIn(batch ?? [], index);
  const deletes = entries.filter(({ value }) => value === undefined).length;
  return { puts: entries.length - deletes, deletes };
}
