import type { IndexKeys, IndexLayout, IndexValue } from "@moraine/codec";
import { BatchBuilder, type WritableStore } from "@moraine/store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  collectNulls,
  CommitPlanner,
  firstProvisionalRowId,
  type IndexChange,
  lookup,
  verifyIndex,
} from "../src/index.js";
import { CountingView, encodedEntries, hex, type IndexedRow, keysOf, layout, withStore } from "./support.js";

// Members are planned and staged in turns of the event loop from the third entry on.
vi.mock("../src/limits.js", async (original) => ({ ...(await original<object>()), entriesPerTurn: 2 }));

/**
 * An index as a plain Map from encoded key to row id, driven by the rules of the specification as they are written, one
 * entry at a time. Value-keyed entries hold their row id, the others -1 for one row and otherwise how many they stand for.
 */
type ModelEntries = Map<string, bigint>;

interface ModelMember {
  readonly index: number;
  readonly remove: readonly IndexedRow[];
  readonly add: readonly IndexedRow[];
  readonly guard: boolean;
  readonly poison: boolean;
}

const notKeyed = -1n;

/** The key of one row, and what is stored under it. */
function entryOf(of: IndexLayout, row: IndexedRow): [key: string, rowId: bigint] {
  const keys = keysOf(of, [row]);
  return [encodedEntries(keys)[0]![0], keys.multi[0] === 1 ? notKeyed : BigInt(row[1])];
}

/** Counts rows of an entry of which there may be several; whether it is such a one. */
function countInModel(entries: ModelEntries, key: string, row: IndexedRow, value: bigint, by: 1n | -1n): boolean {
  if (value !== notKeyed || BigInt(row[1]) < firstProvisionalRowId) return false;
  const rows = rowsOf(entries.get(key)) + by;
  if (rows > 0n) entries.set(key, rows === 1n ? notKeyed : rows);
  else entries.delete(key);
  return true;
}

function rowsOf(value: bigint | undefined): bigint {
  if (value === undefined) return 0n;
  return value === notKeyed ? 1n : value;
}

interface ModelOutcome {
  readonly refused: string | undefined;
  readonly poisoned: number;
}

/** Applies one member; a refusal leaves the entries as they were. */
function applyToModel(
  layouts: readonly IndexLayout[],
  entries: ModelEntries,
  member: readonly ModelMember[],
): ModelOutcome {
  const before = new Map(entries);
  const own = new Set<string>();
  let poisoned = 0;
  for (const { index, remove } of member) {
    for (const row of remove) {
      const [key, rowId] = entryOf(layouts[index]!, row);
      if (countInModel(entries, key, row, rowId, -1n)) continue;
      if (entries.get(key) === rowId) entries.delete(key);
    }
  }
  for (const { index, add, poison } of member) {
    for (const row of add) {
      const [key, rowId] = entryOf(layouts[index]!, row);
      if (countInModel(entries, key, row, rowId, 1n)) continue;
      const holder = entries.get(key);
      if (holder === undefined || (holder === rowId && rowId < firstProvisionalRowId)) {
        entries.set(key, rowId);
        if (rowId !== notKeyed) own.add(key);
        continue;
      }
      if (poison) {
        poisoned++;
        continue;
      }
      entries.clear();
      for (const [kept, value] of before) entries.set(kept, value);
      const state = own.has(key) ? "an addition of this commit" : "a row already indexed";
      const id = layouts[index]!.indexId;
      return { refused: `(id ${id}): row ${rowId} claims a value that row ${holder} holds, ${state}`, poisoned: 0 };
    }
  }
  return { refused: undefined, poisoned };
}

const values: readonly (readonly IndexValue[])[] = [
  [1n, 2n, 3n, null],
  ["", "a", "a\0", null],
];

/** Several rows may have one of the last two. */
const rowIds = [0n, 1n, 2n, 3n, firstProvisionalRowId, firstProvisionalRowId + 1n];

/** What a generated row picks: a value a column (by number), and a row id. */
const pick = fc.record({ first: fc.nat(3), second: fc.nat(3), rowId: fc.constantFrom(...rowIds) });
const memberChange = fc.record({
  index: fc.nat(3),
  remove: fc.array(pick, { maxLength: 5 }),
  add: fc.array(pick, { maxLength: 5 }),
  guard: fc.boolean(),
  poison: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});
const groups = fc.array(
  fc.array(fc.array(memberChange, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
  {
    minLength: 1,
    maxLength: 4,
  },
);

function layoutsFrom(firstId: bigint): IndexLayout[] {
  return [
    layout(firstId, "unique", "int64"),
    layout(firstId + 1n, "multi", "int64 desc"),
    layout(firstId + 2n, "unique", "int64 first", "string desc"),
    layout(firstId + 3n, "multi", "int64", "string first"),
  ];
}

describe("CommitPlanner against a model", () => {
  let store: WritableStore;
  let release: () => void;
  let closed: Promise<void>;
  let nextId = 1n;

  beforeAll(async () => {
    await new Promise<void>((ready) => {
      closed = withStore(async (opened) => {
        store = opened;
        await new Promise<void>((done) => {
          release = done;
          ready();
        });
      });
    });
  });
  afterAll(async () => {
    release();
    await closed;
  });

  it("accepts, refuses, poisons and stores the same for random groups with failing members in the middle", async () => {
    await fc.assert(
      fc.asyncProperty(groups, fc.boolean(), async (picked, inTurns) => {
        const layouts = layoutsFrom(nextId);
        nextId += 4n;
        const entries: ModelEntries = new Map();
        const rowOf = (
          index: number,
          { first, second, rowId }: { first: number; second: number; rowId: bigint },
        ): IndexedRow => [
          layouts[index]!.columns.map((_, column) => values[column]![column === 0 ? first : second]!),
          rowId,
        ];
        for (const group of picked) {
          const expected: ModelOutcome[] = [];
          const members: IndexChange[][] = [];
          for (const member of group) {
            const modelMember = member.map(({ index, remove, add, guard, poison }): ModelMember => {
              const rows = remove.map((row) => rowOf(index, row));
              // A removal without guard is derived from a row that is live: no other row holds its value.
              const derived = rows.filter((row) => {
                const [key, rowId] = entryOf(layouts[index]!, row);
                const holder = entries.get(key);
                return holder === undefined || holder === rowId || rowId === notKeyed;
              });
              return { index, remove: guard ? rows : derived, add: add.map((row) => rowOf(index, row)), guard, poison };
            });
            expected.push(applyToModel(layouts, entries, modelMember));
            members.push(
              modelMember.map(({ index, remove, add, guard, poison }) => ({
                layout: layouts[index]!,
                name: `index ${index}`,
                removals: keysOf(layouts[index]!, remove),
                additions: keysOf(layouts[index]!, add),
                guardRemovals: guard,
                poisonOnDuplicate: poison,
              })),
            );
          }
          const planner = new CommitPlanner(store);
          await planner.probe(members.flat());
          const batch = new BatchBuilder();
          for (const [i, changes] of members.entries()) {
            let refused: string | undefined;
            let poisoned = 0;
            try {
              const planned = inTurns ? await planner.planInTurns(changes) : planner.plan(changes);
              poisoned = planned.poisoned.reduce((sum, { dropped }) => sum + dropped, 0);
              const before = batch.count;
              if (inTurns) await planner.stageInTurns(planned, batch);
              else planner.stage(planned, batch);
              expect(batch.count - before).toBe(planned.puts + planned.deletes);
            } catch (error) {
              refused = String(error);
            }
            if (expected[i]!.refused === undefined) expect(refused).toBeUndefined();
            else expect(refused).toContain(expected[i]!.refused);
            expect(poisoned).toBe(expected[i]!.poisoned);
          }
          if (batch.count > 0) await store.write(batch.finish());
          await compareWithModel(store, layouts, entries);
        }
        await compareReads(store, layouts, entries);
      }),
      { numRuns: 100 },
    );
  });
});

async function compareWithModel(store: WritableStore, layouts: readonly IndexLayout[], entries: ModelEntries) {
  const stored = new Map<string, bigint>();
  for (const shape of [2, 3]) {
    const [first, last] = [layouts[0]!.indexId, layouts.at(-1)!.indexId + 1n];
    const bound = (id: bigint): Uint8Array =>
      Uint8Array.from([7, shape, ...Buffer.from(id.toString(16).padStart(16, "0"), "hex")]);
    for await (const block of new CountingView(store).scan({ start: bound(first), end: bound(last) })) {
      for (let row = 0, start = 0; row < block.count; row++) {
        const [keyEnd, valueEnd] = [block.ends[2 * row]!, block.ends[2 * row + 1]!];
        const value = hex(block.data.subarray(keyEnd, valueEnd));
        stored.set(hex(block.data.subarray(start, keyEnd)), value === "" ? notKeyed : BigInt(`0x${value}`));
        start = valueEnd;
      }
    }
  }
  expect(stored).toEqual(entries);
}

/** Each way of reading finds exactly the model's rows, and verification of the model's entries is clean. */
async function compareReads(store: WritableStore, layouts: readonly IndexLayout[], entries: ModelEntries) {
  for (const of of layouts) {
    const live: IndexedRow[] = [];
    const combinations =
      of.columns.length === 1 ? values[0]!.map((a) => [a]) : values[0]!.flatMap((a) => values[1]!.map((b) => [a, b]));
    for (const combination of combinations) {
      const rows = rowIds.filter((rowId) => {
        const [key, expected] = entryOf(of, [combination, rowId]);
        const stored = entries.get(key);
        return expected === notKeyed ? stored !== undefined : stored === expected;
      });
      for (const rowId of rows) {
        const [key, expected] = entryOf(of, [combination, rowId]);
        const times = expected === notKeyed ? Number(rowsOf(entries.get(key))) : 1;
        for (let i = 0; i < times; i++) live.push([combination, rowId]);
      }
      const found = combination.includes(null)
        ? await collectNulls(store, of, combination)
        : await lookup(store, of, combination);
      expect([...found]).toEqual(rows);
    }
    const lists: IndexKeys[] = [keysOf(of, live)];
    const different = new Set(live.map((row) => entryOf(of, row)[0])).size;
    expect(await verifyIndex(store, of, lists)).toEqual({
      stored: different,
      expected: different,
      missing: 0,
      dead: 0,
      mismatched: 0,
    });
  }
}
