import { ConstraintError, type IndexValue, InvalidArgumentError, parseColumnType, toIndexValue } from "@moraine/codec";
import type { BodyBuffer, FieldNode, RecordBatchParts } from "./arrow-body.js";
import { childOf, type InlineColumn, nestedKind } from "./arrow-schema.js";
import { bytesOf, encodeValues } from "./encode-values.js";
import { quoted } from "../model/error-text.js";

/**
 * A row as plain values by column name. NULL is `null`, `undefined`, a property that is missing, and a hole in the array of a
 * list. A hole among the rows themselves is no row.
 */
export type PlainRow = Readonly<Record<string, unknown>>;

/** A column that takes plain values: whether NULL is allowed is checked here, as Arrow does not. */
export interface WritableColumn extends InlineColumn {
  readonly nullsAllowed: boolean;
  readonly children: readonly WritableColumn[];
}

const empty: BodyBuffer = new Uint8Array(0);

/** Encodes plain rows column by column. Errors name the column and the row's position, never a value. */
export function encodeRows(columns: readonly WritableColumn[], given: readonly PlainRow[]): RecordBatchParts {
  // A hole becomes `undefined`, which is no row. Nothing below meets a hole.
  const rows = Array.from(given);
  const known = new Set(columns.map((column) => column.name));
  rows.forEach((row, position) => {
    if (!isRecord(row)) {
      throw new InvalidArgumentError(`rows[${position}] is no object`, {
        remedy: "Pass each row as an object of column values.",
      });
    }
    for (const name of Object.keys(row)) {
      if (!known.has(name)) {
        throw new InvalidArgumentError(
          `rows[${position}] names column ${quoted(name)}, which the table does not have`,
          {
            remedy: "Use the table's column names exactly as they are written.",
          },
        );
      }
    }
  });
  const sink: Sink = { nodes: [], buffers: [] };
  const positions = [...rows.keys()];
  for (const column of columns) encodeColumn(column, rows, positions, sink);
  return { length: rows.length, ...sink };
}

/** Whether a value has named fields. Maps, dates and buffers are objects, too, and would be taken for one without any. */
function isRecord(value: unknown): value is PlainRow {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Encoded columns in depth-first order. */
interface Sink {
  readonly nodes: FieldNode[];
  readonly buffers: BodyBuffer[];
}

/** Values of one column or nested field, `null` for NULL, with the row that each of them belongs to. */
interface Inputs {
  /** For messages: the column's name, then those of the fields down to this one. */
  readonly path: string;
  readonly values: readonly unknown[];
  readonly rows: readonly number[];
}

function encodeColumn(
  column: WritableColumn,
  rows: readonly PlainRow[],
  positions: readonly number[],
  sink: Sink,
): void {
  const values = rows.map((row, position) =>
    orNull(column, column.name, position, Object.hasOwn(row, column.name) ? row[column.name] : null),
  );
  encodeInputs(column, { path: column.name, values, rows: positions }, sink);
}

/** The value of a column or field, `null` for NULL where that is allowed. What is below a NULL has no value of its own. */
function orNull(column: WritableColumn, path: string, row: number, value: unknown): unknown {
  if (value !== null && value !== undefined) return value;
  if (column.nullsAllowed) return null;
  throw new ConstraintError(`rows[${row}] has NULL in column ${quoted(path)}, which does not allow it`, {
    remedy: "Give the column a value, or allow NULL in it.",
  });
}

function encodeInputs(column: WritableColumn, inputs: Inputs, sink: Sink): void {
  const { values } = inputs;
  const validity = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  values.forEach((value, i) => {
    if (value === null) nullCount += 1;
    else validity[i >> 3] = (validity[i >> 3] ?? 0) | (1 << (i & 7));
  });
  sink.nodes.push({ length: values.length, nullCount });
  sink.buffers.push(nullCount === 0 ? empty : validity);
  switch (nestedKind(column.columnType)) {
    case "struct":
      encodeStruct(column, inputs, sink);
      return;
    case "list":
      encodeList(column, inputs, sink);
      return;
    case "map":
      encodeMap(column, inputs, sink);
      return;
    case undefined:
      encodeValues(
        parseColumnType(column.columnType),
        values.map((value, i) => (value === null ? null : convert(column, inputs, i))),
        sink.buffers,
      );
  }
}

function encodeStruct(column: WritableColumn, inputs: Inputs, sink: Sink): void {
  const known = new Set(column.children.map(({ name }) => name));
  inputs.values.forEach((value, i) => {
    if (value === null) return;
    if (!isRecord(value)) throw unfit(inputs, i, "is not an object of the struct's fields");
    for (const name of Object.keys(value)) {
      if (!known.has(name)) throw unfit(inputs, i, `names field ${quoted(name)}, which the struct does not have`);
    }
  });
  for (const field of column.children) {
    const path = `${inputs.path}.${field.name}`;
    const values = inputs.values.map((value, i) => {
      if (value === null) return null;
      const own = Object.hasOwn(value as object, field.name) ? (value as PlainRow)[field.name] : null;
      return orNull(field, path, rowOf(inputs, i), own);
    });
    encodeInputs(field, { path, values, rows: inputs.rows }, sink);
  }
}

function encodeList(column: WritableColumn, inputs: Inputs, sink: Sink): void {
  const lists = inputs.values.map((value, i): readonly unknown[] => {
    if (value === null) return [];
    if (!Array.isArray(value)) throw unfit(inputs, i, "is not an array");
    return Array.from(value as readonly unknown[]);
  });
  pushOffsets(lists, sink);
  const element = childOf(column, 0);
  encodeInputs(element, flattened(element, inputs, "element", lists), sink);
}

function encodeMap(column: WritableColumn, inputs: Inputs, sink: Sink): void {
  const maps = inputs.values.map((value, i): readonly (readonly [unknown, unknown])[] => {
    if (value === null) return [];
    if (!(value instanceof Map)) throw unfit(inputs, i, "is not a Map");
    const entries: (readonly [unknown, unknown])[] = [...(value as ReadonlyMap<unknown, unknown>)];
    if (entries.some(([key]) => key === null || key === undefined)) throw unfit(inputs, i, "has a NULL key");
    return entries;
  });
  pushOffsets(maps, sink);
  sink.nodes.push({ length: maps.reduce((sum, entries) => sum + entries.length, 0), nullCount: 0 });
  sink.buffers.push(empty);
  const keys = maps.map((entries, i) => distinctKeys(childOf(column, 0), inputs, i, entries));
  const values = maps.map((entries) => entries.map(([, value]) => value));
  const [key, value] = [childOf(column, 0), childOf(column, 1)];
  encodeInputs(key, flattened(key, inputs, "key", keys), sink);
  encodeInputs(value, flattened(value, inputs, "value", values), sink);
}

/**
 * The keys of a map. Keys that JavaScript tells apart may be one value of the column, `1n` and `1` for two: DuckDB has no map
 * with a key twice, and what is read of it would be short. Nor does a `Map` tell -0 from 0, which rounding to 32 bits makes.
 */
function distinctKeys(
  column: InlineColumn,
  inputs: Inputs,
  i: number,
  entries: readonly (readonly [unknown, unknown])[],
): unknown[] {
  const keys = entries.map(([key]) => key);
  if (nestedKind(column.columnType) !== undefined) return keys;
  const given = { path: `${inputs.path}.key`, values: keys, rows: keys.map(() => rowOf(inputs, i)) };
  const converted = keys.map((_, at) => convert(column, given, at));
  const identities = converted.map((key) => (key instanceof Uint8Array ? Buffer.from(key).toString("hex") : key));
  if (new Set(identities).size < keys.length) throw unfit(inputs, i, "has one key twice");
  return keys.map((key, at) => (converted[at] === 0 ? 0 : key));
}

function flattened(
  column: WritableColumn,
  inputs: Inputs,
  name: string,
  lists: readonly (readonly unknown[])[],
): Inputs {
  const path = `${inputs.path}.${name}`;
  const rows = lists.flatMap((list, i) => list.map(() => rowOf(inputs, i)));
  const values = lists.flatMap((list, i) => list.map((value) => orNull(column, path, rowOf(inputs, i), value)));
  return { path, values, rows };
}

function pushOffsets(lists: readonly (readonly unknown[])[], sink: Sink): void {
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + list.length;
  });
  sink.buffers.push(bytesOf(offsets));
}

function convert(column: InlineColumn, inputs: Inputs, i: number): IndexValue {
  try {
    return toIndexValue(column.columnType, inputs.values[i]);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new InvalidArgumentError(`${placeOf(inputs, i)}: ${withoutKind(cause.message)}`, {
      remedy: cause.remedy,
      cause,
    });
  }
}

function unfit(inputs: Inputs, i: number, what: string): InvalidArgumentError {
  return new InvalidArgumentError(`${placeOf(inputs, i)}: a value ${what}`, {
    remedy: "Pass objects for structs, arrays for lists, a Map for maps, and null for NULL.",
  });
}

function rowOf(inputs: Inputs, i: number): number {
  return inputs.rows[i] ?? 0;
}

function placeOf(inputs: Inputs, i: number): string {
  return `rows[${rowOf(inputs, i)}], column ${quoted(inputs.path)}`;
}

/** The text of an error without the kind that begins it, to be quoted in another one of that kind. */
function withoutKind(message: string): string {
  return message.slice(message.indexOf(": ") + 2);
}
