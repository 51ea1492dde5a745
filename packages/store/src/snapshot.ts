import { ClosedError } from "@moraine/codec";
import { type CachedCut, getCached } from "./cached-reads.js";
import type { KeyRange, PackedKeys, PackedValues, RowBlock, ScanOptions, StoreSnapshot } from "./interface.js";
import type { SlateSnapshotHandle } from "./loops.js";
import { getChecked, scanChecked, type ReadSource } from "./reads.js";

/** A pinned cut of one engine. */
export class SlateSnapshot implements StoreSnapshot {
  readonly #snapshot: SlateSnapshotHandle;
  readonly #source: ReadSource;
  readonly #cut: CachedCut | null;
  readonly #onRelease: (snapshot: SlateSnapshot) => void;
  /** Calls of `getMany` under way, which keep what they read. */
  #reads = 0;
  #ended: Error | null = null;

  constructor(
    snapshot: SlateSnapshotHandle,
    engineSource: ReadSource,
    cut: CachedCut | null,
    onRelease: (snapshot: SlateSnapshot) => void,
  ) {
    this.#snapshot = snapshot;
    this.#cut = cut;
    this.#source = {
      ...engineSource,
      from: snapshot,
      failed: (error, doing) => this.#ended ?? engineSource.failed(error, doing),
    };
    this.#onRelease = onRelease;
  }

  getMany(keys: PackedKeys): Promise<PackedValues> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const reading = this.#cut === null ? getChecked(this.#source, keys) : getCached(this.#source, this.#cut, keys);
    this.#reads += 1;
    return reading.then(this.#answered, this.#failed);
  }

  scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    return scanChecked(() => this.#open(), range, options);
  }

  release(): void {
    this.lose(new ClosedError("the snapshot has been released", { remedy: "Take a new snapshot." }));
    this.#onRelease(this);
  }

  /** Ends the snapshot with a reason: its engine is gone, or it was released. */
  lose(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    if (this.#reads === 0) this.#snapshot.dispose();
  }

  // The same functions for all reads: a single get would notice a pair of its own.
  readonly #answered = (values: PackedValues): PackedValues => {
    this.#readEnded();
    return values;
  };

  readonly #failed = (error: unknown): never => {
    this.#readEnded();
    throw error;
  };

  #readEnded(): void {
    this.#reads -= 1;
    if (this.#reads === 0 && this.#ended !== null) this.#snapshot.dispose();
  }

  #open(): ReadSource {
    if (this.#ended !== null) throw this.#ended;
    return this.#source;
  }
}
