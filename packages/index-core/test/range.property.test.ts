import type { Bound, IndexColumn, IndexLayout, IndexValue, IndexValueType } from "@moraine/codec";
import type { WritableStore } from "@moraine/store";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectNulls, collectRange } from "../src/index.js";
import { domains, valueTypes } from "./domains.js";
import { change, commit, column, type IndexedRow, layout, withStore } from "./support.js";

/** Positions in each column's domain; `null` is NULL. */
type Ranks = readonly (number | null)[];
interface RankedRow {
  readonly ranks: Ranks;
  readonly rowId: number;
}
interface RankedBound {
  readonly ranks: readonly number[];
  readonly inclusive: boolean;
}

const valueOf = (type: IndexValueType, rank: number | null): IndexValue =>
  rank === null ? null : domains[type][rank]!;

/** Order of two rows in the index: declared directions and NULL placements, then the row id. */
function compareRows(columns: readonly IndexColumn[], left: RankedRow, right: RankedRow): number {
  for (const [i, { descending, nullsFirst }] of columns.entries()) {
    const a = left.ranks[i]!;
    const b = right.ranks[i]!;
    if (a === b) continue;
    if (a === null || b === null) return (a === null) === nullsFirst ? -1 : 1;
    return a < b === descending ? 1 : -1;
  }
  return left.rowId - right.rowId;
}

/** SQL's row comparison with a bound: negative, zero or positive, or `undefined` for unknown. */
function compareWithBound(ranks: Ranks, bound: RankedBound): number | undefined {
  for (const [i, wanted] of bound.ranks.entries()) {
    const rank = ranks[i];
    if (rank === null || rank === undefined) return undefined;
    if (rank !== wanted) return rank - wanted;
  }
  return 0;
}

function inside(ranks: Ranks, lower: RankedBound | undefined, upper: RankedBound | undefined): boolean {
  if (ranks[0] === null) return false;
  const above = lower === undefined ? 1 : compareWithBound(ranks, lower);
  const below = upper === undefined ? -1 : compareWithBound(ranks, upper);
  if (above === undefined || below === undefined) return false;
  return (above > 0 || (above === 0 && lower!.inclusive)) && (below < 0 || (below === 0 && upper!.inclusive));
}

function toBound(of: IndexLayout, bound: RankedBound | undefined): Bound | undefined {
  if (bound === undefined) return undefined;
  return { values: bound.ranks.map((rank, i) => valueOf(of.columns[i]!.valueType, rank)), inclusive: bound.inclusive };
}

/** In a unique index rows without NULL have different values. */
function admissible(of: IndexLayout, rows: readonly RankedRow[]): RankedRow[] {
  const seen = new Set<string>();
  return rows.filter(({ ranks }) => {
    if (!of.unique || ranks.includes(null)) return true;
    const key = ranks.join();
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}

async function load(store: WritableStore, of: IndexLayout, rows: readonly RankedRow[]): Promise<RankedRow[]> {
  const add = rows.map(({ ranks, rowId }): IndexedRow => [
    ranks.map((rank, i) => valueOf(of.columns[i]!.valueType, rank)),
    rowId,
  ]);
  await commit(store, change(of, { add }));
  return rows.toSorted((left, right) => compareRows(of.columns, left, right));
}

async function expectRange(
  store: WritableStore,
  of: IndexLayout,
  sorted: readonly RankedRow[],
  [lower, upper]: readonly [RankedBound | undefined, RankedBound | undefined],
  reverse: boolean,
  limit: number | undefined,
) {
  const matching = sorted.filter(({ ranks }) => inside(ranks, lower, upper)).map(({ rowId }) => BigInt(rowId));
  const expected = (reverse ? matching.toReversed() : matching).slice(0, limit);
  const found = await collectRange(store, of, toBound(of, lower), toBound(of, upper), { reverse, limit });
  expect([...found]).toEqual(expected);
}

describe("range results against sorting in memory", () => {
  const placements = ["", " first", " desc", " desc first"];

  it.each(valueTypes)("%s: every direction, NULL placement, kind, bound pair and order", async (type) => {
    await withStore(async (store) => {
      let id = 1n;
      const size = domains[type].length;
      const rows: RankedRow[] = [];
      for (const rank of [null, ...Array.from({ length: size }, (_, i) => i)]) {
        for (let copy = 0; copy < 2; copy++) rows.push({ ranks: [rank], rowId: rows.length * 3 });
      }
      const ends = [
        undefined,
        ...[0, 1, size - 1].flatMap((rank) => [true, false].map((inclusive) => ({ ranks: [rank], inclusive }))),
      ];
      for (const placement of placements) {
        for (const kind of ["unique", "multi"] as const) {
          const of = layout(id++, kind, type + placement);
          const sorted = await load(store, of, admissible(of, rows));
          let turn = 0;
          for (const lower of ends) {
            for (const upper of ends) {
              const limit = [undefined, 1, 3][turn % 3];
              await expectRange(store, of, sorted, [lower, upper], turn++ % 2 === 1, limit);
            }
          }
          for (const reverse of [false, true]) {
            await expectRange(store, of, sorted, [undefined, undefined], reverse, undefined);
            const nulls = sorted.filter(({ ranks }) => ranks[0] === null).map(({ rowId }) => BigInt(rowId));
            expect([...(await collectNulls(store, of, [null], { reverse }))]).toEqual(
              reverse ? nulls.toReversed() : nulls,
            );
          }
        }
      }
    });
  });

  const columnSpec = fc
    .tuple(fc.constantFrom(...valueTypes), fc.constantFrom(...placements))
    .map(([type, placement]) => type + placement);
  const rank = fc.integer({ min: 0, max: 3 });

  it("composites: random columns, rows, bounds, order and limit", async () => {
    await withStore(async (store) => {
      let id = 1n;
      await fc.assert(
        fc.asyncProperty(
          fc.array(columnSpec, { minLength: 2, maxLength: 3 }),
          fc.boolean(),
          fc.array(fc.array(fc.option(rank, { freq: 3 }), { minLength: 3, maxLength: 3 }), { maxLength: 25 }),
          fc.array(
            fc.record({
              lower: fc.option(
                fc.record({ ranks: fc.array(rank, { minLength: 1, maxLength: 3 }), inclusive: fc.boolean() }),
                { nil: undefined },
              ),
              upper: fc.option(
                fc.record({ ranks: fc.array(rank, { minLength: 1, maxLength: 3 }), inclusive: fc.boolean() }),
                { nil: undefined },
              ),
              pinned: fc.boolean(),
              reverse: fc.boolean(),
              limit: fc.option(fc.nat(6), { nil: undefined }),
            }),
            { minLength: 6, maxLength: 6 },
          ),
          async (specs, unique, rawRows, questions) => {
            const of = layout(id++, unique ? "unique" : "multi", ...specs);
            const sizes = specs.map((spec) => domains[column(spec).valueType].length);
            const clamp = (ranks: Ranks): (number | null)[] =>
              ranks.slice(0, specs.length).map((value, i) => (value === null ? null : value % sizes[i]!));
            const rows = rawRows.map((ranks, i): RankedRow => ({ ranks: clamp(ranks), rowId: i }));
            const sorted = await load(store, of, admissible(of, rows));
            for (const { lower, upper, pinned, reverse, limit } of questions) {
              const bounds = (pinned ? pin([lower, upper]) : [lower, upper]).map((bound) =>
                bound === undefined ? undefined : { ...bound, ranks: clamp(bound.ranks) as number[] },
              ) as Bounds;
              const named = Math.max(...bounds.map((bound) => bound?.ranks.length ?? 1));
              const mixed = new Set(of.columns.slice(0, named).map(({ descending }) => descending)).size > 1;
              if (mixed && !isPinned(bounds, named)) continue;
              await expectRange(store, of, sorted, bounds, reverse, limit);
            }
            for (const reverse of [false, true]) {
              await expectRange(store, of, sorted, [undefined, undefined], reverse, undefined);
            }
            await expectNulls(store, of, sorted);
          },
        ),
        { numRuns: 400 },
      );
    });
  });
});

type Bounds = [RankedBound | undefined, RankedBound | undefined];

/** Makes both bounds agree in all columns but the last; a short upper bound becomes the bare prefix. */
function pin([lower, upper]: Bounds): Bounds {
  if (lower === undefined || upper === undefined) return [lower, upper];
  const prefix = lower.ranks.slice(0, -1);
  if (prefix.length > 0 && upper.ranks.length === 1) return [lower, { ranks: prefix, inclusive: true }];
  return [lower, { ...upper, ranks: [...prefix, upper.ranks.at(-1)!] }];
}

function isPinned([lower, upper]: Bounds, named: number): boolean {
  if (named === 1) return true;
  if (lower === undefined || upper === undefined) return false;
  const prefixes = [lower, upper].map(({ ranks, inclusive }) =>
    ranks.length === named ? ranks.slice(0, -1) : inclusive ? ranks : [],
  );
  return prefixes.every((prefix) => prefix.length === named - 1 && prefix.join() === prefixes[0]!.join());
}

async function expectNulls(store: WritableStore, of: IndexLayout, sorted: readonly RankedRow[]) {
  for (const prefix of [[null], [0, null], [null, 0], [1, null], [null, null]]) {
    const expected = sorted
      .filter(({ ranks }) => prefix.every((wanted, i) => ranks[i] === wanted))
      .map(({ rowId }) => BigInt(rowId));
    const values = prefix.map((rank, i) => valueOf(of.columns[i]!.valueType, rank));
    expect([...(await collectNulls(store, of, values))]).toEqual(expected);
  }
}
