import { ConstraintError, CorruptionError, InvalidArgumentError } from "@moraine/codec";
import { vectorFromArrow } from "@moraine/scoped-reader";
import { type Data, DataType, type Field, makeVector } from "apache-arrow";
import { plainValueAt } from "../index/vector-value.js";
import { fieldType } from "./arrow-access.js";
import { childrenOf } from "./arrow-schema.js";
import { columnTypeOf, type TypedField } from "./arrow-types.js";
import { timestampsInRange } from "./timestamp-range.js";

/** Gives the value of a row. */
type ValueAt = (row: number) => unknown;

/**
 * Values of a column of inline rows in the form in which `encodeRows` takes them: what is read and inserted again makes the same
 * bytes. Scalars go the way of index entries, so both show one value alike. Types that plain rows cannot have are as Apache
 * Arrow gives them. Nothing is shared with the column's buffers.
 *
 * Errors: `corruption` for bytes that no value of the type has, now or when the row is read.
 */
export function plainValues(field: TypedField, data: Data): ValueAt {
  const { type } = field;
  if (DataType.isNull(type)) return () => null;
  const valueAt = nestedValues(field, data) ?? scalarValues(field, data);
  return (row) => (data.getValid(row) ? valueAt(row) : null);
}

/**
 * Refuses a column that holds what `plainValues` could not give back, before it is stored. Errors: `corruption`, for the caller
 * to name the argument.
 */
export function checkValues(field: TypedField, data: Data): void {
  const valueAt = plainValues(field, data);
  if (!timestampsInRange(data))
    throw new CorruptionError("an inline column holds a timestamp that DuckDB does not have");
  // Text and decimals have been checked by their conversion; a time may lie outside of its day.
  if (hasTimes(field.type)) for (let row = 0; row < data.length; row++) valueAt(row);
}

function hasTimes(type: DataType): boolean {
  return DataType.isTime(type) || childrenOf(type).some((child) => hasTimes(fieldType(child)));
}

function nestedValues({ type }: TypedField, data: Data): ValueAt | undefined {
  if (DataType.isStruct(type)) {
    const fields = childrenOf(type).map(({ name }, at) => ({ name, valueAt: childValues(data, at) }));
    return (row) => Object.fromEntries(fields.map(({ name, valueAt }) => [name, valueAt(row)]));
  }
  if (DataType.isFixedSizeList(type)) {
    const valueAt = childValues(data, 0);
    return (row) => Array.from({ length: type.listSize }, (_, i) => valueAt(row * type.listSize + i));
  }
  if (DataType.isList(type)) {
    const { entries, rowsOf } = listEntries(data);
    const valueAt = valuesOf(childrenOf(type)[0], entries);
    return (row) => rowsOf(row).map(valueAt);
  }
  if (DataType.isMap(type)) {
    const { entries, rowsOf } = listEntries(data);
    const keyAt = childValues(entries, 0);
    const valueAt = childValues(entries, 1);
    return (row) => new Map(rowsOf(row).map((entry) => [keyAt(entry), valueAt(entry)]));
  }
  return undefined;
}

function childValues(data: Data, at: number): ValueAt {
  return valuesOf(childrenOf(data.type)[at], data.children[at] as Data | undefined);
}

function valuesOf(field: Field | undefined, data: Data | undefined): ValueAt {
  if (field === undefined || data === undefined) throw new CorruptionError("an inline column lacks a nested one");
  return plainValues({ type: fieldType(field), metadata: field.metadata }, data);
}

/** What lists or maps hold. Only what is referred to is kept: of a single row that is little, however long the column is. */
function listEntries(data: Data): { entries: Data; rowsOf: (row: number) => number[] } {
  const offsets = data.valueOffsets as Int32Array;
  const first = offsets[0] ?? 0;
  const last = offsets[data.length] ?? first;
  const child = data.children[0] as Data | undefined;
  if (child === undefined) throw new CorruptionError("an inline column lacks a nested one");
  const rowsOf = (row: number): number[] => {
    const start = offsets[row] ?? 0;
    return Array.from({ length: (offsets[row + 1] ?? start) - start }, (_, i) => start - first + i);
  };
  return { entries: child.slice(first, last - first), rowsOf };
}

function scalarValues(field: TypedField, data: Data): ValueAt {
  const columnType = columnTypeOf(field);
  if (columnType === undefined) {
    const vector = makeVector(data);
    return (row) => copied(vector.get(row) as unknown);
  }
  const vector = typed(() => vectorFromArrow(data, columnType));
  return (row) => typed(() => plainValueAt(vector, row, columnType));
}

function copied(value: unknown): unknown {
  return value instanceof Uint8Array || value instanceof Int32Array ? value.slice() : value;
}

/** The types are those of the column itself, so what does not fit is not a matter of types. */
function typed<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof ConstraintError || cause instanceof InvalidArgumentError)) throw cause;
    throw new CorruptionError("an inline chunk holds a value that its column cannot have", {
      remedy: "Restore the store: this row cannot be read.",
      cause,
    });
  }
}
