import { compareBytes } from "./bytes.js";
import { InvalidArgumentError } from "./errors.js";
import type { IndexColumn, IndexLayout, IndexValue } from "./index-value.js";
import { KeyBuffer } from "./key-buffer.js";
import { aboveBody, bodyRange, closeBody, keyBody, type KeyRangeBytes, orderedRange, putBody } from "./key-range.js";
import { indexPrefix, indexShapeTags } from "./keys.js";
import { equalityPrefixBytes } from "./limits.js";

/** One side of a comparison: values of the leading columns, and whether rows that equal them take part. */
export interface Bound {
  readonly values: readonly IndexValue[];
  readonly inclusive: boolean;
}

/** The key ranges that answer a comparison: every entry in them matches, but for those in `unmatched`. */
export interface RangeBounds {
  /** Entries that stand for one row per value. Absent for an index that has only entries with a row id in the key. */
  readonly unique?: KeyRangeBytes;
  /** Entries with the row id in the key. Where `unique` is there, these are the rows with NULL in a later column. */
  readonly multi: KeyRangeBytes;
  /**
   * Parts of `multi`, ascending, whose rows do not match: they equal a bound in its first columns and hold NULL in a later
   * column of the same bound, so that the comparison is unknown. Always empty for an equality prefix plus a comparison of
   * the next column; only bounds that differ earlier have any.
   */
  readonly unmatched: readonly KeyRangeBytes[];
}

/**
 * What an equality lookup reads: the complete key of a unique index; of any other the key up to its row id, to be scanned
 * to `prefixEnd`.
 *
 * Errors: `invalid_argument` unless every column has a value that is not NULL; else as `IndexKeyBuilder.append`.
 */
export function equalityPrefix(layout: IndexLayout, values: readonly IndexValue[]): Uint8Array {
  checkComplete(layout, values);
  refuseNulls(values, "an equality lookup");
  return closeBody(keyBody(layout, layout.unique ? "unique" : "multi", values));
}

/** Keys back to back: key `i` is `data.subarray(ends[i - 1] ?? 0, ends[i])`. */
export interface EqualityPrefixes {
  readonly data: Uint8Array;
  readonly ends: Uint32Array;
}

/**
 * `equalityPrefix` of many, in one buffer. Values with a NULL among them are left out: no row equals them.
 *
 * Errors: as `equalityPrefix`.
 */
export function equalityPrefixes(layout: IndexLayout, keys: readonly (readonly IndexValue[])[]): EqualityPrefixes {
  const prefix = indexPrefix(layout.unique ? "unique" : "multi", layout.indexId);
  const buffer = new KeyBuffer(keys.length * equalityPrefixBytes);
  const ends = new Uint32Array(keys.length);
  let count = 0;
  for (const values of keys) {
    checkComplete(layout, values);
    if (values.includes(null)) continue;
    putBody(buffer, layout, prefix, values);
    buffer.reserve(1);
    buffer.bytes[buffer.at++] = 0;
    ends[count++] = buffer.at;
  }
  return { data: buffer.bytes.subarray(0, buffer.at), ends: ends.subarray(0, count) };
}

/**
 * The key ranges of rows between two bounds on the leading columns. An absent bound leaves its side open. Bounds compare
 * as SQL row values do, in value order whatever the columns' directions; rows with NULL in a column that a comparison
 * needs never match. A unique index has both ranges: its rows with a NULL in a later column are entries of the multi shape.
 *
 * Allowed are an equality prefix plus a comparison of the next column (one bound may stop at the prefix, inclusive), in any
 * directions, and any two bounds if the columns they name share one direction.
 *
 * Errors: `invalid_argument` for a bound that names no column, more columns than the index has, or NULL, and for bounds that
 * differ before their last column on columns of both directions; else as `IndexKeyBuilder.append`.
 */
export function rangeBounds(layout: IndexLayout, lower: Bound | undefined, upper: Bound | undefined): RangeBounds {
  checkBound(layout, lower);
  checkBound(layout, upper);
  const named = Math.max(lower?.values.length ?? 1, upper?.values.length ?? 1);
  const prefix = pinnedPrefix(layout, lower, upper, named);
  const descending = (layout.columns[named - 1] as IndexColumn).descending;
  if (prefix === undefined && layout.columns.slice(0, named).some((column) => column.descending !== descending)) {
    throw new InvalidArgumentError(
      "lower and upper differ before the last of columns that do not all ascend or descend",
      {
        remedy: "Give both bounds the same values in all columns but the last.",
      },
    );
  }
  const open = keyBody(layout, "multi", prefix ?? [], "values");
  const isOpen = (bound: Bound | undefined): boolean =>
    bound === undefined || (prefix !== undefined && bound.values.length < named);
  // Descending columns turn value order round, so the upper bound is where the bytes begin.
  const [first, last] = descending ? [upper, lower] : [lower, upper];
  const start = isOpen(first) ? open : startOf(layout, first as Bound);
  const end = isOpen(last) ? aboveBody(open) : endOf(layout, last as Bound);
  const multi = orderedRange(start, end);
  const unmatched = prefix === undefined ? unknownParts(layout, [lower, upper], multi) : [];
  if (!layout.unique) return { multi, unmatched };
  return { unique: { start: uniqueShaped(multi.start), end: uniqueShaped(multi.end) }, multi, unmatched };
}

/**
 * The key range of rows whose leading columns are as `prefix` says, `null` standing for IS NULL, any other value for
 * equality. Rows with a NULL are always entries of the multi shape.
 *
 * Errors: `invalid_argument` for an empty prefix, one longer than the index, or one without NULL; else as `IndexKeyBuilder.append`.
 */
export function nullPrefixBounds(layout: IndexLayout, prefix: readonly IndexValue[]): KeyRangeBytes {
  checkWidth(layout, prefix.length, "a NULL lookup");
  if (!prefix.includes(null)) {
    throw new InvalidArgumentError("a NULL lookup names no NULL", { remedy: "Use an equality lookup or a range." });
  }
  return bodyRange(keyBody(layout, "multi", prefix));
}

function startOf(layout: IndexLayout, bound: Bound): Uint8Array {
  const body = keyBody(layout, "multi", bound.values);
  return bound.inclusive ? closeBody(body) : aboveBody(body);
}

function endOf(layout: IndexLayout, bound: Bound): Uint8Array {
  const body = keyBody(layout, "multi", bound.values);
  return bound.inclusive ? aboveBody(body) : closeBody(body);
}

/** The values that all matching rows have in the columns before the last named one, or `undefined` if there are none such. */
function pinnedPrefix(
  layout: IndexLayout,
  lower: Bound | undefined,
  upper: Bound | undefined,
  named: number,
): readonly IndexValue[] | undefined {
  if (named === 1) return [];
  if (lower === undefined || upper === undefined) return undefined;
  for (const bound of [lower, upper]) {
    const stopsAtPrefix = bound.values.length === named - 1 && bound.inclusive;
    if (bound.values.length !== named && !stopsAtPrefix) return undefined;
  }
  const prefix = lower.values.slice(0, named - 1);
  const other = upper.values.slice(0, named - 1);
  // Compared as keys, so that the two zeros and all NaNs are one value.
  return compareBytes(keyBody(layout, "multi", prefix), keyBody(layout, "multi", other)) === 0 ? prefix : undefined;
}

function unknownParts(
  layout: IndexLayout,
  bounds: readonly (Bound | undefined)[],
  range: KeyRangeBytes,
): readonly KeyRangeBytes[] {
  const parts: KeyRangeBytes[] = [];
  for (const bound of bounds) {
    for (let leading = 1; leading < (bound?.values.length ?? 0); leading++) {
      const part = bodyRange(keyBody(layout, "multi", (bound as Bound).values.slice(0, leading), "nulls"));
      // A part differs from each bound in a flag at the latest, so it lies inside the range or outside, never across.
      const inside = compareBytes(part.start, range.start) >= 0 && compareBytes(part.start, range.end) < 0;
      if (inside && !parts.some((known) => compareBytes(known.start, part.start) === 0)) parts.push(part);
    }
  }
  return parts.toSorted((a, b) => compareBytes(a.start, b.start));
}

function uniqueShaped(key: Uint8Array): Uint8Array {
  const copy = key.slice();
  copy[1] = indexShapeTags.unique;
  return copy;
}

function checkComplete({ columns }: IndexLayout, values: readonly IndexValue[]): void {
  if (values.length === columns.length) return;
  throw new InvalidArgumentError(`an equality lookup names ${values.length} columns, the index has ${columns.length}`, {
    remedy: "Give one value for each column of the index, or read a range.",
  });
}

function checkBound(layout: IndexLayout, bound: Bound | undefined): void {
  if (bound === undefined) return;
  checkWidth(layout, bound.values.length, "a range bound");
  refuseNulls(bound.values, "a range bound");
}

function checkWidth(layout: IndexLayout, columns: number, what: string): void {
  if (columns > 0 && columns <= layout.columns.length) return;
  throw new InvalidArgumentError(`${what} names ${columns} columns, the index has ${layout.columns.length}`, {
    remedy: "Name at least one leading column of the index, and no more than it has.",
  });
}

function refuseNulls(values: readonly IndexValue[], what: string): void {
  if (!values.includes(null)) return;
  throw new InvalidArgumentError(`${what} holds NULL, which no comparison matches`, { remedy: "Use a NULL lookup." });
}
