import { InvalidArgumentError } from "./errors.js";

const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

/** Orders byte strings as the store does: unsigned, a prefix before its extensions. Negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The smallest byte string above every one that starts with `prefix`; `undefined` when there is none (empty, or all `ff`). */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const end = prefix.slice(0, length);
  end[length - 1] = (end[length - 1] as number) + 1;
  return end;
}

/** Refuses what is not a `bigint` of 0 to 2^64 - 1, naming the argument. */
export function checkU64(value: bigint, name: string): void {
  if (typeof value !== "bigint" || BigInt.asUintN(64, value) !== value) {
    throw new InvalidArgumentError(`${name} is not an unsigned 64-bit integer`, {
      remedy: `Pass ${name} as a bigint from 0 to 2^64 - 1.`,
    });
  }
}

/** Writes eight big-endian bytes at `at`. The caller has checked the range. */
export function putU64(out: Uint8Array, at: number, value: bigint): void {
  scratch.setBigUint64(0, value);
  for (let i = 0; i < 8; i++) out[at + i] = scratchBytes[i] as number;
}

/** Reads eight big-endian bytes at `at`. The caller has checked the length. */
export function getU64(bytes: Uint8Array, at: number): bigint {
  for (let i = 0; i < 8; i++) scratchBytes[i] = bytes[at + i] as number;
  return scratch.getBigUint64(0);
}

/** Up to this many bytes a loop copies quicker than a call into the runtime. */
const shortCopyBytes = 64;

/** A copy of `bytes` from `start` to `end`. Quicker than `slice`, which looks for a subclass first. */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const length = end - start;
  const copy = new Uint8Array(length);
  if (length > shortCopyBytes) copy.set(bytes.subarray(start, end));
  else for (let i = 0; i < length; i++) copy[i] = bytes[start + i] as number;
  return copy;
}
