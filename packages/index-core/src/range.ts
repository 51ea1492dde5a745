import {
  type Bound,
  type IndexLayout,
  type IndexValue,
  InvalidArgumentError,
  nullPrefixBounds,
  rangeBounds,
} from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { withoutHoles } from "./key-ranges.js";
import { type EntryOrder, rowsOfBothShapes, rowsOfShape } from "./merged-rows.js";
import { RowIdList } from "./row-id-words.js";

export interface RangeOptions {
  /** The exact opposite of the index's stored order. Default false. */
  readonly reverse?: boolean | undefined;
  /** Most rows to return. Default: all. */
  readonly limit?: number | undefined;
}

/**
 * Row ids of the rows between two bounds over leading columns of the index, in blocks, in the index's stored order: a
 * descending column delivers high values first. An absent bound leaves that side open; rows whose leading column is NULL
 * are never part of a comparison, and neither are rows that a bound cannot be compared with because they equal it up to a
 * column in which they hold NULL. Rows with a NULL in a column that no bound names are part of the answer, also under a
 * unique index, which stores them apart.
 *
 * Bounds are checked in the call, not at the first step of the iteration.
 *
 * @throws InvalidArgumentError for a bound that names no column, or more than the index has, and for bounds over columns of
 * mixed direction that do not pin all but the last (specification, "Range and comparison queries").
 */
export function lookupRange(
  view: ReadView,
  layout: IndexLayout,
  lower: Bound | undefined,
  upper: Bound | undefined,
  options: RangeOptions = {},
): AsyncGenerator<BigUint64Array, void, undefined> {
  const order = checkedOrder(options);
  const bounds = rangeBounds(layout, lower, upper);
  const multi = withoutHoles(bounds.multi, bounds.unmatched);
  if (bounds.unique === undefined) return rowsOfShape(view, "multi", multi, order);
  // With one column, every row of the multi shape is NULL in the leading column.
  if (layout.columns.length === 1) return rowsOfShape(view, "unique", [bounds.unique], order);
  return rowsOfBothShapes(view, [bounds.unique], multi, order);
}

/** `lookupRange`, collected. */
export async function collectRange(
  view: ReadView,
  layout: IndexLayout,
  lower: Bound | undefined,
  upper: Bound | undefined,
  options: RangeOptions = {},
): Promise<BigUint64Array> {
  return await collect(lookupRange(view, layout, lower, upper, options));
}

/**
 * Row ids of the rows that match a run of predicates over leading columns, in blocks, in stored order: a value stands for
 * equality, `null` for IS NULL.
 *
 * @throws InvalidArgumentError when the prefix is empty, longer than the index, or holds no `null`.
 */
export function lookupNulls(
  view: ReadView,
  layout: IndexLayout,
  prefix: readonly IndexValue[],
  options: RangeOptions = {},
): AsyncGenerator<BigUint64Array, void, undefined> {
  const order = checkedOrder(options);
  return rowsOfShape(view, "multi", [nullPrefixBounds(layout, prefix)], order);
}

/** `lookupNulls`, collected. */
export async function collectNulls(
  view: ReadView,
  layout: IndexLayout,
  prefix: readonly IndexValue[],
  options: RangeOptions = {},
): Promise<BigUint64Array> {
  return await collect(lookupNulls(view, layout, prefix, options));
}

async function collect(blocks: AsyncIterable<BigUint64Array>): Promise<BigUint64Array> {
  const rows = new RowIdList();
  for await (const block of blocks) rows.appendAll(block);
  return rows.finish();
}

function checkedOrder({ reverse = false, limit }: RangeOptions): EntryOrder {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new InvalidArgumentError("limit is not a whole number from 0", {
      remedy: "Leave limit out to get all rows.",
    });
  }
  return { reverse, limit };
}
