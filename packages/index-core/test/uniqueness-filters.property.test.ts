import { type IndexLayout, indexPrefix, prefixEnd } from "@moraine/codec";
import { BatchBuilder, collectRows, nextTurn } from "@moraine/store";
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import {
  CommitPlanner,
  type FilterEvent,
  type FilterOutcome,
  type IndexChange,
  type PlannerReport,
  UniquenessFilters,
} from "../src/index.js";
import { KeyFilter } from "../src/key-filter.js";
import { filterMinimumKeys } from "../src/limits.js";
import { ScheduledStore, type WriteFate } from "./scheduled-store.js";
import { change, encodedEntries, type IndexedRow, keysOf, layout } from "./support.js";

// Batches of two entries and more are noted in turns of the event loop, with looks in between.
vi.mock("../src/limits.js", async (original) => ({ ...(await original<object>()), entriesPerTurn: 1 }));

const indexes = 3;
const values = 8;
const prefixBytes = 10;

/** A row to add or remove: which index, which value, which row. */
const row = fc.record({ index: fc.nat(indexes - 1), value: fc.nat(values - 1), rowId: fc.nat(2) });
type Row = Readonly<{ index: number; value: number; rowId: number }>;
const fate = fc.oneof(
  { weight: 8, arbitrary: fc.constant<WriteFate>("lands") },
  { weight: 1, arbitrary: fc.constantFrom<WriteFate>("is lost", "lands and fails", "fails and lands late") },
);
const member = fc.record({
  add: fc.array(row, { maxLength: 4 }),
  remove: fc.array(row, { maxLength: 2 }),
  /** Whether removals are supplied; else they are those of rows that are stored. */
  guard: fc.boolean(),
});
const action = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("commit" as const),
      members: fc.array(member, { minLength: 1, maxLength: 3 }),
      /** Whether the second half of the members is probed after the first half was staged, as after a refusal. */
      twice: fc.boolean(),
      fate,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep" as const), index: fc.nat(indexes - 1), fate }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drop and make again" as const), index: fc.nat(indexes - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("open again" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("let the next scan fail" as const), after: fc.nat(3) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Room for every filter, for one at a time, for none. */
const maxBytes = fc.constantFrom(undefined, KeyFilter.bytesFor(filterMinimumKeys) + 100, 100);

const seen = { absent: 0, duplicates: 0, outcomes: new Map<FilterOutcome, number>() };

/** One writer's life over one store: commits one after the other, as the committer makes them, beside builds of filters. */
class Writer {
  readonly #store: ScheduledStore;
  readonly #maxBytes: number | undefined;
  readonly #layouts: IndexLayout[] = Array.from({ length: indexes }, (_, i) =>
    layout(BigInt(i + 1), "unique", "int64"),
  );
  readonly #liveIds = new Set(this.#layouts.map(({ indexId }) => indexId));
  #nextId = BigInt(indexes + 1);
  #filters: UniquenessFilters;
  /** Whatever a look between two steps found: thrown there, it would pass for a failure of the store. */
  #found: Error | undefined;

  constructor(store: ScheduledStore, most: number | undefined) {
    this.#store = store;
    this.#maxBytes = most;
    this.#filters = this.#open();
    store.between = () => this.#look();
  }

  #open(): UniquenessFilters {
    return new UniquenessFilters({
      store: this.#store,
      rowsOf: (indexId) => (this.#liveIds.has(indexId) ? this.#keysUnder(indexId).length : undefined),
      tell: ({ outcome }: FilterEvent) => seen.outcomes.set(outcome, (seen.outcomes.get(outcome) ?? 0) + 1),
      ...(this.#maxBytes === undefined ? {} : { maxBytes: this.#maxBytes }),
    });
  }

  #keysUnder(indexId: bigint): string[] {
    const prefix = Buffer.from(indexPrefix("unique", indexId)).toString("hex");
    return this.#store.keys().filter((key) => key.startsWith(prefix));
  }

  #look(): void {
    try {
      this.#check();
    } catch (error) {
      this.#found ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  /** What must hold at any moment, batches in flight included. */
  #check(): void {
    expect(this.#filters.bytes).toBeLessThanOrEqual(this.#maxBytes ?? Number.POSITIVE_INFINITY);
    for (const of of this.#layouts) {
      const filter = this.#filters.filterOf(of.indexId);
      if (filter === undefined) continue;
      const keys = keysOf(
        of,
        Array.from({ length: values }, (_, value) => [[BigInt(value)], 0]),
      );
      for (const [i, [key]] of encodedEntries(keys).entries()) {
        const start = i === 0 ? 0 : keys.ends[i - 1]!;
        if (filter.mayHold(keys.data, start + prefixBytes, keys.ends[i]!)) continue;
        if (this.#store.mayGet(key)) throw new Error(`${key} is or may be stored and was taken for absent`);
      }
    }
  }

  async do(picked: Action): Promise<void> {
    if (picked.do === "commit") await this.#commit(picked);
    else if (picked.do === "sweep") await this.#sweep(picked.index, picked.fate);
    else if (picked.do === "open again") {
      await this.close();
      // A new writer finds out which of the old one's writes arrived, and none arrives any more.
      this.#store.uncertain.clear();
      this.#filters = this.#open();
    } else if (picked.do === "let the next scan fail") this.#store.failScanAfter = picked.after;
    else {
      this.#liveIds.delete(this.#layouts[picked.index]!.indexId);
      this.#layouts[picked.index] = layout(this.#nextId, "unique", "int64");
      this.#liveIds.add(this.#nextId++);
    }
    this.#look();
    if (this.#found !== undefined) throw this.#found;
  }

  async close(): Promise<void> {
    await this.#filters.close();
    if (this.#found !== undefined) throw this.#found;
    expect(this.#filters.bytes).toBe(0);
  }

  async #commit(picked: Extract<Action, { do: "commit" }>): Promise<void> {
    const changes = picked.members.map(({ add, remove, guard }) => this.#changes(add, remove, guard));
    const half = picked.twice ? Math.ceil(changes.length / 2) : changes.length;
    const planner = this.#filters.planner();
    const plain = new CommitPlanner(this.#store.atOnce);
    const batch = new BatchBuilder();
    for (const part of [changes.slice(0, half), changes.slice(half)]) {
      await planner.probe(part.flat());
      await plain.probe(part.flat());
      for (const one of part) {
        const outcome = planned(planner, one, batch);
        expect(outcome).toEqual(planned(plain, one, new BatchBuilder()));
        if (typeof outcome === "string") seen.duplicates++;
      }
    }
    const report: PlannerReport = planner.report;
    seen.absent += report.knownAbsentByFilter;
    expect(report.probes).toBe(report.hits + report.misses);
    await this.#write(batch, picked.fate);
  }

  #changes(add: readonly Row[], remove: readonly Row[], guard: boolean): IndexChange[] {
    const of = (rows: readonly Row[], index: number) =>
      rows.filter((one) => one.index === index).map(({ value, rowId }): IndexedRow => [[BigInt(value)], rowId]);
    return this.#layouts.map((one, index) => {
      const removed = of(remove, index).filter((indexed) => guard || this.#isStored(one, indexed));
      return change(one, { add: of(add, index), remove: removed }, { guardRemovals: guard });
    });
  }

  #isStored(of: IndexLayout, indexed: IndexedRow): boolean {
    const [[key, value]] = encodedEntries(keysOf(of, [indexed])) as [[string, string]];
    return this.#store.valueOf(key) === value;
  }

  async #sweep(index: number, next: WriteFate): Promise<void> {
    const prefix = indexPrefix("unique", this.#layouts[index]!.indexId);
    const batch = new BatchBuilder();
    const rows = await collectRows(this.#store.atOnce.scan({ start: prefix, end: prefixEnd(prefix) }));
    for (const { key } of rows) batch.delete(key);
    await this.#write(batch, next);
  }

  async #write(batch: BatchBuilder, next: WriteFate): Promise<void> {
    if (batch.count === 0) return;
    this.#store.fate = next;
    const writing = this.#filters.write(batch.finish()).then(
      () => undefined,
      (error: unknown) => error,
    );
    // While its keys are noted.
    for (let turn = 0; turn < batch.count; turn++) {
      await nextTurn();
      this.#look();
    }
    const failure = await writing;
    if (this.#found === undefined) expect(failure === undefined).toBe(next === "lands");
  }
}

/** What planning came to: numbers, or the text of the refusal. */
function planned(planner: CommitPlanner, changes: readonly IndexChange[], batch: BatchBuilder): unknown {
  try {
    const entries = planner.plan(changes);
    planner.stage(entries, batch);
    const { puts, deletes, noOps, bytes } = entries;
    return { puts, deletes, noOps, bytes };
  } catch (error) {
    return String(error);
  }
}

describe("UniquenessFilters", () => {
  it("never takes for absent what is stored or on its way, in any order of steps", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(action, { minLength: 1, maxLength: 20 }),
        maxBytes,
        fc.boolean(),
        async (scheduler, actions, most, snapshots) => {
          const store = new ScheduledStore((label) => scheduler.schedule(Promise.resolve(), label));
          store.scansSnapshots = snapshots;
          const writer = new Writer(store, most);
          const life = async (): Promise<void> => {
            for (const picked of actions) await writer.do(picked);
            await writer.close();
          };
          await scheduler.waitFor(life());
        },
      ),
      { numRuns: 1500 },
    );
  });

  // The test above proves nothing where no filter answers, nothing is built and nothing goes wrong.
  afterAll(() => {
    expect(seen.absent).toBeGreaterThan(100);
    expect(seen.duplicates).toBeGreaterThan(100);
    expect([...seen.outcomes.keys()]).toEqual(
      expect.arrayContaining(["ready", "failed", "stopped", "evicted", "dropped"]),
    );
  });
});
