import { ConstraintError, CorruptionError } from "@moraine/codec";
import { type Data, DataType } from "apache-arrow";
import { quoted } from "../model/error-text.js";
import type { RecordBatchParts } from "./arrow-body.js";
import { readField } from "./arrow-read.js";
import { childOf, type InlineSchema, nestedKind } from "./arrow-schema.js";
import type { WritableColumn } from "./encode-rows.js";
import { checkValues } from "./plain-values.js";

/**
 * Checks a column of a chunk that was not made of plain rows, before it is stored: nobody could change it afterwards. The
 * column's Arrow type is known to be the field's.
 *
 * Errors: `corruption` for what nobody could read back, for the caller to name the argument; `constraint` for a NULL where the
 * column or a field of it forbids it.
 */
export function checkChunkColumn(
  column: WritableColumn,
  schema: InlineSchema,
  parts: RecordBatchParts,
  position: number,
): void {
  const data = readField(schema, parts, position);
  checkNullCounts(data);
  checkValues(schema.fields[position] ?? { type: data.type, metadata: new Map() }, data);
  if (mayHoldForbidden(column, data)) {
    checkNulls(
      column,
      column.name,
      data,
      Uint32Array.from({ length: data.length }, (_, row) => row),
    );
  }
}

/** Readers count NULLs themselves, or go by the number that the batch states: both must come to the same. */
function checkNullCounts(data: Data): void {
  if (DataType.isNull(data.type)) return;
  if (data.nullCount > 0) {
    let count = 0;
    for (let row = 0; row < data.length; row++) if (!data.getValid(row)) count += 1;
    if (count !== data.nullCount) throw new CorruptionError(`inline chunk states ${data.nullCount} NULLs for ${count}`);
  }
  for (const child of childrenOf(data)) checkNullCounts(child);
}

/** Whether there is a NULL at all below or in a column that forbids it, be it one that nothing refers to. */
function mayHoldForbidden(column: WritableColumn, data: Data): boolean {
  if (!column.nullsAllowed && data.nullCount > 0) return true;
  if (nestedKind(column.columnType) === undefined) return false;
  if (DataType.isMap(data.type)) {
    const [entries, key, value] = mapParts(data);
    return entries.nullCount > 0 || key.nullCount > 0 || mayHoldForbidden(childOf(column, 1), value);
  }
  return childrenOf(data).some((child, at) => mayHoldForbidden(childOf(column, at), child));
}

/** Checks the rows of a column that something refers to. */
function checkNulls(column: WritableColumn, path: string, data: Data, rows: Uint32Array): void {
  const valid = validOf(data, rows);
  if (!column.nullsAllowed && valid.length < rows.length) {
    throw new ConstraintError(`rows has NULL in column ${quoted(path)}, which does not allow it`, {
      remedy: "Give the column a value, or allow NULL in it.",
    });
  }
  if (nestedKind(column.columnType) === undefined) return;
  const { type } = data;
  if (DataType.isStruct(type)) {
    for (const [at, child] of childrenOf(data).entries()) {
      const field = childOf(column, at);
      checkNulls(field, `${path}.${field.name}`, child, valid);
    }
  } else if (DataType.isMap(type)) {
    const [entries, key, value] = mapParts(data);
    const referred = referredTo(data, valid);
    if (validOf(key, validOf(entries, referred)).length < referred.length)
      throw new CorruptionError("inline chunk has a map with a NULL key");
    checkNulls(childOf(column, 1), `${path}.value`, value, referred);
  } else if (DataType.isList(type)) {
    for (const child of childrenOf(data))
      checkNulls(childOf(column, 0), `${path}.element`, child, referredTo(data, valid));
  }
}

function validOf(data: Data, rows: Uint32Array): Uint32Array {
  if (DataType.isNull(data.type)) return new Uint32Array(0);
  return data.nullCount === 0 ? rows : rows.filter((row) => data.getValid(row));
}

/** Positions in the child of a list or a map that belong to some of its rows. */
function referredTo(data: Data, rows: Uint32Array): Uint32Array {
  const offsets = data.valueOffsets as Int32Array;
  let count = 0;
  for (const row of rows) count += (offsets[row + 1] ?? 0) - (offsets[row] ?? 0);
  const positions = new Uint32Array(count);
  let next = 0;
  for (const row of rows) {
    const end = offsets[row + 1] ?? 0;
    for (let at = offsets[row] ?? 0; at < end; at++) positions[next++] = at;
  }
  return positions;
}

function mapParts(data: Data): [entries: Data, key: Data, value: Data] {
  const entries = childrenOf(data)[0];
  const [key, value] = entries === undefined ? [] : childrenOf(entries);
  if (entries === undefined || key === undefined || value === undefined)
    throw new CorruptionError("inline chunk has a map without keys or values");
  return [entries, key, value];
}

function childrenOf(data: Data): readonly Data[] {
  return data.children as readonly Data[];
}
