import { ConversionFailed } from "../malformed.js";
import type { RawColumn } from "./raw-column.js";

type Validity = Uint8Array | null;

const maxBytes = 2 ** 31 - 1;

/** Values of any length: the bytes of the rows back to back, and where each begins. */
export interface VariableValues {
  readonly values: Uint8Array;
  readonly offsets: Int32Array;
}

/** Copies variable-length values; no value is looked at, so no string is made. */
export function copyVariable(raw: RawColumn, validity: Validity): VariableValues {
  const { length } = raw;
  const from = raw.offsets ?? new Int32Array(length + 1);
  const start = from[0] ?? 0;
  const end = from[length] ?? 0;
  if (validity !== null && hasBytesAtNulls(from, validity)) return compact(raw.values, from, validity);
  const offsets = from.slice(0, length + 1);
  if (start !== 0) for (let i = 0; i < offsets.length; i++) offsets[i] = (offsets[i] ?? 0) - start;
  return { values: new Uint8Array(raw.values.subarray(start, end)), offsets };
}

/** Copies values that all have `width` bytes. NULL rows take none, as they do in the variable-length form. */
export function copyFixed(raw: RawColumn, width: number, validity: Validity): VariableValues {
  const { length, values } = raw;
  if (length * width > maxBytes) throw new ConversionFailed("the values of a batch exceed 2 GiB");
  const offsets = new Int32Array(length + 1);
  if (validity === null) {
    for (let i = 0; i <= length; i++) offsets[i] = i * width;
    return { values: new Uint8Array(values.subarray(0, length * width)), offsets };
  }
  const to = new Uint8Array(length * width);
  let at = 0;
  for (let i = 0; i < length; i++) {
    if (validity[i] !== 0) {
      to.set(values.subarray(i * width, (i + 1) * width), at);
      at += width;
    }
    offsets[i + 1] = at;
  }
  return { values: to.slice(0, at), offsets };
}

/** Refuses values of another length than `width`. */
export function checkWidth(variable: VariableValues, width: number, validity: Validity): void {
  const { offsets } = variable;
  for (let i = 0; i + 1 < offsets.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    if ((offsets[i + 1] ?? 0) - (offsets[i] ?? 0) !== width) {
      throw new ConversionFailed(`a stored value does not have the ${width} bytes of the column's type`);
    }
  }
}

function hasBytesAtNulls(offsets: Int32Array, validity: Uint8Array): boolean {
  for (let i = 0; i < validity.length; i++) if (validity[i] === 0 && offsets[i + 1] !== offsets[i]) return true;
  return false;
}

function compact(values: Uint8Array, from: Int32Array, validity: Uint8Array): VariableValues {
  const to = new Uint8Array((from[validity.length] ?? 0) - (from[0] ?? 0));
  const offsets = new Int32Array(validity.length + 1);
  let at = 0;
  for (let i = 0; i < validity.length; i++) {
    if (validity[i] !== 0) {
      const value = values.subarray(from[i], from[i + 1]);
      to.set(value, at);
      at += value.length;
    }
    offsets[i + 1] = at;
  }
  return { values: to.slice(0, at), offsets };
}
