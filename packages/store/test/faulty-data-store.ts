import { ClosedError, StoreUnavailableError } from "@moraine/codec";
import type { ByteRange, DataObject, DataStore } from "../src/interface.js";

export type DataOperation = "head" | "readRanges" | "put" | "delete" | "list";

/** One thing that goes wrong. */
export interface Fault {
  /** Which operations it looks at. Default: all of them. */
  readonly operation?: DataOperation;
  /** The first one that fails, counted from 1 among those it looks at. */
  readonly at: number;
  /** How many fail, one after the other. Default 1; `Infinity` for all from there on. */
  readonly times?: number;
  /**
   * `fail`: the operation fails before it does anything. `cut`: it is done, and then fails, so that the caller cannot know;
   * a listing fails after its first object. `stall`: it does not go on until `release` or `close` is called. `damage`: what
   * is read has one bit changed, without a failure.
   */
  readonly kind: "fail" | "cut" | "stall" | "damage";
  /** What `fail` and `cut` fail with. Default: a `StoreUnavailableError`. */
  readonly error?: Error;
}

export interface FaultyDataStore extends DataStore {
  /** Operations begun so far. */
  readonly operations: readonly { readonly operation: DataOperation; readonly path: string }[];
  /** Operations that a fault has hit so far. */
  readonly hits: number;
  /** Resolves when so many operations stand still. */
  untilStalled(count?: number): Promise<void>;
  /** Lets operations that stand still go on, and later ones not stall. */
  release(): void;
}

/**
 * A data store that fails as planned, by the count of its operations: for tests of what is left behind when a read or write
 * fails, stalls, or is cut. The first fault of the plan that applies to an operation wins.
 */
export function faultyDataStore(inner: DataStore, plan: readonly Fault[]): FaultyDataStore {
  return new PlannedFaults(inner, plan);
}

class PlannedFaults implements FaultyDataStore {
  readonly location: string;
  readonly operations: { readonly operation: DataOperation; readonly path: string }[] = [];
  readonly #inner: DataStore;
  readonly #faults: readonly { readonly fault: Fault; seen: number }[];
  readonly #stalled = new Set<{ readonly goOn: () => void; readonly fail: (error: Error) => void }>();
  readonly #observers: { readonly count: number; readonly notify: () => void }[] = [];
  #released = false;
  #hits = 0;

  constructor(inner: DataStore, plan: readonly Fault[]) {
    this.#inner = inner;
    this.location = inner.location;
    this.#faults = plan.map((fault) => ({ fault, seen: 0 }));
  }

  get hits(): number {
    return this.#hits;
  }

  async head(path: string): Promise<DataObject> {
    return await this.#run("head", path, () => this.#inner.head(path));
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    return await this.#run("readRanges", path, () => this.#inner.readRanges(path, ranges), damageFirst);
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    await this.#run("put", path, () => this.#inner.put(path, bytes));
  }

  async delete(path: string): Promise<void> {
    await this.#run("delete", path, () => this.#inner.delete(path));
  }

  async *list(prefix: string): AsyncGenerator<DataObject, void, undefined> {
    const fault = this.#begin("list", prefix);
    if (fault?.kind === "fail") throw failureOf(fault, "list", prefix);
    if (fault?.kind === "stall") await this.#stall();
    for await (const object of this.#inner.list(prefix)) {
      yield object;
      if (fault?.kind === "cut") break;
    }
    if (fault?.kind === "cut") throw failureOf(fault, "list", prefix);
  }

  async close(): Promise<void> {
    for (const { fail } of this.#stalled) fail(new ClosedError(`the data store ${this.location}`));
    this.#stalled.clear();
    await this.#inner.close();
  }

  async untilStalled(count = 1): Promise<void> {
    if (this.#stalled.size >= count) return;
    await new Promise<void>((resolve) => {
      this.#observers.push({ count, notify: resolve });
    });
  }

  release(): void {
    this.#released = true;
    for (const { goOn } of this.#stalled) goOn();
    this.#stalled.clear();
  }

  async #run<Result>(
    operation: DataOperation,
    path: string,
    work: () => Promise<Result>,
    damage: (result: Result) => Result = (result) => result,
  ): Promise<Result> {
    const fault = this.#begin(operation, path);
    if (fault?.kind === "fail") throw failureOf(fault, operation, path);
    if (fault?.kind === "stall") await this.#stall();
    const result = await work();
    if (fault?.kind === "cut") throw failureOf(fault, operation, path);
    return fault?.kind === "damage" ? damage(result) : result;
  }

  /** Counts an operation, and gives the fault that hits it. */
  #begin(operation: DataOperation, path: string): Fault | undefined {
    this.operations.push({ operation, path });
    let hit: Fault | undefined;
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (fault.operation !== undefined && fault.operation !== operation) continue;
      entry.seen++;
      if (entry.seen >= fault.at && entry.seen < fault.at + (fault.times ?? 1)) hit ??= fault;
    }
    if (hit !== undefined) this.#hits++;
    return hit;
  }

  async #stall(): Promise<void> {
    if (this.#released) return;
    await new Promise<void>((resolve, reject) => {
      this.#stalled.add({ goOn: resolve, fail: reject });
      for (const { count, notify } of this.#observers) if (this.#stalled.size >= count) notify();
    });
  }
}

function failureOf({ error }: Fault, operation: DataOperation, path: string): Error {
  return error ?? new StoreUnavailableError(`planned: ${operation} of ${path}`, { remedy: "Try again." });
}

/** Changes the lowest bit of the first byte that there is. */
function damageFirst(parts: Uint8Array[]): Uint8Array[] {
  const part = parts.find(({ length }) => length > 0);
  if (part !== undefined) part[0] = (part[0] ?? 0) ^ 1;
  return parts;
}
