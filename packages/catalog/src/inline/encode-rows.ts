import {
  ConstraintError,
  type IndexableType,
  type IndexValue,
  InvalidArgumentError,
  parseColumnType,
  toIndexValue,
} from "@moraine/codec";
import { Table, tableToIPC, vectorFromArray } from "apache-arrow";
import { type BodyBuffer, decodeBody, type FieldNode, type RecordBatchParts } from "./arrow-body.js";
import { arrowTypeOf, type InlineColumn } from "./arrow-schema.js";
import { bodiesOfStream } from "./arrow-stream.js";
import { quoted } from "../model/error-text.js";

/** A row as plain values by column name. A missing column is NULL. */
export type PlainRow = Readonly<Record<string, unknown>>;

/** A column that takes plain values: whether NULL is allowed is checked here, as Arrow does not. */
export interface WritableColumn extends InlineColumn {
  readonly nullsAllowed: boolean;
}

const utf8 = new TextEncoder();
const empty: BodyBuffer = new Uint8Array(0);

/** Encodes plain rows column by column. Errors name the column and the row's position, never a value. */
export function encodeRows(columns: readonly WritableColumn[], rows: readonly PlainRow[]): RecordBatchParts {
  const known = new Set(columns.map((column) => column.name));
  rows.forEach((row, position) => {
    if (typeof row !== "object" || row === null) {
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
  const nodes: FieldNode[] = [];
  const buffers: BodyBuffer[] = [];
  for (const column of columns) encodeColumn(column, rows, nodes, buffers);
  return { length: rows.length, nodes, buffers };
}

function encodeColumn(
  column: WritableColumn,
  rows: readonly PlainRow[],
  nodes: FieldNode[],
  buffers: BodyBuffer[],
): void {
  const validity = new Uint8Array(Math.ceil(rows.length / 8));
  let nullCount = 0;
  const inputs: unknown[] = [];
  rows.forEach((row, position) => {
    const input = Object.hasOwn(row, column.name) ? row[column.name] : undefined;
    if (input === null || input === undefined) {
      if (!column.nullsAllowed) {
        throw new ConstraintError(
          `rows[${position}] has NULL in column ${quoted(column.name)}, which does not allow it`,
          {
            remedy: "Give the column a value, or allow NULL in it.",
          },
        );
      }
      nullCount += 1;
      inputs.push(null);
    } else {
      validity[position >> 3] = (validity[position >> 3] ?? 0) | (1 << (position & 7));
      inputs.push(input);
    }
  });
  if (column.children.length > 0) {
    const parts = nestedParts(column, inputs);
    nodes.push(...parts.nodes);
    buffers.push(...parts.buffers);
    return;
  }
  const type = parseColumnType(column.columnType);
  const values = inputs.map((input, position) => (input === null ? null : convert(column, input, position)));
  nodes.push({ length: rows.length, nullCount });
  buffers.push(nullCount === 0 ? empty : validity);
  encodeValues(type, values, buffers);
}

function convert(column: InlineColumn, input: unknown, position: number): IndexValue {
  try {
    return toIndexValue(column.columnType, input);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new InvalidArgumentError(`rows[${position}], column ${quoted(column.name)}: ${withoutKind(cause.message)}`, {
      remedy: cause.remedy,
      cause,
    });
  }
}

/** The text of an error without the kind that begins it, to be quoted in another one of that kind. */
function withoutKind(message: string): string {
  return message.slice(message.indexOf(": ") + 2);
}

function nestedParts(column: InlineColumn, inputs: readonly unknown[]): RecordBatchParts {
  const type = arrowTypeOf(column);
  const bodies = bodiesOfStream(tableToIPC(new Table({ [column.name]: vectorFromArray(inputs, type) }), "stream"));
  const body = bodies[0];
  if (body === undefined || bodies.length !== 1) {
    throw new InvalidArgumentError(`column ${quoted(column.name)}: nested values could not be encoded`, {
      remedy: "Pass the rows as an Arrow record batch.",
    });
  }
  return decodeBody(body);
}

function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function encodeValues(type: IndexableType, values: readonly IndexValue[], buffers: BodyBuffer[]): void {
  const count = values.length;
  switch (type.logical) {
    case "boolean": {
      const bits = new Uint8Array(Math.ceil(count / 8));
      values.forEach((value, i) => {
        if (value === true) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
      });
      buffers.push(bits);
      return;
    }
    case "string":
    case "blob":
      encodeVariable(values, buffers);
      return;
    case "uuid": {
      const out = new Uint8Array(16 * count);
      values.forEach((value, i) => {
        if (value instanceof Uint8Array) out.set(value, 16 * i);
      });
      buffers.push(out);
      return;
    }
    case "decimal": {
      const view = new DataView(new ArrayBuffer(16 * count));
      values.forEach((value, i) => {
        const unscaled = value === null ? 0n : BigInt(value as bigint | number);
        view.setBigUint64(16 * i, BigInt.asUintN(64, unscaled), true);
        view.setBigInt64(16 * i + 8, BigInt.asIntN(64, unscaled >> 64n), true);
      });
      buffers.push(bytesOf(view));
      return;
    }
    default:
      buffers.push(bytesOf(fixedValues(type, values)));
  }
}

function encodeVariable(values: readonly IndexValue[], buffers: BodyBuffer[]): void {
  const encoded = values.map((value) =>
    typeof value === "string" ? utf8.encode(value) : value instanceof Uint8Array ? value : empty,
  );
  const offsets = new Int32Array(values.length + 1);
  let total = 0;
  encoded.forEach((bytes, i) => {
    total += bytes.byteLength;
    offsets[i + 1] = total;
  });
  const data = new Uint8Array(total);
  encoded.forEach((bytes, i) => data.set(bytes, offsets[i] ?? 0));
  buffers.push(bytesOf(offsets), data);
}

function numbers<T extends { [index: number]: number }>(out: T, values: readonly IndexValue[]): T {
  values.forEach((value, i) => {
    out[i] = value === null ? 0 : Number(value);
  });
  return out;
}

function fixedValues(type: IndexableType, values: readonly IndexValue[]): ArrayBufferView {
  const count = values.length;
  switch (type.valueType) {
    case "int8":
      return numbers(new Int8Array(count), values);
    case "int16":
      return numbers(new Int16Array(count), values);
    case "int32":
      return numbers(new Int32Array(count), values);
    case "uint8":
      return numbers(new Uint8Array(count), values);
    case "uint16":
      return numbers(new Uint16Array(count), values);
    case "uint32":
      return numbers(new Uint32Array(count), values);
    case "float32":
      return numbers(new Float32Array(count), values);
    case "float64":
      return numbers(new Float64Array(count), values);
    case "uint64": {
      const out = new BigUint64Array(count);
      values.forEach((value, i) => {
        out[i] = value === null ? 0n : BigInt(value as bigint | number);
      });
      return out;
    }
    default: {
      const out = new BigInt64Array(count);
      values.forEach((value, i) => {
        out[i] = value === null ? 0n : BigInt(value as bigint | number);
      });
      return out;
    }
  }
}
