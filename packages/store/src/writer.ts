import { ClosedError, FencedError, type MoraineError, StoreError, StoreUnavailableError } from "@moraine/codec";
import { checkBatch } from "./arguments.js";
import type { CachedCut } from "./cached-reads.js";
import { isRemote, type Backend } from "./backend.js";
import { combineBatches } from "./combine-batches.js";
import { Deadlines } from "./deadlines.js";
import { recoveryChannel, type RecoveryEvent } from "./diagnostics.js";
import { Engine, type EngineOptions } from "./engine.js";
import type {
  KeyRange,
  PackedKeys,
  PackedValues,
  RowBlock,
  ScanOptions,
  StoreSnapshot,
  WritableStore,
  WriteBatch,
  WriteReceipt,
} from "./interface.js";
import { limits } from "./limits.js";
import type { StoreLoops } from "./loops.js";
import { copyKeys } from "./packed.js";
import { getChecked, scanChecked, type ReadSource } from "./reads.js";
import { RowCache } from "./row-cache.js";
import { storeErrorFrom } from "./slate-errors.js";
import { SlateSnapshot } from "./snapshot.js";
import { StallGuard } from "./stall-guard.js";
import { detach, within } from "./within.js";

export interface WriterOptions extends EngineOptions {
  readonly requestTimeoutMs: number;
  /** Told once, when the handle ends by itself. */
  readonly onFailure?: ((error: MoraineError) => void) | undefined;
  readonly now: () => number;
}

/** A batch that has not been acknowledged yet, and the engine it was last applied to. */
interface PendingWrite {
  readonly batch: WriteBatch;
  engine: Engine;
  /** `null` until the recovery that is under way or due applies the batch. */
  applied: Promise<bigint> | null;
  /** Ends the wait for durability on an engine. */
  abort: (reason: Error) => void;
  /** A later batch was found durable on the engine that this one was applied to before it: so is this one. */
  covered: boolean;
}

/**
 * The one writer of a store. The order of steps in a write: apply the batch, flush, check that the store's folder is still where
 * it was opened, that the engine is still the one and that no stall lies in between, only then acknowledge. After a stall (see
 * StallGuard) the handle looks whether it has been displaced; if so it is finished, otherwise it opens a new engine, which fences
 * whatever the old one still has under way, and applies all unacknowledged batches again in their order. Applying a batch twice
 * does no harm: batches hold values, not differences, and nothing else writes.
 */
export class SlateWriter implements WritableStore {
  readonly location: string;
  readonly #backend: Backend;
  readonly #loops: StoreLoops;
  readonly #options: WriterOptions;
  readonly #guard: StallGuard;
  readonly #deadlines: Deadlines;
  /** In the order of their calls. */
  readonly #pending = new Map<PendingWrite, Promise<WriteReceipt>>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #watch: NodeJS.Timeout | undefined;
  readonly #rows = new RowCache();
  /** When a snapshot's read was last answered by the engine. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #engine: Engine;
  #source: ReadSource;
  #recovering: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #failure: MoraineError | null = null;

  private constructor(backend: Backend, loops: StoreLoops, options: WriterOptions, guard: StallGuard, engine: Engine) {
    this.location = backend.location.url;
    this.#backend = backend;
    this.#loops = loops;
    this.#options = options;
    this.#guard = guard;
    this.#deadlines = new Deadlines(options.requestTimeoutMs, () => this.#timeoutError("a read"));
    this.#engine = engine;
    this.#source = this.#sourceOf(engine);
    this.#heartbeat = setInterval(() => detach(this.#beat()), options.walMinAgeMs / 2 / limits.heartbeatsPerHalfAge);
    this.#heartbeat.unref();
    const { folder } = backend;
    if (folder === null) return;
    const look = async (): Promise<void> => this.#endIfGone(await folder.lookAside());
    this.#watch = setInterval(() => detach(look()), limits.folderWatchMs);
    this.#watch.unref();
  }

  static async open(backend: Backend, loops: StoreLoops, options: WriterOptions): Promise<SlateWriter> {
    // The guard starts before the opening, which is the moment from which we know that we are the writer.
    const guard = new StallGuard(options.walMinAgeMs, options.now);
    return new SlateWriter(backend, loops, options, guard, await Engine.open(backend, loops, options));
  }

  get failure(): Error | null {
    this.#look();
    return this.#failure;
  }

  async getMany(keys: PackedKeys): Promise<PackedValues> {
    // The caller may use its buffers again after the call, and a recovery may make the read wait, or repeat it.
    const own = copyKeys(keys);
    const source = this.#steady ? this.#source : await this.#ready();
    try {
      return await getChecked(source, own);
    } catch (error) {
      // Where the engine was replaced during the read, the new one answers.
      if (!this.#replaced(source)) throw error;
      return getChecked(await this.#ready(), own);
    }
  }

  scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    return scanChecked(() => (this.#steady ? this.#source : this.#ready()), range, options);
  }

  async snapshot(): Promise<StoreSnapshot> {
    const source = await this.#ready();
    const engine = this.#engine;
    const { generation } = this.#rows;
    const pinned = await this.#deadlines.limit(this.#loops.snapshot(engine.db), (error) => {
      return source.failed(error, "a snapshot could not be taken");
    });
    const cut = generation !== null && generation === this.#rows.generation ? this.#cutOf(engine, generation) : null;
    const snapshot = new SlateSnapshot(pinned, source, cut, (released) => engine.snapshots.delete(released));
    if (engine === this.#engine && this.#failure === null) engine.snapshots.add(snapshot);
    else snapshot.lose(this.#failure ?? reopened());
    return snapshot;
  }

  write(batch: WriteBatch): Promise<WriteReceipt> {
    // So that a commit that comes later than a moment after the folder was moved certainly does not land.
    if (this.#failure === null) this.#endIfGone(this.#backend.folder?.glanceAgain());
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#closing !== null) return Promise.reject(new ClosedError("the store is being closed"));
    try {
      checkBatch(batch);
    } catch (error) {
      return Promise.reject(storeErrorFrom(error, "a write failed"));
    }
    const engine = this.#engine;
    // When a recovery is under way or due, it applies this batch, after the older ones.
    const held = !this.#steady;
    const applied = held ? null : this.#apply(engine, batch);
    const pending: PendingWrite = { batch, engine, applied, abort: () => undefined, covered: false };
    const acknowledged = this.#acknowledge(pending, held).finally(() => this.#pending.delete(pending));
    this.#pending.set(pending, acknowledged);
    return acknowledged;
  }

  async checkpointMemory(): Promise<void> {
    await this.#ready();
    const engine = this.#engine;
    try {
      await within(engine.checkpoint(), limits.openTimeoutMs, () => this.#timeoutError("moving memory to tables"));
    } catch (error) {
      if (this.#isInUse(engine)) {
        throw this.#writeFailed(error, "memory could not be moved to tables");
      }
      // The old engine's memory is in the new one, by the write-ahead log.
      await this.checkpointMemory();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits until the batch is durable on an engine that can be trusted. */
  async #acknowledge(pending: PendingWrite, held: boolean): Promise<WriteReceipt> {
    if (held) await this.#recover();
    for (let attempt = 0; attempt <= limits.stallRecoveries; attempt++) {
      const { engine } = pending;
      const began = this.#guard.moment();
      try {
        const sequence = await this.#durable(pending);
        if (pending.covered) return { sequence };
        // Also not while a recovery is under way, which is about to apply the older batches again, over this one.
        if (this.#isInUse(engine)) {
          this.#guard.confirm(began);
          this.#coverOlder(pending);
          this.#checkpointIfDue(engine);
          return { sequence };
        }
      } catch (error) {
        // What ended the wait is no news of a batch that is durable.
        if (pending.covered && pending.applied !== null) return { sequence: await pending.applied };
        // An engine that was replaced fails whatever it had under way; the recovery has applied the batch again.
        if (this.#isInUse(engine)) throw this.#writeFailed(error, "a write failed");
      }
      if (this.#failure !== null) throw this.#failure;
      if (!this.#steady) await this.#recover();
    }
    throw this.#end(
      new StoreError("a write met one stall after another", {
        remedy: "Open the store again when the machine runs steadily.",
      }),
    );
  }

  /**
   * Older batches that were applied to the same engine are durable with the one that is about to be acknowledged. They may not know it
   * yet, as each waits for a flush of its own; a recovery must not apply them again, over the newer one.
   */
  #coverOlder(acknowledged: PendingWrite): void {
    for (const pending of this.#pending.keys()) {
      if (pending === acknowledged) return;
      if (pending.engine === acknowledged.engine && pending.applied !== null) pending.covered = true;
    }
  }

  /** Settles when the batch is durable on its engine, when that takes too long, or when the engine or the handle ends. */
  #durable(pending: PendingWrite): Promise<bigint> {
    const { engine } = pending;
    const { requestTimeoutMs, flushDelayMs } = this.#options;
    return new Promise((resolve, reject) => {
      pending.abort = reject;
      const tooLate = setTimeout(() => reject(this.#timeoutError("a write")), requestTimeoutMs + flushDelayMs);
      const probe = setTimeout(() => detach(this.#probe(engine)), limits.slowWriteProbeMs + flushDelayMs);
      const done = (async () => {
        if (pending.applied === null) throw new Error("a batch that waited for a recovery was not applied by it");
        const sequence = await pending.applied;
        if (!pending.covered) await engine.durable(sequence);
        return sequence;
      })();
      done.then(resolve, reject).finally(() => {
        clearTimeout(tooLate);
        clearTimeout(probe);
      });
    });
  }

  /** Applies a batch; a failure is seen by whoever waits for it. */
  #apply(engine: Engine, batch: WriteBatch): Promise<bigint> {
    this.#rows.issued(batch);
    const applied = this.#loops.write(engine.db, batch).finally(() => this.#rows.applied());
    detach(applied);
    return applied;
  }

  #cutOf(engine: Engine, generation: number): CachedCut {
    return {
      rows: this.#rows,
      generation,
      usable: () =>
        engine === this.#engine &&
        this.#steady &&
        this.#closing === null &&
        performance.now() - this.#answeredMs < limits.rowCacheTrustMs,
      answered: () => {
        this.#answeredMs = performance.now();
      },
    };
  }

  #checkpointIfDue(engine: Engine): void {
    if (!engine.checkpointDue) return;
    engine.checkpoint().catch((error: unknown) => {
      if (this.#isInUse(engine) && this.#closing === null) {
        this.#writeFailed(error, "memory could not be moved to tables");
      }
    });
  }

  /** Whether the engine can be used as it is. */
  get #steady(): boolean {
    return this.#failure === null && this.#recovering === null && !this.#guard.stalled();
  }

  /** Whether an engine serves the handle and nothing is about to replace it: what it says now counts. */
  #isInUse(engine: Engine): boolean {
    return engine === this.#engine && this.#steady;
  }

  /** What to read from now, after a recovery if one is due. */
  async #ready(): Promise<ReadSource> {
    this.#look();
    if (this.#failure !== null) throw this.#failure;
    if (this.#closing !== null) throw new ClosedError("the store is being closed");
    if (!this.#steady) await this.#recover();
    return this.#source;
  }

  #sourceOf(engine: Engine): ReadSource {
    return {
      from: engine.db,
      loops: this.#loops,
      remote: isRemote(this.#backend.location),
      deadlines: this.#deadlines,
      failed: (error, doing) => this.#readFailed(engine, error, doing),
    };
  }

  /** Whether the source's engine has made place for another one, or is about to. */
  #replaced(source: ReadSource): boolean {
    return this.#failure === null && this.#closing === null && (source !== this.#source || this.#recovering !== null);
  }

  #recover(): Promise<void> {
    if (this.#recovering !== null) return this.#recovering;
    const recovery = this.#replaceEngine().finally(() => {
      if (this.#recovering === recovery) this.#recovering = null;
    });
    this.#recovering = recovery;
    return recovery;
  }

  async #replaceEngine(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const old = this.#engine;
    const began = performance.now();
    try {
      const moment = this.#guard.moment();
      await this.#checkNotDisplaced(old.epoch);
      const next = await Engine.open(this.#backend, this.#loops, this.#options);
      if (next.epoch !== old.epoch + 1n) {
        // Another writer came between the look and the opening. It has the better right: it did not sleep.
        await next.shutdown(reopened());
        throw new FencedError("a newer writer has opened this store");
      }
      this.#engine = next;
      this.#source = this.#sourceOf(next);
      this.#guard.confirm(moment);
      // In the same step as the batches are applied again: one that comes later is neither forgotten nor overtaken.
      this.#recovering = null;
      this.#applyAgain(next);
      if (recoveryChannel.hasSubscribers) recoveryChannel.publish(this.#recoveryEvent(performance.now() - began));
    } catch (error) {
      throw this.#end(storeErrorFrom(error, "the store could not be opened again after a stall"));
    }
    detach(old.shutdown(reopened()));
  }

  /**
   * Applies all that is unacknowledged to a new engine, in one batch. Its log may hold the first of them already: applied again
   * one by one, those would show, and leave behind after a crash, states that never were.
   */
  #applyAgain(engine: Engine): void {
    let left = [...this.#pending.keys()];
    for (const pending of left) if (pending.covered) pending.abort(reopened());
    left = left.filter((pending) => !pending.covered);
    while (left.length > 0) {
      const { combined, batch } = combineBatches(left.map((pending) => pending.batch));
      const applied = this.#apply(engine, batch);
      for (const pending of left.slice(0, combined)) {
        pending.engine = engine;
        pending.applied = applied;
        // The old engine may never answer. Who went on waiting for it would be overtaken by a later batch, and put back what
        // that one has changed if it were applied once more.
        pending.abort(reopened());
      }
      left = left.slice(combined);
    }
  }

  #recoveryEvent(durationMs: number): RecoveryEvent {
    let bytes = 0;
    for (const { batch } of this.#pending.keys()) bytes += batch.data.length;
    return { location: this.location, batches: this.#pending.size, bytes, durationMs };
  }

  async #checkNotDisplaced(epoch: bigint): Promise<void> {
    const ended = this.#look();
    if (ended !== null) throw ended;
    const reading = this.#backend.readManifest();
    const manifest = await within(reading, this.#options.requestTimeoutMs, () =>
      this.#timeoutError("reading the manifest"),
    );
    if (manifest?.writerEpoch !== epoch) throw new FencedError("a newer writer has opened this store");
  }

  async #beat(): Promise<void> {
    const engine = this.#engine;
    const moment = this.#guard.moment();
    try {
      await this.#checkNotDisplaced(engine.epoch);
      if (this.#isInUse(engine)) this.#guard.confirm(moment);
    } catch (error) {
      // A look that fails is no news; the guard demands a recovery when looks keep failing for too long.
      if (error instanceof FencedError && engine === this.#engine && this.#recovering === null) this.#end(error);
    }
  }

  /** Finds out why a write takes so long; a place that cannot be written ends the handle at once. */
  async #probe(engine: Engine): Promise<void> {
    // The writes that wait go into one object.
    let bytes = 0;
    for (const { batch } of this.#pending.keys()) bytes += batch.data.length;
    const error = await this.#backend.diagnose(this.#options.requestTimeoutMs, bytes);
    if (error !== undefined && engine === this.#engine) this.#end(error);
  }

  #timeoutError(what: string): StoreUnavailableError {
    return new StoreUnavailableError(`${what} took longer than ${this.#options.requestTimeoutMs} ms`, {
      remedy: "Check that the store's place answers, then open it again.",
    });
  }

  /** Ends the handle where the store's folder is not the one any more that was opened. Gives why it has ended. */
  #look(): MoraineError | null {
    if (this.#failure === null) this.#endIfGone(this.#backend.folder?.look());
    return this.#failure;
  }

  #endIfGone(gone: MoraineError | undefined): void {
    if (gone !== undefined) this.#end(gone);
  }

  /** Types the failure of a read. One that shows that the handle is displaced ends it. */
  #readFailed(engine: Engine, error: unknown, doing: string): Error {
    const ended = this.#look();
    if (ended !== null) return ended;
    const typed = storeErrorFrom(error, doing);
    if (typed.code !== "fenced" && typed.code !== "closed") return typed;
    if (engine !== this.#engine || this.#recovering !== null) return reopened();
    if (typed.code === "fenced") return this.#end(typed);
    return this.#closing === null ? typed : new ClosedError("the store has been closed");
  }

  /** Types the failure of a write, after which nothing is known about the batch: the handle ends. */
  #writeFailed(error: unknown, doing: string): MoraineError {
    const ended = this.#look();
    if (ended !== null) return ended;
    const typed = storeErrorFrom(error, doing);
    return this.#end(
      typed.code === "closed" && this.#closing !== null ? new ClosedError("the store has been closed") : typed,
    );
  }

  /** Ends the handle: from now on every call fails with this error. */
  #end(error: MoraineError): MoraineError {
    if (this.#failure !== null) return this.#failure;
    this.#failure = error;
    this.#stopTimers();
    for (const pending of this.#pending.keys()) pending.abort(error);
    detach(this.#engine.shutdown(error));
    this.#options.onFailure?.(error);
    return error;
  }

  #stopTimers(): void {
    clearInterval(this.#heartbeat);
    clearInterval(this.#watch);
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#pending.values());
    if (this.#recovering !== null) await Promise.allSettled([this.#recovering]);
    const engine = this.#engine;
    let failure: MoraineError | undefined;
    // In a folder that has been deleted the engine would never finish.
    if (this.#look() === null) {
      try {
        await within(engine.finish(), limits.closeTimeoutMs, () => this.#timeoutError("closing"));
      } catch (error) {
        const typed = storeErrorFrom(error, "the store could not be closed cleanly");
        // One that was displaced has nothing left to save: each of its writes was acknowledged or has failed.
        if (typed.code !== "fenced") failure = typed;
      }
    }
    this.#failure ??= new ClosedError("the store has been closed");
    this.#stopTimers();
    this.#deadlines.close();
    await engine.shutdown(this.#failure);
    this.#backend.close();
    if (failure !== undefined) throw failure;
  }
}

function reopened(): ClosedError {
  return new ClosedError("the store was opened again after a stall", {
    remedy: "Read again, with a new snapshot or scan.",
  });
}
