import {
  type Bound,
  equalityPrefixes,
  IndexBuildingError,
  type IndexId,
  type IndexValue,
  InvalidArgumentError,
  NotFoundError,
  type SnapshotId,
  UnsupportedError,
} from "@moraine/codec";
import { collectNulls, collectRange, lookup, lookupMany, type LookupReport } from "@moraine/index-core";
import type { ReadView } from "@moraine/store";
import { lookupChannel, type LookupEvent } from "../diagnostics.js";
import type { CatalogState } from "../model/state.js";
import { indexState } from "../model/view-values.js";
import {
  checkArray,
  checkBoolean,
  checkKnown,
  checkOptionalBoolean,
  type Names,
  orDefault,
} from "../verbs/arguments.js";
import { convertValue, pathText, type ValuesPath } from "./convert-value.js";
import { type IndexContext, indexContext } from "./layout.js";

/** Which index, and optionally at which snapshot: entries describe live rows only, so any but the head is refused. */
export interface IndexTarget {
  readonly index: IndexId;
  readonly at?: SnapshotId;
}

export interface IndexLookupArguments extends IndexTarget {
  /** One value for each column of the index. */
  readonly key: readonly unknown[];
}

export const lookupNames: Names<IndexLookupArguments> = { index: true, at: true, key: true };

export interface IndexLookupManyArguments extends IndexTarget {
  /** Complete keys. Repeated ones count once, one with a NULL finds nothing. */
  readonly keys: readonly (readonly unknown[])[];
}

export const lookupManyNames: Names<IndexLookupManyArguments> = { index: true, at: true, keys: true };

/** One side of a range: values of leading columns. */
export interface RangeBound {
  readonly values: readonly unknown[];
  /** Whether rows that equal the values take part. Default true. */
  readonly inclusive?: boolean;
}

const boundNames: Names<RangeBound> = { values: true, inclusive: true };

export interface IndexRangeArguments extends IndexTarget {
  readonly lower?: RangeBound;
  readonly upper?: RangeBound;
  /** The exact opposite of the index's order. */
  readonly reverse?: boolean;
  /** Most rows to return. */
  readonly limit?: number;
}

export const rangeNames: Names<IndexRangeArguments> = {
  index: true,
  at: true,
  lower: true,
  upper: true,
  reverse: true,
  limit: true,
};

export interface IndexNullsArguments extends IndexTarget {
  /** Predicates on leading columns: a value is equality, `null` is IS NULL. At least one `null`. */
  readonly prefix: readonly unknown[];
  readonly reverse?: boolean;
  readonly limit?: number;
}

export const nullsNames: Names<IndexNullsArguments> = {
  index: true,
  at: true,
  prefix: true,
  reverse: true,
  limit: true,
};

/** The definition of a ready index at the head that a state describes, as lookups need it. Refuses names that the read lacks. */
export function readableIndex<T extends IndexTarget>(
  state: CatalogState,
  target: T,
  known: Names<T>,
  cache: Map<bigint, IndexContext>,
): IndexContext {
  checkKnown(target, known, "arguments");
  if (typeof target.index !== "bigint") {
    throw new InvalidArgumentError("index is no index id", {
      remedy: "Pass the id that createIndex returned, or that indexByName finds.",
    });
  }
  if (target.at !== undefined && target.at !== state.head.snapshotId) {
    throw new UnsupportedError(
      `an index lookup at snapshot ${target.at}: entries describe the head only, which is ${state.head.snapshotId}`,
      {
        remedy: "Look up at the head, or scan the table at the past snapshot.",
      },
    );
  }
  const cached = cache.get(target.index);
  if (cached !== undefined) return cached;
  const definition = state.indexById(target.index);
  if (definition === undefined) throw new NotFoundError(`index ${target.index}`);
  const status = indexState(definition);
  if (status === "poisoned")
    throw new NotFoundError(`index ${target.index}: its build met a duplicate, so it never became ready`);
  if (status !== "ready") throw new IndexBuildingError(`index ${target.index} is ${status}`);
  const context = indexContext(state, definition);
  cache.set(target.index, context);
  return context;
}

export async function runLookup(
  view: ReadView,
  context: IndexContext,
  key: readonly unknown[],
): Promise<BigUint64Array> {
  const values = keyValues(context, key, { argument: "key" });
  refuseNulls(values, { argument: "key" });
  const began = lookupChannel.hasSubscribers ? performance.now() : undefined;
  const found = await lookup(view, context.layout, values);
  if (began !== undefined) {
    const hits = found.length > 0 ? 1 : 0;
    publishLookup(context, began, found, { requested: 1, distinct: 1, hits, misses: 1 - hits, peakInFlight: 1 });
  }
  return found;
}

export async function runLookupMany(
  view: ReadView,
  context: IndexContext,
  keys: readonly (readonly unknown[])[],
): Promise<BigUint64Array> {
  const values = checkArray(keys, "keys").map((key, at) => keyValues(context, key, { argument: "keys", at }));
  const began = lookupChannel.hasSubscribers ? performance.now() : undefined;
  const report: LookupReport = { requested: 0, distinct: 0, hits: 0, misses: 0, peakInFlight: 0 };
  const found = await lookupMany(view, context.layout, equalityPrefixes(context.layout, values), report);
  if (began !== undefined) publishLookup(context, began, found, { ...report, requested: values.length });
  return found;
}

function publishLookup(context: IndexContext, began: number, found: BigUint64Array, report: LookupReport): void {
  const event: LookupEvent = {
    index: context.layout.indexId,
    ...report,
    rows: found.length,
    durationMs: performance.now() - began,
  };
  lookupChannel.publish(event);
}

export async function runRange(
  view: ReadView,
  context: IndexContext,
  args: IndexRangeArguments,
): Promise<BigUint64Array> {
  const lower = boundOf(context, args.lower, "lower");
  const upper = boundOf(context, args.upper, "upper");
  const reverse = checkOptionalBoolean(args.reverse, "reverse");
  return await collectRange(view, context.layout, lower, upper, { reverse, limit: args.limit });
}

export async function runNulls(
  view: ReadView,
  context: IndexContext,
  args: IndexNullsArguments,
): Promise<BigUint64Array> {
  const prefix = indexValues(context, args.prefix, { argument: "prefix" });
  if (!prefix.includes(null)) {
    throw new InvalidArgumentError("prefix holds no null", {
      remedy: "Pass null for each column that is to be NULL, or use a lookup or a range.",
    });
  }
  const reverse = checkOptionalBoolean(args.reverse, "reverse");
  return await collectNulls(view, context.layout, prefix, { reverse, limit: args.limit });
}

function boundOf(context: IndexContext, bound: RangeBound | undefined, argument: string): Bound | undefined {
  if (bound === undefined) return undefined;
  checkKnown(bound, boundNames, argument);
  const path = { argument, member: ".values" };
  const values = indexValues(context, bound.values, path);
  if (values.length === 0) {
    throw new InvalidArgumentError(`${pathText(path)} is empty`, {
      remedy: "Pass a value for the first column of the index, or leave the bound out.",
    });
  }
  refuseNulls(values, path);
  return {
    values,
    inclusive: checkBoolean(orDefault(bound.inclusive, true), `${argument}.inclusive`),
  };
}

/** The values of a complete key. */
function keyValues(context: IndexContext, key: readonly unknown[], path: ValuesPath): IndexValue[] {
  const values = indexValues(context, key, path);
  if (values.length < context.columnTypes.length) throw otherCount(context, values.length, path);
  return values;
}

function otherCount(context: IndexContext, count: number, path: ValuesPath): InvalidArgumentError {
  return new InvalidArgumentError(
    `${pathText(path)} has ${count} values, and the index ${context.columnTypes.length} columns`,
    { remedy: "Give a key one value for each column of the index, a bound or a prefix at most as many." },
  );
}

function refuseNulls(values: readonly IndexValue[], path: ValuesPath): void {
  const at = values.indexOf(null);
  if (at < 0) return;
  throw new InvalidArgumentError(`${pathText(path)}[${at}] is NULL, which no comparison matches`, {
    remedy: "Use indexNulls for rows with NULL.",
  });
}

/** Converts plain values of leading columns. */
function indexValues(context: IndexContext, values: readonly unknown[], path: ValuesPath): IndexValue[] {
  if (!Array.isArray(values))
    throw new InvalidArgumentError(`${pathText(path)} is no array`, {
      remedy: "Pass the values as an array, in the index's column order.",
    });
  // A loop and no mapped copy, because this runs for each of many keys, and holes of the array are values that are missing.
  const converted: IndexValue[] = [];
  for (let at = 0; at < values.length; at++) {
    const columnType = context.columnTypes[at];
    if (columnType === undefined) throw otherCount(context, values.length, path);
    converted.push(convertValue(columnType, values[at], path, at));
  }
  return converted;
}
