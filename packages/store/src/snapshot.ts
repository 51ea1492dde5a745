import type { DbSnapshot } from "@slatedb/uniffi";
import { ClosedError } from "@moraine/codec";
import type { KeyRange, PackedKeys, PackedValues, RowBlock, ScanOptions, StoreSnapshot } from "./interface.js";
import { getChecked, scanChecked, type ReadContext } from "./reads.js";

/** A pinned cut of one engine. */
export class SlateSnapshot implements StoreSnapshot {
  readonly #snapshot: DbSnapshot;
  readonly #context: ReadContext;
  readonly #onRelease: (snapshot: SlateSnapshot) => void;
  #ended: Error | null = null;

  constructor(snapshot: DbSnapshot, context: ReadContext, onRelease: (snapshot: SlateSnapshot) => void) {
    this.#snapshot = snapshot;
    this.#context = context;
    this.#onRelease = onRelease;
  }

  getMany(keys: PackedKeys): Promise<PackedValues> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return getChecked(this.#context, this.#snapshot, keys);
  }

  scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    return scanChecked(this.#context, () => this.#open(), range, options);
  }

  release(): void {
    this.lose(new ClosedError("the snapshot has been released", { remedy: "Take a new snapshot." }));
    this.#onRelease(this);
  }

  /** Ends the snapshot with a reason: its engine is gone, or it was released. */
  lose(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#snapshot.dispose();
  }

  #open(): DbSnapshot {
    if (this.#ended !== null) throw this.#ended;
    return this.#snapshot;
  }
}
