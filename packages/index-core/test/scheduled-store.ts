import { StoreError } from "@moraine/codec";
import {
  absent,
  type KeyRange,
  type PackedKeys,
  type PackedValues,
  type ReadView,
  type RowBlock,
  type ScanOptions,
  type WritableStore,
  type WriteBatch,
} from "@moraine/store";
import { hex } from "./support.js";

/** How the next write ends: as it should, without effect, after its effect, or with its effect at a later time. */
export type WriteFate = "lands" | "is lost" | "lands and fails" | "fails and lands late";

/** An entry: its key as it is and as a string that sorts alike. */
interface Stored {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Puts and deletes of a batch by key, in hexadecimal; `undefined` for a delete. */
type Entries = Map<string, Stored | undefined>;

/** A store in memory that asks before each step when to go on, so that a test can order the steps of several calls. */
export class ScheduledStore implements WritableStore {
  readonly location = "memory://scheduled";
  readonly failure = null;
  readonly #entries: Entries = new Map();
  readonly #step: (label: string) => Promise<unknown>;
  /** What a batch puts that may have reached the store, or may yet. */
  readonly uncertain = new Set<Entries>();
  /** Called between any two steps. */
  between: () => void = () => undefined;
  fate: WriteFate = "lands";
  /** Blocks after which the next scan fails. */
  failScanAfter: number | undefined;
  /** Whether a scan sees what was stored when it began, or what is stored when it gets there. */
  scansSnapshots = true;
  scans = 0;

  constructor(step: (label: string) => Promise<unknown>) {
    this.#step = step;
  }

  /** What is stored under a key, in hexadecimal. */
  valueOf(key: string): string | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : hex(entry.value);
  }

  /** Whether a key is stored, or in a batch that is or may be on its way. */
  mayGet(key: string): boolean {
    return this.#entries.has(key) || [...this.uncertain].some((batch) => batch.get(key) !== undefined);
  }

  keys(): string[] {
    return [...this.#entries.keys()].toSorted();
  }

  /** The same entries, at once. */
  get atOnce(): ReadView {
    return {
      getMany: (keys) => Promise.resolve(this.#get(keys)),
      scan: (range, options) => this.#scanAtOnce(range, options),
    };
  }

  async getMany(keys: PackedKeys): Promise<PackedValues> {
    await this.#pause("get");
    return this.#get(keys);
  }

  async *scan(range: KeyRange, options?: ScanOptions): AsyncIterableIterator<RowBlock> {
    this.scans++;
    await this.#pause("scan begins");
    const failAfter = this.failScanAfter;
    const pinned = this.scansSnapshots ? new Map(this.#entries) : this.#entries;
    let blocks = 0;
    let after: string | undefined;
    for (;;) {
      if (failAfter === blocks++) {
        this.failScanAfter = undefined;
        throw new StoreError("the scan failed", { remedy: "Scan again." });
      }
      const next = sorted(pinned, range, options).find(([key]) => after === undefined || key > after);
      if (next === undefined || options?.limit === blocks - 1) return;
      after = next[0];
      yield packed([next[1]]);
      await this.#pause("scan goes on");
    }
  }

  async write(batch: WriteBatch): Promise<{ sequence: bigint }> {
    const { fate } = this;
    this.fate = "lands";
    const entries = entriesOf(batch);
    this.uncertain.add(entries);
    await this.#pause("write begins");
    if (fate === "lands" || fate === "lands and fails") this.#apply(entries);
    if (fate === "fails and lands late") {
      void this.#pause("late write").then(() => this.uncertain.has(entries) && this.#apply(entries));
    }
    if (fate === "is lost") this.uncertain.delete(entries);
    await this.#pause("write ends");
    if (fate !== "lands") throw new StoreError(`the write ${fate}`, { remedy: "Open the store again." });
    return { sequence: 0n };
  }

  snapshot(): never {
    throw new Error("not used");
  }

  async checkpointMemory(): Promise<void> {
    await this.#pause("checkpoint");
  }

  async close(): Promise<void> {
    await this.#pause("close");
  }

  #apply(entries: Entries): void {
    this.uncertain.delete(entries);
    for (const [key, entry] of entries) {
      if (entry === undefined) this.#entries.delete(key);
      else this.#entries.set(key, entry);
    }
  }

  async #pause(label: string): Promise<void> {
    this.between();
    await this.#step(label);
    this.between();
  }

  #get({ data, ends }: PackedKeys): PackedValues {
    const found = [...ends].map((end, i) => this.#entries.get(hex(data.subarray(ends[i - 1] ?? 0, end)))?.value);
    const { data: bytes, ends: valueEnds } = packed(found.map((value) => ({ key: none, value: value ?? none })));
    return {
      data: bytes,
      offsets: Uint32Array.from(found, (_, i) => (i === 0 ? 0 : valueEnds[2 * i - 1]!)),
      lengths: Uint32Array.from(found, (value) => value?.length ?? absent),
    };
  }

  async *#scanAtOnce(range: KeyRange, options?: ScanOptions): AsyncIterableIterator<RowBlock> {
    await Promise.resolve();
    const rows = sorted(this.#entries, range, options).slice(0, options?.limit);
    if (rows.length > 0) yield packed(rows.map(([, row]) => row));
  }
}

const none = new Uint8Array(0);

function sorted(entries: Entries, { start, end }: KeyRange, options: ScanOptions | undefined): [string, Stored][] {
  const [from, to] = [hex(start ?? none), end === undefined ? "g" : hex(end)];
  const rows = [...entries]
    .flatMap(([key, entry]): [string, Stored][] => (entry === undefined ? [] : [[key, entry]]))
    .filter(([key]) => key >= from && key < to)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return options?.reverse === true ? rows.toReversed() : rows;
}

function packed(rows: readonly Stored[]): RowBlock {
  const parts = rows.flatMap(({ key, value }) => [key, value]);
  let end = 0;
  const ends = Uint32Array.from(parts, (part) => (end += part.length));
  return { count: rows.length, data: Uint8Array.from(parts.flatMap((part) => [...part])), ends };
}

function entriesOf({ count, data, ends }: WriteBatch): Entries {
  const entries: Entries = new Map();
  for (let i = 0, start = 0; i < count; i++) {
    const [keyEnd, valueEnd] = [ends[2 * i]!, ends[2 * i + 1]!];
    const key = data.slice(start, keyEnd);
    entries.set(hex(key), valueEnd === absent ? undefined : { key, value: data.slice(keyEnd, valueEnd) });
    start = valueEnd === absent ? keyEnd : valueEnd;
  }
  return entries;
}
