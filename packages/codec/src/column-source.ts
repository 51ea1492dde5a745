import type { ColumnVector } from "./column-vector.js";
import { notOfType, valueTypeBytes } from "./component.js";
import { InvalidArgumentError } from "./errors.js";
import type { IndexColumn, IndexValueType } from "./index-value.js";

/** How the builder's loop reads a column: the width of its elements and what turns them into canonical bytes. */
export const sourceKinds = {
  octet: 0,
  half: 1,
  word: 2,
  doubleWord: 3,
  float32: 4,
  float64: 5,
  boolean: 6,
  int128: 7,
  text: 8,
  bytes: 9,
} as const;

/**
 * One column as the builder's loop reads it: whatever the vector's element type, as unsigned words of the machine, so that
 * the loop meets the same few array types for every column.
 */
export interface ColumnSource {
  readonly kind: number;
  readonly descending: boolean;
  readonly flag: number;
  readonly nullFlag: number;
  /** Canonical bytes of one value; 0 for the kinds whose length varies. */
  readonly valueBytes: number;
  /** What is exclusive-ored to the most significant element: the sign bit of signed integers. */
  readonly flip: number;
  readonly validity: Uint8Array | null;
  readonly octets: Uint8Array;
  readonly halves: Uint16Array;
  readonly words: Uint32Array;
  readonly offsets: Int32Array;
}

const noOctets = new Uint8Array(0);
const noHalves = new Uint16Array(0);
const noWords = new Uint32Array(0);
const noOffsets = new Int32Array(0);

const kinds: Readonly<Record<IndexValueType, number>> = {
  int8: sourceKinds.octet,
  uint8: sourceKinds.octet,
  int16: sourceKinds.half,
  uint16: sourceKinds.half,
  int32: sourceKinds.word,
  uint32: sourceKinds.word,
  int64: sourceKinds.doubleWord,
  uint64: sourceKinds.doubleWord,
  int128: sourceKinds.int128,
  float32: sourceKinds.float32,
  float64: sourceKinds.float64,
  boolean: sourceKinds.boolean,
  string: sourceKinds.text,
  bytes: sourceKinds.bytes,
};

const flips: Readonly<Partial<Record<IndexValueType, number>>> = {
  int8: 0x80,
  int16: 0x8000,
  int32: 0x8000_0000,
  int64: 0x8000_0000,
};

/** The array classes that may hold a column of each type. */
const arrayClasses: Readonly<Record<IndexValueType, new () => ColumnVector["values"]>> = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  int128: Uint8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  boolean: Uint8Array,
  string: Uint8Array,
  bytes: Uint8Array,
};

/** Checks a vector against its index column and prepares it for the builder's loop. */
export function columnSource(column: IndexColumn, vector: ColumnVector, rowCount: number): ColumnSource {
  const { valueType } = column;
  const { values, validity, offsets, length } = vector;
  if (vector.type !== valueType || !(values instanceof arrayClasses[valueType])) throw notOfType(valueType);
  if (length !== rowCount) throw wrongShape(`has ${length} rows, not ${rowCount}`);
  const width = valueTypeBytes[valueType];
  if (width === undefined) {
    if (offsets === null || offsets.length < length + 1) throw wrongShape("has too few offsets");
  } else if (values.byteLength < width * length) {
    throw wrongShape("has too few values");
  }
  if (validity !== null && validity.length < length) throw wrongShape("has too short a validity");
  const { buffer, byteOffset, byteLength } = values;
  const kind = kinds[valueType];
  const asWords = kind >= sourceKinds.word && kind <= sourceKinds.float64;
  return {
    kind,
    descending: column.descending,
    flag: column.nullsFirst ? 1 : 0,
    nullFlag: column.nullsFirst ? 0 : 1,
    valueBytes: width ?? 0,
    flip: flips[valueType] ?? 0,
    validity,
    octets: asWords || kind === sourceKinds.half ? noOctets : new Uint8Array(buffer, byteOffset, byteLength),
    halves: kind === sourceKinds.half ? new Uint16Array(buffer, byteOffset, byteLength / 2) : noHalves,
    words: asWords ? new Uint32Array(buffer, byteOffset, byteLength / 4) : noWords,
    offsets: offsets ?? noOffsets,
  };
}

/** A vector whose buffers do not fit its length. */
export function wrongShape(what: string): InvalidArgumentError {
  return new InvalidArgumentError(`a column vector ${what}`, {
    remedy: "Give vectors of one length whose buffers hold that many rows.",
  });
}
