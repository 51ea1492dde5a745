import type { IndexableType, IndexValue } from "@moraine/codec";
import type { BodyBuffer } from "./arrow-body.js";

/** The memory of a typed array. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Adds the buffers of a scalar column, but for its validity: NULLs have zeros, or no bytes. */
export function encodeValues(type: IndexableType, values: readonly IndexValue[], buffers: BodyBuffer[]): void {
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
  const offsets = new Int32Array(values.length + 1);
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === "string") total += Buffer.byteLength(value);
    else if (value instanceof Uint8Array) total += value.byteLength;
    offsets[i + 1] = total;
  }
  const data = new Uint8Array(total);
  // A view that writes text where it belongs: an array for each text costs more than the text.
  const text = Buffer.from(data.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === "string") text.write(value, offsets[i] ?? 0);
    else if (value instanceof Uint8Array) data.set(value, offsets[i]);
  }
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
