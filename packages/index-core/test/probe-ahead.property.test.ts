import type { IndexLayout } from "@moraine/codec";
import {
  absent,
  BatchBuilder,
  keyAt,
  type KeyRange,
  nextTurn,
  type PackedKeys,
  type PackedValues,
  type ReadView,
  type RowBlock,
  type ScanOptions,
  type WriteBatch,
} from "@moraine/store";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { CommitPlanner, type IndexChange, type PlannedEntries } from "../src/index.js";
import { change, hex, type IndexedRow, layout } from "./support.js";

// Windows, slices and spans of a few keys, so that batches fall between and into all of them.
vi.mock("../src/limits.js", async (original) => ({
  ...(await original<object>()),
  uniquenessProbeWindowKeys: 2,
  uniquenessProbeKeys: 1,
  entriesPerTurn: 1,
  absenceScanMinimumKeys: 3,
}));

/** So many turns of the event loop for one step after the other, all over again when they are used up. */
class Pauses {
  readonly #turns: readonly number[];
  #next = 0;

  constructor(turns: readonly number[]) {
    this.#turns = turns;
  }

  async pass(): Promise<void> {
    const turns = this.#turns[this.#next++ % this.#turns.length]!;
    for (let turn = 0; turn < turns; turn++) await nextTurn();
  }
}

/** Entries that change at an unknown moment of a write, and are read at an unknown moment of a read. */
class SlowStore implements ReadView {
  readonly entries = new Map<string, string>();
  readonly #pauses: Pauses;
  /** Counts down; the read at which it is 0 fails. */
  failingRead = -1;

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  async getMany(keys: PackedKeys): Promise<PackedValues> {
    await this.#pauses.pass();
    if (this.failingRead-- === 0) throw new Error("the read failed");
    const values = Array.from(keys.ends, (_, i) => this.entries.get(hex(keyAt(keys, i))));
    await this.#pauses.pass();
    const data = Buffer.from(values.join(""), "hex");
    const lengths = Uint32Array.from(values, (value) => (value === undefined ? absent : value.length / 2));
    let at = 0;
    const offsets = Uint32Array.from(lengths, (length) => (length === absent ? at : (at += length) - length));
    return { data, offsets, lengths };
  }

  async *scan({ start, end }: KeyRange, { reverse, limit }: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    await this.#pauses.pass();
    const keys = [...this.entries.keys()].filter((key) => key >= hex(start!) && key < hex(end!)).sort();
    if (reverse === true) keys.reverse();
    const rows = keys.slice(0, limit).map((key) => [key, this.entries.get(key)!] as const);
    await this.#pauses.pass();
    for (const [key, value] of rows) {
      const ends = Uint32Array.of(key.length / 2, (key.length + value.length) / 2);
      yield { count: 1, data: Buffer.from(key + value, "hex"), ends };
    }
  }

  async write(batch: WriteBatch): Promise<void> {
    await this.#pauses.pass();
    for (const [key, value] of entriesOf(batch)) {
      if (value === undefined) this.entries.delete(key);
      else this.entries.set(key, value);
    }
    await this.#pauses.pass();
  }
}

function entriesOf({ count, data, ends }: WriteBatch): [key: string, value: string | undefined][] {
  let start = 0;
  return Array.from({ length: count }, (_, i) => {
    const [keyEnd, valueEnd] = [ends[2 * i]!, ends[2 * i + 1]!];
    const key = hex(data.subarray(start, keyEnd));
    start = valueEnd === absent ? keyEnd : valueEnd;
    return [key, valueEnd === absent ? undefined : hex(data.subarray(keyEnd, valueEnd))];
  });
}

const layouts: readonly IndexLayout[] = [layout(1n, "unique", "int64"), layout(2n, "unique", "int64 desc")];
const values = [1n, 2n, 3n, 4n, 5n, 6n, 7n, null];

const pick = fc.record({ value: fc.nat(values.length - 1), rowId: fc.nat(9) });
const change_ = fc.record({
  index: fc.nat(1),
  add: fc.array(pick, { maxLength: 7 }),
  remove: fc.array(pick, { maxLength: 3 }),
  poison: fc.boolean(),
});
const changes_ = fc.array(change_, { minLength: 1, maxLength: 3 });
/** A batch of others: it takes a value for a row, or frees it. */
const batches_ = fc.array(
  fc.array(
    fc.record({ index: fc.nat(1), value: fc.nat(values.length - 2), rowId: fc.option(fc.nat(9), { freq: 2 }) }),
    {
      minLength: 1,
      maxLength: 4,
    },
  ),
  { maxLength: 8 },
);

type PickedChange = typeof change_ extends fc.Arbitrary<infer T> ? T : never;
type PickedBatch = (typeof batches_ extends fc.Arbitrary<infer T> ? T : never)[number];

function changesOf(picked: readonly PickedChange[]): IndexChange[] {
  const rows = (picks: PickedChange["add"]): IndexedRow[] => picks.map(({ value, rowId }) => [[values[value]!], rowId]);
  // Guarded: what an unguarded removal writes depends on how much is known, and none of it matters.
  return picked.map(({ index, add, remove, poison }) =>
    change(
      layouts[index]!,
      { add: rows(add), remove: rows(remove) },
      { guardRemovals: true, poisonOnDuplicate: poison },
    ),
  );
}

function batchOf(picked: PickedBatch): WriteBatch {
  const batch = new BatchBuilder();
  for (const { index, value, rowId } of picked) {
    const { additions } = change(layouts[index]!, { add: [[[values[value]!], rowId ?? 0]] });
    const key = keyAt(additions!, 0);
    if (rowId === null) batch.delete(key);
    else batch.put(key, Buffer.from(rowId.toString(16).padStart(16, "0"), "hex"));
  }
  return batch.finish();
}

/** What planning comes to: what is written, or the refusal. */
function planned(planner: CommitPlanner, changes: readonly IndexChange[]): unknown {
  const batch = new BatchBuilder();
  let plan: PlannedEntries;
  try {
    plan = planner.plan(changes);
  } catch (error) {
    return String(error);
  }
  planner.stage(plan, batch);
  return { entries: entriesOf(batch.finish()), poisoned: plan.poisoned };
}

describe("a planner that reads ahead", () => {
  it("decides as one that reads when nothing is written any more, whatever others wrote meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          before: batches_,
          attempts: fc.array(changes_, { minLength: 1, maxLength: 2 }),
          others: batches_,
          turns: fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }),
          failingRead: fc.integer({ min: -8, max: 3 }),
          toldInTurns: fc.boolean(),
        }),
        async ({ before, attempts, others, turns, failingRead, toldInTurns }) => {
          const pauses = new Pauses(turns);
          const store = new SlowStore(pauses);
          for (const batch of before) await store.write(batchOf(batch));
          store.failingRead = failingRead;

          const planner = new CommitPlanner(store);
          let inFlight: WriteBatch | undefined;
          const writeOthers = async (): Promise<void> => {
            for (const picked of others) {
              await pauses.pass();
              const batch = batchOf(picked);
              inFlight = batch;
              if (toldInTurns) await planner.writtenInTurns(batch);
              else planner.written(batch);
              await store.write(batch);
              inFlight = undefined;
            }
          };
          const attempted = attempts.map(changesOf);
          const readAhead = async (): Promise<void> => {
            for (const changes of attempted) {
              await pauses.pass();
              try {
                await planner.probeAhead(changes, () => inFlight);
              } catch (error) {
                expect(String(error)).toContain("the read failed");
              }
            }
          };
          await Promise.all([writeOthers(), readAhead()]);

          store.failingRead = -1;
          const changes = attempted.at(-1)!;
          await planner.probe(changes);
          const late = new CommitPlanner(store);
          await late.probe(changes);
          expect(planned(planner, changes)).toEqual(planned(late, changes));
        },
      ),
      { numRuns: 1500 },
    );
  });

  it("reads nothing again of what nobody wrote, and again what somebody did", async () => {
    const store = new SlowStore(new Pauses([0]));
    const taken = { index: 0, value: 0, rowId: 9 };
    // Stored entries below and above, so that no span is empty.
    await store.write(batchOf([taken, { ...taken, value: 6 }]));
    const changes = changesOf([
      {
        index: 0,
        add: [1, 2, 3, 4, 5].map((value) => ({ value, rowId: value })),
        remove: [taken, { ...taken, value: 6 }],
        poison: false,
      },
    ]);
    const planner = new CommitPlanner(store);
    await planner.probeAhead(changes, () => undefined);
    const ahead = planner.report;
    expect(ahead.probes + ahead.knownAbsent).toBe(7);
    await planner.probe(changes);
    expect(planner.report).toEqual(ahead);
    const batch = batchOf([
      { ...taken, value: 2 },
      { index: 1, value: 3, rowId: 1 },
    ]);
    planner.written(batch);
    await store.write(batch);
    await planner.probe(changes);
    expect(planner.report.probes).toBe(ahead.probes + 1);
    expect(planned(planner, changes)).toContain("row 2 claims a value that row 9 holds");
  });

  it("takes no word of another batch once it has planned its own", async () => {
    const store = new SlowStore(new Pauses([0]));
    const changes = changesOf([{ index: 0, add: [{ value: 1, rowId: 1 }], remove: [], poison: false }]);
    const planner = new CommitPlanner(store);
    await planner.probeAhead(changes, () => undefined);
    planner.plan(changes);
    expect(() => planner.written(batchOf([]))).toThrow(/between plan and the write/u);
  });
});
