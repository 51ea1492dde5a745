import type { IndexValue, IndexValueType } from "@moraine/codec";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const integers = (bits: bigint, signed: boolean): bigint[] =>
  signed
    ? [-(1n << (bits - 1n)), -(1n << (bits - 2n)), -1n, 0n, 1n, 2n, (1n << (bits - 1n)) - 1n]
    : [0n, 1n, 2n, 127n, 128n, (1n << bits) - 2n, (1n << bits) - 1n];

/** A few values of each type in ascending SQL order, among them those whose bytes need escaping. */
export const domains: Readonly<Record<IndexValueType, readonly IndexValue[]>> = {
  int8: integers(8n, true),
  int16: integers(16n, true),
  int32: integers(32n, true),
  int64: integers(64n, true),
  int128: integers(128n, true),
  uint8: integers(8n, false),
  uint16: integers(16n, false),
  uint32: integers(32n, false),
  uint64: integers(64n, false),
  float32: [Number.NEGATIVE_INFINITY, -1.5, 0, 1.5, 256, Number.POSITIVE_INFINITY, Number.NaN],
  float64: [Number.NEGATIVE_INFINITY, -1e-323, 0, 1e-323, 0.1, Number.POSITIVE_INFINITY, Number.NaN],
  boolean: [false, true],
  string: ["", "\0", "\u0001", "a", "a\0", "ab", "b", "é", "\u{1d11e}"],
  bytes: [bytes(), bytes(0), bytes(0, 0), bytes(0, 1), bytes(1), bytes(1, 255), bytes(255), bytes(255, 255)],
};

export const valueTypes = Object.keys(domains) as IndexValueType[];
