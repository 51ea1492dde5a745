import { absent, type WriteBatch } from "./interface.js";
import { limits } from "./limits.js";

/** A value that is known to be stored under a key; `null`: that nothing is. */
export type CachedValue = Uint8Array | null;

interface CachedRow {
  readonly value: CachedValue;
  /** The generation from which on the key has held this value, up to now. */
  readonly since: number;
}

/**
 * Small values under short keys that snapshots of a store have read, for its one writer, which hears of every change because
 * it makes them all.
 *
 * The generation counts the batches that were issued. A row is in here only while no batch that was issued after its
 * generation names its key, so that its value is that of every state from then on: a snapshot of the same or a later
 * generation may take it, an earlier one may not. A value may be noted for the generation of the snapshot that it was read
 * from, as long as that is the newest. A snapshot that was cut while a batch was on its way has no generation.
 */
export class RowCache {
  readonly #mostRows: number;
  #generation = 0;
  #inFlight = 0;
  /** Rows by the bytes of their key. What was not asked for in the time of one map is forgotten with the next change of maps. */
  #young = new Map<string, CachedRow>();
  #old = new Map<string, CachedRow>();

  constructor(mostRows: number = limits.rowCacheRows) {
    this.#mostRows = mostRows;
  }

  /** The generation of a state that is cut now, or `null` while a batch is on its way. */
  get generation(): number | null {
    return this.#inFlight === 0 ? this.#generation : null;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Call it before a batch is applied, in the same step as what applies it, and `applied` when that has ended. */
  issued(batch: WriteBatch): void {
    this.#generation += 1;
    this.#inFlight += 1;
    if (this.size === 0) return;
    if (batch.count > limits.rowCacheBatchEntries) {
      this.#young.clear();
      this.#old.clear();
    } else {
      this.#forgetKeysOf(batch);
    }
  }

  applied(): void {
    this.#inFlight -= 1;
  }

  /** What a snapshot of this generation holds under a key, if that is known. */
  get(key: string, generation: number): CachedValue | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.since <= generation ? young.value : undefined;
    const row = this.#old.get(key);
    if (row === undefined || row.since > generation) return undefined;
    this.#old.delete(key);
    this.#keep(key, row);
    return row.value;
  }

  /** Notes what a snapshot of this generation holds under a key, unless the key or the value is too long. The value is copied. */
  note(key: string, value: CachedValue, generation: number): void {
    if (generation !== this.#generation || key.length > limits.rowCacheKeyBytes) return;
    if (value !== null && value.length > limits.rowCacheValueBytes) return;
    this.#old.delete(key);
    this.#keep(key, { value: value === null ? null : new Uint8Array(value), since: generation });
  }

  #keep(key: string, row: CachedRow): void {
    this.#young.set(key, row);
    if (this.#young.size < this.#mostRows / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  #forgetKeysOf({ count, data, ends }: WriteBatch): void {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    for (let i = 0, start = 0; i < count; i++) {
      const keyEnd = ends[2 * i]!;
      const valueEnd = ends[2 * i + 1]!;
      if (keyEnd - start <= limits.rowCacheKeyBytes) {
        const key = bytes.toString("latin1", start, keyEnd);
        this.#young.delete(key);
        this.#old.delete(key);
      }
      start = valueEnd === absent ? keyEnd : valueEnd;
    }
  }
}
