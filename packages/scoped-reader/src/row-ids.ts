import { type ColumnVector, ConstraintError, CorruptionError } from "@moraine/codec";
import type { FileSource, RowIdMode } from "./interface.js";
import type { ParquetSchema, TopLevelField } from "./parquet/schema.js";
import { embeddedRowIds } from "./resolve-columns.js";

/** Where the row ids of a file come from. */
export type RowIdSource =
  | { readonly kind: "none" }
  | { readonly kind: "dense"; readonly start: bigint }
  | { readonly kind: "embedded"; readonly field: TopLevelField };

const maxRowId = 2n ** 63n - 1n;

/**
 * The precedence of the specification ("Rewrite files: row-id resolution"): column, then range, then refusal. The column
 * wins even when a range is recorded, because a flushed file has both and its ids may have gaps.
 */
export function resolveRowIds(source: FileSource, schema: ParquetSchema, mode: RowIdMode): RowIdSource {
  if (mode === "none") return { kind: "none" };
  const field = embeddedRowIds(source, schema);
  if (mode === "ordinal") {
    if (field === undefined) return { kind: "dense", start: 0n };
    throw new ConstraintError(`file ${source.path} embeds row ids and cannot be given new ones`, {
      remedy: "Write the rows to a new file without the row-id column, and register that.",
    });
  }
  if (field !== undefined) {
    if (field.leaf === null)
      throw new CorruptionError(`file ${source.path} has a nested column in place of its row ids`);
    return { kind: "embedded", field };
  }
  const { rowIdStart, recordCount } = source;
  if (rowIdStart === undefined) {
    throw new CorruptionError(`file ${source.path} neither embeds row ids nor has a recorded first row id`);
  }
  if (rowIdStart < 0n || rowIdStart + recordCount > maxRowId) {
    throw new CorruptionError(`the recorded first row id of file ${source.path} leaves no room for its rows`);
  }
  return { kind: "dense", start: rowIdStart };
}

const wordSize = 0x1_0000_0000;

/** Row ids of a dense file at the given positions, which ascend. */
export function denseRowIds(start: bigint, positions: Float64Array): BigUint64Array {
  const ids = new BigUint64Array(positions.length);
  const first = positions[0] ?? 0;
  const last = positions[positions.length - 1] ?? 0;
  if (start + BigInt(last) > BigInt(Number.MAX_SAFE_INTEGER)) {
    for (let i = 0; i < positions.length; i++) ids[i] = start + BigInt(positions[i] ?? 0);
    return ids;
  }
  // Halves written as plain numbers: no bigint is made for each row.
  const words = new Uint32Array(ids.buffer);
  const base = Number(start);
  const low = (base + first) % wordSize;
  if (last - first === positions.length - 1 && low + positions.length <= wordSize) {
    const high = Math.floor((base + first) / wordSize);
    for (let at = 0, id = low; at < words.length; at += 2, id++) words[at] = id;
    if (high > 0) for (let at = 1; at < words.length; at += 2) words[at] = high;
    return ids;
  }
  for (let i = 0; i < positions.length; i++) {
    const id = base + (positions[i] ?? 0);
    words[2 * i] = id >>> 0;
    words[2 * i + 1] = id / wordSize;
  }
  return ids;
}

/** Embedded row ids, checked: a NULL or a negative one means that file and catalog disagree. */
export function checkedRowIds(path: string, vector: ColumnVector): BigUint64Array {
  if (vector.validity?.includes(0) === true) throw new CorruptionError(`file ${path} embeds a NULL row id`);
  const ids = vector.values as BigInt64Array;
  const words = new Int32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  let sign = 0;
  for (let i = 1; i < words.length; i += 2) sign |= words[i] ?? 0;
  if (sign < 0) throw new CorruptionError(`file ${path} embeds a negative row id`);
  return new BigUint64Array(ids.buffer, ids.byteOffset, ids.length);
}
