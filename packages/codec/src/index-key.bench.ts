import { bench, describe } from "vitest";
import {
  type ColumnVector,
  decodeIndexKey,
  encodeIndexEntry,
  IndexKeyBuilder,
  type IndexKeys,
  type IndexLayout,
  type IndexValueType,
} from "./index.js";

// One iteration builds 100,000 keys: keys per second are 100,000 times the rate shown.
const rows = 100_000;
const rowIds = BigUint64Array.from({ length: rows }, (_, i) => BigInt(i));

/** A fixed sequence, so that runs compare. */
function* pseudoRandom(): Generator<number, never> {
  let state = 12_345;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    yield state;
  }
}

const random = pseudoRandom();
const fixed = (type: IndexValueType, values: ColumnVector["values"]): ColumnVector => ({
  type,
  length: rows,
  validity: null,
  values,
  offsets: null,
});
const text = Buffer.concat(Array.from({ length: rows }, (_, i) => Buffer.from(`customer-${i}`.padEnd(20, "x"))));

const columns: Readonly<Record<string, ColumnVector>> = {
  "int64, ascending ids": fixed(
    "int64",
    BigInt64Array.from({ length: rows }, (_, i) => BigInt(i)),
  ),
  "int64, random": fixed(
    "int64",
    BigInt64Array.from({ length: rows }, () => (BigInt(random.next().value) << 32n) | BigInt(random.next().value)),
  ),
  int32: fixed(
    "int32",
    Int32Array.from({ length: rows }, () => random.next().value),
  ),
  float64: fixed(
    "float64",
    Float64Array.from({ length: rows }, () => random.next().value / 1_000),
  ),
  "string of 20 bytes": {
    type: "string",
    length: rows,
    validity: null,
    values: new Uint8Array(text),
    offsets: Int32Array.from({ length: rows + 1 }, (_, i) => 20 * i),
  },
};

function build(layout: IndexLayout, vectors: readonly ColumnVector[]): IndexKeys {
  const builder = new IndexKeyBuilder(layout);
  builder.appendColumns(vectors, rowIds);
  return builder.finish();
}

describe.each([
  ["unique", true, false],
  ["multi", false, false],
  ["unique, descending", true, true],
] as const)("100,000 keys by columns, %s", (_name, unique, descending) => {
  for (const [name, vector] of Object.entries(columns)) {
    const layout: IndexLayout = {
      indexId: 7n,
      unique,
      columns: [{ valueType: vector.type, descending, nullsFirst: false }],
    };
    bench(name, () => {
      build(layout, [vector]);
    });
  }
});

describe("100,000 keys otherwise", () => {
  const int64: IndexLayout = {
    indexId: 7n,
    unique: true,
    columns: [{ valueType: "int64", descending: false, nullsFirst: false }],
  };
  const composite: IndexLayout = {
    indexId: 7n,
    unique: true,
    columns: [
      { valueType: "string", descending: false, nullsFirst: false },
      { valueType: "int64", descending: true, nullsFirst: false },
    ],
  };
  const vectors = [columns["string of 20 bytes"], columns["int64, random"]] as ColumnVector[];
  bench("string and int64 by columns", () => {
    build(composite, vectors);
  });
  const values = Array.from({ length: rows }, (_, i) => [BigInt(i)]);
  bench("int64 one by one", () => {
    const builder = new IndexKeyBuilder(int64);
    for (let i = 0; i < rows; i++) builder.append(values[i] as bigint[], BigInt(i));
    builder.finish();
  });
  bench("int64 by the plain encoder", () => {
    for (let i = 0; i < rows; i++) encodeIndexEntry(int64, values[i] as bigint[], BigInt(i));
  });
  const keys = build(int64, [columns["int64, random"] as ColumnVector]);
  bench("int64 decoded", () => {
    for (let i = 0; i < rows; i++)
      decodeIndexKey(int64, keys.data.subarray(i === 0 ? 0 : keys.ends[i - 1], keys.ends[i]));
  });
});
