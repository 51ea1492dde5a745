import { type ColumnVector, CorruptionError } from "@moraine/codec";
import { defaultVector, vectorFromArrow } from "@moraine/scoped-reader";
import { quoted } from "../model/error-text.js";
import type { RecordBatchParts } from "./arrow-body.js";
import { readField } from "./arrow-read.js";
import type { InlineSchema } from "./arrow-schema.js";

/** A column as a chunk is asked for it. */
export interface ChunkColumn {
  readonly columnId: bigint;
  /** What the column was called when the chunk was written; `undefined` if it did not exist then. */
  readonly name: string | undefined;
  /** The column's type now: older values are cast to it. */
  readonly columnType: string;
  readonly initialDefault: string | undefined;
}

/** Columns of a chunk by field id. A column that is younger than the chunk has its initial default in every row. */
export function decodeChunk(
  schema: InlineSchema,
  parts: RecordBatchParts,
  columns: readonly ChunkColumn[],
): Map<bigint, ColumnVector> {
  const vectors = new Map<bigint, ColumnVector>();
  for (const { columnId, name, columnType, initialDefault } of columns) {
    const position = name === undefined ? -1 : schema.fields.findIndex((field) => field.name === name);
    if (name !== undefined && position < 0) {
      throw new CorruptionError(`an inline chunk lacks column ${quoted(name)} of its schema version`);
    }
    vectors.set(
      columnId,
      position < 0
        ? defaultVector(columnType, initialDefault, parts.length)
        : vectorFromArrow(readField(schema, parts, position), columnType),
    );
  }
  return vectors;
}

/** Row ids of a chunk, in order. */
export function denseRowIds(start: bigint, count: number): BigUint64Array {
  const ids = new BigUint64Array(count);
  for (let i = 0; i < count; i++) ids[i] = start + BigInt(i);
  return ids;
}
