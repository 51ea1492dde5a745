import type { ColumnData, RowBatch } from "@moraine/catalog";
import { parseDuckDbType } from "@moraine/codec";
import { childTypes, layoutOf } from "../../src/wire/column-layout.js";

/** A value of a test's column: bytes or a number for fixed widths, text or bytes, a list, the fields of a struct, `null`. */
export type TestValue = null | boolean | bigint | number | string | Uint8Array | readonly TestValue[];

/** Of floats; all other numbers are integers. */
const floats: Readonly<Record<string, (bytes: Buffer, value: number) => void>> = {
  FLOAT: (bytes, value) => void bytes.writeFloatLE(value),
  DOUBLE: (bytes, value) => void bytes.writeDoubleLE(value),
};

/** A column as a sender lays it out. The value of a map is a list of pairs. */
export function column(type: string, given: readonly TestValue[]): ColumnData {
  const parsed = parseDuckDbType(type);
  const layout = layoutOf(parsed);
  const inner = childTypes(parsed);
  const rows = given.length;
  const validity = given.includes(null) ? bits(given.map((value) => value !== null)) : undefined;
  const bare = { type, rows, validity, values: undefined, offsets: undefined, children: [] };
  switch (layout?.kind) {
    case "fixed":
      return { ...bare, values: joined(given.map((value) => fixed(parsed.name, value, layout.bytes))) };
    case "bits":
      return { ...bare, values: bits(given.map((value) => value === true)) };
    case "bytes": {
      const parts = given.map((value) => (typeof value === "string" ? Buffer.from(value) : asBytes(value)));
      return { ...bare, offsets: offsetsOf(parts), values: joined(parts) };
    }
    case "list": {
      const parts = given.map(asList);
      return { ...bare, offsets: offsetsOf(parts), children: [column(inner[0]!, parts.flat())] };
    }
    case "array": {
      const parts = given.map((value) => (value === null ? Array<TestValue>(layout.size).fill(null) : asList(value)));
      return { ...bare, children: [column(inner[0]!, parts.flat())] };
    }
    case "fields":
      return {
        ...bare,
        children: inner.map((child, at) =>
          column(
            child,
            given.map((value) => asList(value)[at] ?? null),
          ),
        ),
      };
    case "nothing":
      return bare;
    case undefined:
      throw new Error(`${type} does not travel`);
  }
}

export function batchOf(...columns: readonly ColumnData[]): RowBatch {
  return { rows: columns[0]?.rows ?? 0, columns };
}

function asList(value: TestValue): readonly TestValue[] {
  return Array.isArray(value) ? (value as readonly TestValue[]) : [];
}

function asBytes(value: TestValue): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function fixed(name: string, value: TestValue, byteLength: number): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const bytes = Buffer.alloc(byteLength);
  if (typeof value !== "number" && typeof value !== "bigint") return bytes;
  const float = floats[name];
  if (float !== undefined) {
    float(bytes, Number(value));
    return bytes;
  }
  let left = BigInt.asUintN(byteLength * 8, BigInt(value));
  for (let at = 0; at < byteLength; at++, left >>= 8n) bytes[at] = Number(left & 0xffn);
  return bytes;
}

function bits(flags: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [at, flag] of flags.entries()) if (flag) bytes[at >> 3]! |= 1 << (at & 7);
  return bytes;
}

function offsetsOf(parts: readonly { readonly length: number }[]): Uint32Array {
  let at = 0;
  return Uint32Array.from([0, ...parts.map((part) => (at += part.length))]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
