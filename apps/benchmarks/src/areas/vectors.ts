import type { ColumnVector, IndexValueType } from "@moraine/codec";
import { randomNumbers } from "../random.js";

/** Bytes of each generated value of the types whose length varies. */
export const generatedTextBytes = 20;

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A column of random values of a type, without NULLs. */
export function randomVector(type: IndexValueType, length: number): ColumnVector {
  const next = randomNumbers(length);
  const word = (): number => Math.floor(next() * 2 ** 32);
  const plain = (values: ColumnVector["values"]): ColumnVector => ({
    type,
    length,
    validity: null,
    values,
    offsets: null,
  });
  const wide = (): bigint => (BigInt(word()) << 32n) | BigInt(word());
  switch (type) {
    case "int8":
      return plain(Int8Array.from({ length }, word));
    case "uint8":
      return plain(Uint8Array.from({ length }, word));
    case "boolean":
      return plain(Uint8Array.from({ length }, () => word() & 1));
    case "int16":
      return plain(Int16Array.from({ length }, word));
    case "uint16":
      return plain(Uint16Array.from({ length }, word));
    case "int32":
      return plain(Int32Array.from({ length }, word));
    case "uint32":
      return plain(Uint32Array.from({ length }, word));
    case "int64":
      return plain(BigInt64Array.from({ length }, () => BigInt.asIntN(64, wide())));
    case "uint64":
      return plain(BigUint64Array.from({ length }, wide));
    case "float32":
      return plain(Float32Array.from({ length }, () => next() * 1e6 - 5e5));
    case "float64":
      return plain(Float64Array.from({ length }, () => next() * 1e12 - 5e11));
    case "int128":
      return plain(Uint8Array.from({ length: length * 16 }, word));
    case "string":
    case "bytes": {
      const byte = type === "string" ? () => letters.charCodeAt(word() % letters.length) : word;
      const values = Uint8Array.from({ length: length * generatedTextBytes }, byte);
      const offsets = Int32Array.from({ length: length + 1 }, (_, i) => i * generatedTextBytes);
      return { type, length, validity: null, values, offsets };
    }
  }
}
