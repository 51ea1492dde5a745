import { compareBytes, prefixEnd } from "./bytes.js";
import { putComponent } from "./component.js";
import { putFlag } from "./component-bytes.js";
import type { IndexColumn, IndexLayout, IndexValue } from "./index-value.js";
import { KeyBuffer } from "./key-buffer.js";
import { indexPrefix, type IndexShape } from "./keys.js";
import { boundBytes } from "./limits.js";

/** Keys from `start` (inclusive) to `end` (exclusive). Never inverted; `start` equals `end` where nothing can match. */
export interface KeyRangeBytes {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** Which rows of the column after the leading values a key prefix reaches. */
export type NextColumn = "any" | "values" | "nulls";

/**
 * What all keys of an index begin with whose leading columns have these values and whose next column is as `next` says.
 * No other key begins so.
 */
export function keyBody(
  layout: IndexLayout,
  shape: IndexShape,
  values: readonly IndexValue[],
  next: NextColumn = "any",
): Uint8Array {
  const buffer = new KeyBuffer(boundBytes);
  putBody(buffer, layout, indexPrefix(shape, layout.indexId), values);
  if (next !== "any") {
    const { nullsFirst } = layout.columns[values.length] as IndexColumn;
    buffer.reserve(2);
    buffer.at = putFlag(buffer.bytes, buffer.at, (next === "nulls") === nullsFirst ? 0 : 1);
  }
  return buffer.bytes.slice(0, buffer.at);
}

/** Adds what `keyBody` gives for these values to a buffer; `prefix` is the `indexPrefix` of the shape and the index. */
export function putBody(
  buffer: KeyBuffer,
  layout: IndexLayout,
  prefix: Uint8Array,
  values: readonly IndexValue[],
): void {
  buffer.reserve(prefix.length);
  buffer.bytes.set(prefix, buffer.at);
  buffer.at += prefix.length;
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    total = putComponent(buffer, layout.columns[i] as IndexColumn, values[i] as IndexValue, total);
  }
}

/** The body with the terminator that ends a key's values: sorts right before every key that begins with the body. */
export function closeBody(body: Uint8Array): Uint8Array {
  const closed = new Uint8Array(body.length + 1);
  closed.set(body);
  return closed;
}

/** The smallest key above all that begin with the body. */
export function aboveBody(body: Uint8Array): Uint8Array {
  // A body begins with the subspace byte 07, so there is always something above.
  return prefixEnd(body) as Uint8Array;
}

/** All keys that begin with the body. */
export function bodyRange(body: Uint8Array): KeyRangeBytes {
  return { start: body, end: aboveBody(body) };
}

/** The range, or an empty one where the sides are the wrong way round. */
export function orderedRange(start: Uint8Array, end: Uint8Array): KeyRangeBytes {
  return { start, end: compareBytes(start, end) > 0 ? start : end };
}
