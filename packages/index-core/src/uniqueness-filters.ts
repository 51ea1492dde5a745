import { indexPrefix, prefixEnd } from "@moraine/codec";
import type { RowBlock, WritableStore, WriteBatch, WriteReceipt } from "@moraine/store";
import { CommitPlanner } from "./commit-planner.js";
import { indexIdOfKey } from "./index-id-of-key.js";
import { type FilterEvent, type FilterOutcome, Residence } from "./filter-residence.js";
import { KeyFilter } from "./key-filter.js";
import {
  entriesPerTurn,
  filterDeadShare,
  filterGrowthFactors,
  filterMinimumKeys,
  filterRebuildMinimumKeys,
  filterRoomFactor,
  filterScanBlockRows,
  filterScanRowsPerMiss,
  filtersMaxBytes,
} from "./limits.js";
import { atOnce, inTurns, type Slices } from "./slices.js";
import { indexKeyPrefixBytes } from "./stored-row-ids.js";
import { valueKeys } from "./written-keys.js";

export interface UniquenessFilterOptions {
  /** The store's one writer: what it has written it reads. */
  readonly store: WritableStore;
  /** About how many rows an index has to be scanned for; `undefined` for one that is gone. An index that is about to be made has 0. */
  readonly rowsOf: (indexId: bigint) => number | undefined;
  readonly tell?: ((event: FilterEvent) => void) | undefined;
  /** Memory of all filters together. Default `filtersMaxBytes`; another one is for tests. */
  readonly maxBytes?: number;
}

/**
 * Which value keys of a store's unique indexes are surely absent, for the store's one writer: a `KeyFilter` for each index
 * that is worth one. A key that is stored, or that a batch in flight puts, is never taken for absent:
 *
 * 1. A filter is registered only while no batch is in flight. Everything written before is stored by then, and the scan of
 *    the index starts afterwards, so that it sees all of it.
 * 2. Every batch goes through `write`, which adds each value key that it puts to the filters registered by then, complete or
 *    not, before it hands the batch to the store. That may take several turns of the event loop, and the batch is in flight
 *    from before the first of them. Nothing else writes index entries.
 * 3. A filter answers once its scan has come to the end.
 *
 * Whatever goes wrong can only leave too much in a filter: a deleted entry leaves its key, a batch that failed leaves all of
 * its own, and then a probe decides as it would without a filter. A write whose outcome is not known might still arrive, so
 * that nothing is registered after one. An answer counts for as long as a planner's probes count: until its batch is written.
 */
export class UniquenessFilters {
  readonly #store: WritableStore;
  readonly #rowsOf: (indexId: bigint) => number | undefined;
  readonly #tell: ((event: FilterEvent) => void) | undefined;
  readonly #maxBytes: number;
  readonly #residences = new Map<bigint, Residence>();
  #uses = 0;
  /** Batches handed to the store whose success it has not reported. */
  #inFlight = 0;
  #build: Promise<void> | undefined;
  #closed = false;

  constructor(options: UniquenessFilterOptions) {
    this.#store = options.store;
    this.#rowsOf = options.rowsOf;
    this.#tell = options.tell;
    this.#maxBytes = options.maxBytes ?? filtersMaxBytes;
  }

  /** Memory of all filters. */
  get bytes(): number {
    let bytes = 0;
    for (const residence of this.#residences.values()) bytes += residence.bytes;
    return bytes;
  }

  /**
   * The filter that can answer for a unique index, if there is one. Ask again after every `await`: a filter that was given up
   * is not kept current. Starts a build where one is due.
   */
  filterOf(indexId: bigint): KeyFilter | undefined {
    if (this.#closed) return undefined;
    let residence = this.#residences.get(indexId);
    if (residence === undefined) this.#residences.set(indexId, (residence = new Residence(indexId)));
    residence.usedAt = ++this.#uses;
    if (this.#inFlight === 0 && this.#build === undefined) this.#buildIfDue(residence);
    return residence.ready;
  }

  /** Counts probes of an index that found nothing. */
  noteMisses(indexId: bigint, misses: number): void {
    const residence = this.#residences.get(indexId);
    if (residence !== undefined) residence.misses += misses;
  }

  /** A planner for one batch, which is then written through `write`. */
  planner(): CommitPlanner {
    return new CommitPlanner(this.#store, this);
  }

  /** Notes what a batch puts, in turns of the event loop where that is much, and writes it. */
  async write(batch: WriteBatch): Promise<WriteReceipt> {
    // On its way before the first key is noted: a filter that is registered in between would miss what was noted before.
    this.#inFlight++;
    if (this.#residences.size > 0) {
      if (batch.count > entriesPerTurn) await inTurns(this.#note(batch));
      else atOnce(this.#note(batch));
    }
    const receipt = await this.#store.write(batch);
    this.#inFlight--;
    return receipt;
  }

  /** Gives all filters up and waits for a build to end. Writes go on being passed on. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const residence of this.#residences.values()) residence.ready = undefined;
    await this.#build;
    this.#residences.clear();
  }

  #buildIfDue(residence: Residence): void {
    const expectedKeys = this.#dueKeys(residence);
    if (expectedKeys === undefined) return;
    this.#forgetDropped();
    if (!this.#makeRoom(KeyFilter.bytesFor(expectedKeys), residence)) {
      residence.postpone();
      return;
    }
    const building = new KeyFilter(expectedKeys);
    residence.building = building;
    this.#build = Promise.resolve()
      .then(() => this.#fill(residence, building))
      .finally(() => {
        this.#build = undefined;
      });
  }

  /** Keys to make room for, if the index should get a filter, or another one, now. */
  #dueKeys({ indexId, ready, misses, retryFromMisses, leastRows }: Residence): number | undefined {
    if (ready !== undefined) {
      const mostlyDead = ready.keys >= filterRebuildMinimumKeys && ready.gone >= ready.keys * filterDeadShare;
      return mostlyDead && this.#rowsOf(indexId) !== undefined ? withRoom(ready.keys - ready.gone) : undefined;
    }
    if (misses < retryFromMisses) return undefined;
    const estimate = this.#rowsOf(indexId);
    if (estimate === undefined) return undefined;
    const rows = Math.max(estimate, leastRows);
    return misses * filterScanRowsPerMiss >= rows ? withRoom(rows) : undefined;
  }

  /** Fills a registered filter with what is stored. Never throws: a filter that could not be built is none. */
  async #fill(residence: Residence, building: KeyFilter): Promise<void> {
    const beganMs = performance.now();
    let outcome: FilterOutcome = "ready";
    let error: unknown;
    try {
      const start = indexPrefix("unique", residence.indexId);
      const range = { start, end: prefixEnd(start) };
      for await (const block of this.#store.scan(range, { blockRows: filterScanBlockRows })) {
        if (this.#closed || !this.#addBlock(residence, block)) break;
      }
    } catch (cause) {
      outcome = "failed";
      error = cause;
    }
    if (this.#closed) outcome = "stopped";
    else if (residence.building !== building) outcome = "outgrown";
    residence.building = undefined;
    if (outcome === "ready") {
      residence.ready = building;
      residence.misses = 0;
      residence.retryFromMisses = 0;
      residence.leastRows = 0;
    } else {
      residence.postpone();
    }
    this.#report(residence, building, outcome, performance.now() - beganMs, error);
  }

  /** Whether there is still a filter to fill. */
  #addBlock(residence: Residence, { count, data, ends }: RowBlock): boolean {
    for (let row = 0, start = 0; row < count; row++) {
      if (!this.#addToBuilding(residence, data, start + indexKeyPrefixBytes, ends[2 * row]!)) return false;
      start = ends[2 * row + 1]!;
    }
    return true;
  }

  /** Adds the value keys that a batch puts, and counts those that it deletes. */
  #note(batch: WriteBatch): Slices<undefined> {
    let residence: Residence | undefined;
    /** The key before, while it was one of an index: entries of one index mostly follow each other. */
    let latestStart = -1;
    return valueKeys(batch, (data, start, end, isPut) => {
      if (end - start <= indexKeyPrefixBytes) return;
      if (latestStart < 0 || !haveSameIndex(data, latestStart, start)) {
        residence = this.#residences.get(indexIdOfKey(data, start, end));
        latestStart = start;
      }
      if (residence === undefined) return;
      if (isPut) this.#addKey(residence, data, start + indexKeyPrefixBytes, end);
      else residence.noteGone();
    });
  }

  #addKey(residence: Residence, data: Uint8Array, start: number, end: number): void {
    this.#addToBuilding(residence, data, start, end);
    const { ready } = residence;
    if (ready === undefined) return;
    if (ready.isFull && !ready.mayHold(data, start, end) && !this.#extend(ready, residence)) {
      residence.leastRows = ready.keys - ready.gone;
      this.#giveUp(residence, "outgrown");
      return;
    }
    ready.add(data, start, end);
  }

  /** Whether there is still a filter being built. */
  #addToBuilding(residence: Residence, data: Uint8Array, start: number, end: number): boolean {
    const { building } = residence;
    if (building === undefined) return false;
    if (building.isFull && !building.mayHold(data, start, end) && !this.#extend(building, residence)) {
      residence.leastRows = building.keys;
      residence.building = undefined;
      return false;
    }
    building.add(data, start, end);
    return true;
  }

  #extend(filter: KeyFilter, residence: Residence): boolean {
    const room = this.#maxBytes - this.bytes;
    for (const factor of filterGrowthFactors) {
      const moreKeys = Math.ceil(filter.keys * factor);
      const bytes = KeyFilter.bytesFor(moreKeys);
      // Room for keys that may never come is no reason to take another index's filter away.
      if (bytes > room && (factor > 1 || !this.#makeRoom(bytes, residence))) continue;
      filter.extend(moreKeys);
      return true;
    }
    return false;
  }

  /** Frees memory for an index by giving up filters that were not used for longest. `false` where that would not do. */
  #makeRoom(bytes: number, taker: Residence): boolean {
    const others = [...this.#residences.values()].filter((other) => other !== taker && other.ready !== undefined);
    let excess = this.bytes + bytes - this.#maxBytes;
    if (others.reduce((sum, { ready }) => sum + ready!.bytes, 0) < excess) return false;
    others.sort((left, right) => left.usedAt - right.usedAt);
    for (const other of others) {
      if (excess <= 0) break;
      excess -= other.ready!.bytes;
      this.#giveUp(other, "evicted");
    }
    return true;
  }

  /** Index ids are not given out twice: what is known of a dropped index is of no use any more. */
  #forgetDropped(): void {
    for (const residence of this.#residences.values()) {
      if (residence.building !== undefined || this.#rowsOf(residence.indexId) !== undefined) continue;
      this.#giveUp(residence, "dropped");
      this.#residences.delete(residence.indexId);
    }
  }

  #giveUp(residence: Residence, outcome: FilterOutcome): void {
    const { ready } = residence;
    if (ready === undefined) return;
    residence.ready = undefined;
    residence.misses = 0;
    this.#report(residence, ready, outcome);
  }

  #report({ indexId }: Residence, filter: KeyFilter, outcome: FilterOutcome, durationMs = 0, error?: unknown): void {
    this.#tell?.({ indexId, outcome, keys: filter.keys, bytes: filter.bytes, durationMs, error });
  }
}

function withRoom(keys: number): number {
  return Math.max(filterMinimumKeys, Math.ceil(keys * filterRoomFactor));
}

function haveSameIndex(data: Uint8Array, left: number, right: number): boolean {
  for (let i = indexKeyPrefixBytes - 1; i >= 0; i--) if (data[left + i] !== data[right + i]) return false;
  return true;
}
