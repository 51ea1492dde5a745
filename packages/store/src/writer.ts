import { ClosedError, FencedError, type MoraineError, StoreError, StoreUnavailableError } from "@moraine/codec";
import { checkBatch } from "./arguments.js";
import type { Backend } from "./backend.js";
import { Deadlines } from "./deadlines.js";
import { Engine, shutdownQuietly, type EngineOptions } from "./engine.js";
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
import { getChecked, scanChecked, type ReadContext } from "./reads.js";
import { storeErrorFrom } from "./slate-errors.js";
import { SlateSnapshot } from "./snapshot.js";
import { StallGuard } from "./stall-guard.js";
import { detach, within } from "./within.js";

export interface WriterOptions extends EngineOptions {
  readonly requestTimeoutMs: number;
  readonly now: () => number;
}

/** A batch that has not been acknowledged yet, and the engine it was last applied to. */
interface PendingWrite {
  readonly batch: WriteBatch;
  engine: Engine;
  applied: Promise<bigint>;
  /** Ends the wait for durability. */
  abort: (reason: Error) => void;
}

/**
 * The one writer of a store. The order of steps in a write: apply the batch, flush, check that the engine is still the one
 * and that no stall lies in between, only then acknowledge. After a stall (see StallGuard) the handle looks whether it
 * has been displaced; if so it is finished, otherwise it opens a new engine, which fences whatever the old one still has
 * under way, and applies all unacknowledged batches again in their order. Applying a batch twice does no harm: batches hold
 * values, not differences, and nothing else writes.
 */
export class SlateWriter implements WritableStore {
  readonly location: string;
  readonly #backend: Backend;
  readonly #loops: StoreLoops;
  readonly #options: WriterOptions;
  readonly #guard: StallGuard;
  readonly #context: ReadContext;
  readonly #pending = new Set<PendingWrite>();
  readonly #heartbeat: NodeJS.Timeout;
  #engine: Engine;
  #recovering: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #failure: MoraineError | null = null;

  private constructor(backend: Backend, loops: StoreLoops, options: WriterOptions, guard: StallGuard, engine: Engine) {
    this.location = backend.location.url;
    this.#backend = backend;
    this.#loops = loops;
    this.#options = options;
    this.#guard = guard;
    this.#engine = engine;
    const deadlines = new Deadlines(options.requestTimeoutMs, () => this.#timeoutError("a read"));
    this.#context = { loops, deadlines, failed: (error, doing) => this.#failed(error, doing) };
    this.#heartbeat = setInterval(() => detach(this.#beat()), options.walMinAgeMs / 2 / limits.heartbeatsPerHalfAge);
    this.#heartbeat.unref();
  }

  static async open(backend: Backend, loops: StoreLoops, options: WriterOptions): Promise<SlateWriter> {
    // The guard starts before the opening, which is the moment from which we know that we are the writer.
    const guard = new StallGuard(options.walMinAgeMs, options.now);
    return new SlateWriter(backend, loops, options, guard, await Engine.open(backend, options));
  }

  get failure(): Error | null {
    return this.#failure;
  }

  getMany(keys: PackedKeys): Promise<PackedValues> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#recovering === null && !this.#guard.stalled()) return getChecked(this.#context, this.#engine.db, keys);
    return this.#ready().then((engine) => getChecked(this.#context, engine.db, keys));
  }

  scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    return scanChecked(this.#context, async () => (await this.#ready()).db, range, options);
  }

  async snapshot(): Promise<StoreSnapshot> {
    const engine = await this.#ready();
    try {
      const pinned = await this.#context.deadlines.limit(engine.db.snapshot());
      const snapshot = new SlateSnapshot(pinned, this.#context, (released) => engine.snapshots.delete(released));
      engine.snapshots.add(snapshot);
      if (engine !== this.#engine) snapshot.lose(reopened());
      return snapshot;
    } catch (error) {
      throw this.#failed(error, "a snapshot could not be taken");
    }
  }

  write(batch: WriteBatch): Promise<WriteReceipt> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#closing !== null) return Promise.reject(new ClosedError("the store is being closed"));
    try {
      checkBatch(batch);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    const engine = this.#engine;
    // While a recovery is under way or due it applies this batch, after the older ones.
    const held = this.#recovering !== null || this.#guard.stalled();
    const applied = held ? Promise.resolve(0n) : this.#apply(engine, batch);
    const pending: PendingWrite = { batch, engine, applied, abort: () => undefined };
    this.#pending.add(pending);
    return this.#acknowledge(pending, held).finally(() => this.#pending.delete(pending));
  }

  async checkpointMemory(): Promise<void> {
    const engine = await this.#ready();
    try {
      await within(engine.checkpoint(), limits.openTimeoutMs, () => this.#timeoutError("moving memory to tables"));
    } catch (error) {
      throw this.#failed(error, "memory could not be moved to tables");
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
      const engine = pending.engine;
      const began = this.#guard.moment();
      try {
        const sequence = await this.#durable(pending);
        if (engine === this.#engine && !this.#guard.stalled()) {
          this.#guard.confirm(began);
          this.#checkpointIfDue(engine);
          return { sequence };
        }
      } catch (error) {
        // An engine that was replaced fails whatever it had under way; the recovery has applied the batch again.
        if (engine === this.#engine && !this.#guard.stalled()) throw this.#failed(error, "a write failed", true);
      }
      if (this.#failure !== null) throw this.#failure;
      if (engine === this.#engine || this.#recovering !== null) await this.#recover();
    }
    throw this.#end(
      new StoreError("a write met one stall after another", {
        remedy: "Open the store again when the machine runs steadily.",
      }),
    );
  }

  /** Settles when the batch is durable on its engine, when that takes too long, or when the handle ends. */
  #durable(pending: PendingWrite): Promise<bigint> {
    const { engine } = pending;
    const limitMs = this.#options.requestTimeoutMs + this.#options.flushDelayMs;
    return new Promise((resolve, reject) => {
      pending.abort = reject;
      const tooLate = setTimeout(() => reject(this.#timeoutError("a write")), limitMs);
      const probe = setTimeout(() => {
        detach(this.#probe(engine));
      }, limits.slowWriteProbeMs + this.#options.flushDelayMs);
      const done = (async () => {
        const sequence = await pending.applied;
        await engine.durable(sequence);
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
    const applied = this.#loops.write(engine.db, batch, false);
    detach(applied);
    return applied;
  }

  #checkpointIfDue(engine: Engine): void {
    if (!engine.checkpointDue) return;
    engine.checkpoint().catch((error: unknown) => {
      if (engine === this.#engine && this.#closing === null)
        this.#failed(error, "memory could not be moved to tables", true);
    });
  }

  /** The engine to use now, after a recovery if one is due. */
  async #ready(): Promise<Engine> {
    if (this.#failure !== null) throw this.#failure;
    if (this.#closing !== null) throw new ClosedError("the store is being closed");
    if (this.#recovering !== null || this.#guard.stalled()) await this.#recover();
    return this.#engine;
  }

  #recover(): Promise<void> {
    this.#recovering ??= this.#replaceEngine().finally(() => {
      this.#recovering = null;
    });
    return this.#recovering;
  }

  async #replaceEngine(): Promise<void> {
    const old = this.#engine;
    try {
      const moment = this.#guard.moment();
      await this.#checkNotDisplaced(old.epoch);
      const next = await Engine.open(this.#backend, this.#options);
      if (next.epoch !== old.epoch + 1n) {
        // Another writer came between the look and the opening. It has the better right: it did not sleep.
        await shutdownQuietly(next.db);
        throw new FencedError("a newer writer has opened this store");
      }
      this.#engine = next;
      this.#guard.confirm(moment);
      for (const pending of this.#pending) {
        pending.engine = next;
        pending.applied = this.#apply(next, pending.batch);
      }
    } catch (error) {
      throw this.#end(storeErrorFrom(error, "the store could not be opened again after a stall"));
    }
    detach(old.shutdown(reopened()));
  }

  async #checkNotDisplaced(epoch: bigint): Promise<void> {
    const manifest = await within(this.#backend.readManifest(), this.#options.requestTimeoutMs, () =>
      this.#timeoutError("reading the manifest"),
    );
    if (manifest?.writerEpoch !== epoch) throw new FencedError("a newer writer has opened this store");
  }

  async #beat(): Promise<void> {
    const engine = this.#engine;
    const moment = this.#guard.moment();
    try {
      await this.#checkNotDisplaced(engine.epoch);
      if (engine === this.#engine && !this.#guard.stalled()) this.#guard.confirm(moment);
    } catch (error) {
      // A look that fails is no news; the guard demands a recovery when looks keep failing for too long.
      if (error instanceof FencedError && engine === this.#engine && this.#recovering === null) this.#end(error);
    }
  }

  /** Finds out why a write takes so long; a place that cannot be written ends the handle at once. */
  async #probe(engine: Engine): Promise<void> {
    // The writes that wait go into one object.
    let bytes = 0;
    for (const { batch } of this.#pending) bytes += batch.data.length;
    const error = await this.#backend.diagnose(this.#options.requestTimeoutMs, bytes);
    if (error !== undefined && engine === this.#engine) this.#end(error);
  }

  #timeoutError(what: string): StoreUnavailableError {
    return new StoreUnavailableError(`${what} took longer than ${this.#options.requestTimeoutMs} ms`, {
      remedy: "Check that the store's place answers, then open it again.",
    });
  }

  /** Types an error; one that shows that the engine is gone, or any failure of a write, ends the handle. */
  #failed(error: unknown, doing: string, fatal = false): Error {
    if (this.#failure !== null) return this.#failure;
    const typed = storeErrorFrom(error, doing);
    const engineClosed = typed.code === "fenced" || typed.code === "closed";
    if (fatal || typed.code === "fenced") return this.#end(typed);
    if (engineClosed && this.#closing !== null) return new ClosedError("the store has been closed");
    return typed;
  }

  /** Ends the handle: from now on every call fails with this error. */
  #end(error: MoraineError): MoraineError {
    if (this.#failure !== null) return this.#failure;
    this.#failure = error;
    clearInterval(this.#heartbeat);
    for (const pending of this.#pending) pending.abort(error);
    detach(this.#engine.shutdown(error));
    return error;
  }

  async #close(): Promise<void> {
    if (this.#recovering !== null) await this.#recovering.catch(() => undefined);
    const engine = this.#engine;
    let failure: MoraineError | undefined;
    if (this.#failure === null) {
      try {
        await Promise.allSettled([...this.#pending].map(async (pending) => this.#durable(pending)));
        await within(this.#finish(engine), limits.closeTimeoutMs, () => this.#timeoutError("closing"));
      } catch (error) {
        failure = storeErrorFrom(error, "the store could not be closed cleanly");
      }
    }
    this.#failure ??= new ClosedError("the store has been closed");
    clearInterval(this.#heartbeat);
    this.#context.deadlines.close();
    await engine.shutdown(this.#failure);
    this.#backend.close();
    if (failure !== undefined) throw failure;
  }

  /** Leaves nothing to replay for the next opening. */
  async #finish(engine: Engine): Promise<void> {
    await engine.flushes.joinNow();
    await engine.checkpoint();
    await engine.db.shutdown();
  }
}

function reopened(): ClosedError {
  return new ClosedError("the store was opened again after a stall", { remedy: "Take a new snapshot." });
}
