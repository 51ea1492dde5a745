import type { ColumnVector, IndexValue, IndexValueType } from "@moraine/codec";

type Values = ColumnVector["values"];

const wideBytes = 16;
const encoder = new TextEncoder();

/** Elements that one row of a fixed-width type takes in `values`. */
function elementsPerRow(type: IndexValueType): number {
  return type === "int128" ? wideBytes : 1;
}

/** An all-zero value array for `rows` rows of a type; for `string` and `bytes`, of that many bytes. */
function newValues(type: IndexValueType, rows: number): Values {
  switch (type) {
    case "int8":
      return new Int8Array(rows);
    case "int16":
      return new Int16Array(rows);
    case "int32":
      return new Int32Array(rows);
    case "int64":
      return new BigInt64Array(rows);
    case "uint16":
      return new Uint16Array(rows);
    case "uint32":
      return new Uint32Array(rows);
    case "uint64":
      return new BigUint64Array(rows);
    case "float32":
      return new Float32Array(rows);
    case "float64":
      return new Float64Array(rows);
    case "int128":
      return new Uint8Array(rows * wideBytes);
    case "uint8":
    case "boolean":
    case "string":
    case "bytes":
      return new Uint8Array(rows);
  }
}

function isVariable(type: IndexValueType): boolean {
  return type === "string" || type === "bytes";
}

/** A column of NULLs. */
export function nullVector(type: IndexValueType, length: number): ColumnVector {
  const variable = isVariable(type);
  return {
    type,
    length,
    validity: length === 0 ? null : new Uint8Array(length),
    values: newValues(type, variable ? 0 : length),
    offsets: variable ? new Int32Array(length + 1) : null,
  };
}

/** A column that holds one value in every row. */
export function constantVector(type: IndexValueType, value: IndexValue, length: number): ColumnVector {
  if (value === null) return nullVector(type, length);
  if (isVariable(type)) {
    const bytes = typeof value === "string" ? encoder.encode(value) : (value as Uint8Array);
    const values = new Uint8Array(bytes.length * length);
    const offsets = new Int32Array(length + 1);
    for (let i = 0; i < length; i++) {
      values.set(bytes, i * bytes.length);
      offsets[i + 1] = (i + 1) * bytes.length;
    }
    return { type, length, validity: null, values, offsets };
  }
  const values = newValues(type, length);
  if (type === "int128") {
    const view = new DataView(values.buffer);
    for (let i = 0; i < length; i++) {
      view.setBigUint64(i * wideBytes, BigInt.asUintN(64, value as bigint), true);
      view.setBigInt64(i * wideBytes + 8, (value as bigint) >> 64n, true);
    }
  } else if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    values.fill(value as bigint);
  } else {
    values.fill(Number(value));
  }
  return { type, length, validity: null, values, offsets: null };
}

/** Rows `start` to `end` (exclusive) of a column, without copying. */
export function sliceVector(vector: ColumnVector, start: number, end: number): ColumnVector {
  if (start === 0 && end === vector.length) return vector;
  const { type, validity, values, offsets } = vector;
  const width = elementsPerRow(type);
  return {
    type,
    length: end - start,
    validity: validity === null ? null : validity.subarray(start, end),
    values: offsets === null ? values.subarray(start * width, end * width) : values,
    offsets: offsets === null ? null : offsets.subarray(start, end + 1),
  };
}

/** The given rows of a column, in the order given; a row may be named more than once. */
export function gatherVector(vector: ColumnVector, rows: ArrayLike<number>): ColumnVector {
  const { type } = vector;
  const { length } = rows;
  const validity = gatherValidity(vector.validity, rows);
  if (vector.offsets !== null) {
    return { type, length, validity, ...gatherVariable(vector.values as Uint8Array, vector.offsets, rows) };
  }
  const values = newValues(type, length);
  const from = vector.values;
  if (type === "int128") {
    const [wide, wideFrom] = [values as Uint8Array, from as Uint8Array];
    for (let i = 0; i < length; i++) {
      const row = rows[i] ?? 0;
      wide.set(wideFrom.subarray(row * wideBytes, (row + 1) * wideBytes), i * wideBytes);
    }
  } else if (isBig(values)) {
    for (let i = 0; i < length; i++) values[i] = (from as BigInt64Array)[rows[i] ?? 0] ?? 0n;
  } else {
    for (let i = 0; i < length; i++) values[i] = (from as Float64Array)[rows[i] ?? 0] ?? 0;
  }
  return { type, length, validity, values, offsets: null };
}

/** Columns of one type end to end. */
export function concatVectors(vectors: readonly ColumnVector[], type: IndexValueType): ColumnVector {
  const only = vectors[0];
  if (only !== undefined && vectors.length === 1) return only;
  const length = vectors.reduce((sum, vector) => sum + vector.length, 0);
  const variable = isVariable(type);
  const bytes = variable ? vectors.reduce((sum, vector) => sum + usedBytes(vector), 0) : length;
  const values = newValues(type, bytes);
  const offsets = variable ? new Int32Array(length + 1) : null;
  const validity = vectors.every((vector) => vector.validity === null) ? null : new Uint8Array(length).fill(1);
  const width = elementsPerRow(type);
  let row = 0;
  let at = 0;
  for (const vector of vectors) {
    if (vector.validity !== null) validity?.set(vector.validity, row);
    if (offsets === null || vector.offsets === null) {
      setAll(values, vector.values, row * width);
    } else {
      const start = vector.offsets[0] ?? 0;
      const used = usedBytes(vector);
      setAll(values, vector.values.subarray(start, start + used), at);
      for (let i = 0; i < vector.length; i++) offsets[row + i + 1] = at + (vector.offsets[i + 1] ?? 0) - start;
      at += used;
    }
    row += vector.length;
  }
  return { type, length, validity, values, offsets };
}

function usedBytes({ offsets, length }: ColumnVector): number {
  return offsets === null ? 0 : (offsets[length] ?? 0) - (offsets[0] ?? 0);
}

function setAll(to: Values, from: Values, at: number): void {
  if (isBig(to)) to.set(from as BigInt64Array, at);
  else to.set(from as Uint8Array, at);
}

function isBig(values: Values): values is BigInt64Array | BigUint64Array {
  return values instanceof BigInt64Array || values instanceof BigUint64Array;
}

function gatherValidity(validity: Uint8Array | null, rows: ArrayLike<number>): Uint8Array | null {
  if (validity === null) return null;
  const gathered = new Uint8Array(rows.length);
  let valid = 0;
  for (let i = 0; i < rows.length; i++) valid += gathered[i] = validity[rows[i] ?? 0] ?? 0;
  return valid === rows.length ? null : gathered;
}

function gatherVariable(
  from: Uint8Array,
  fromOffsets: Int32Array,
  rows: ArrayLike<number>,
): { values: Uint8Array; offsets: Int32Array } {
  const offsets = new Int32Array(rows.length + 1);
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? 0;
    total += (fromOffsets[row + 1] ?? 0) - (fromOffsets[row] ?? 0);
    offsets[i + 1] = total;
  }
  const values = new Uint8Array(total);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? 0;
    values.set(from.subarray(fromOffsets[row], fromOffsets[row + 1]), offsets[i]);
  }
  return { values, offsets };
}
