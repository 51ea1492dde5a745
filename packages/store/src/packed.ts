import { InvalidArgumentError } from "@moraine/codec";
import { absent, type PackedKeys, type PackedValues, type RowBlock, type ReadView } from "./interface.js";
import { limits } from "./limits.js";

/** Puts keys back to back. The keys are copied. */
export function packKeys(keys: readonly Uint8Array[]): PackedKeys {
  let bytes = 0;
  for (const key of keys) bytes += key.length;
  const data = new Uint8Array(bytes);
  const ends = new Uint32Array(keys.length);
  let end = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    data.set(key, end);
    end += key.length;
    ends[i] = end;
  }
  return { data, ends };
}

/** One key as a packed list of one, without a copy. */
export function packKey(key: Uint8Array): PackedKeys {
  return { data: key, ends: Uint32Array.of(key.length) };
}

/** The same keys in buffers of their own. */
export function copyKeys({ data, ends }: PackedKeys): PackedKeys {
  return { data: data.slice(0, ends.at(-1) ?? 0), ends: ends.slice() };
}

/** Key `i` of a packed list, as a view. */
export function keyAt(keys: PackedKeys, i: number): Uint8Array {
  return keys.data.subarray(i === 0 ? 0 : keys.ends[i - 1], keys.ends[i]);
}

/** Value `i`, as a view; `undefined` when the key is absent. */
export function valueAt(values: PackedValues, i: number): Uint8Array | undefined {
  const length = values.lengths[i];
  if (length === undefined || length === absent) return undefined;
  const offset = values.offsets[i]!;
  return values.data.subarray(offset, offset + length);
}

/** Key of row `i` of a block, as a view. */
export function rowKey(block: RowBlock, i: number): Uint8Array {
  return block.data.subarray(i === 0 ? 0 : block.ends[2 * i - 1], block.ends[2 * i]);
}

/** Value of row `i` of a block, as a view. */
export function rowValue(block: RowBlock, i: number): Uint8Array {
  return block.data.subarray(block.ends[2 * i], block.ends[2 * i + 1]);
}

/** Why the values of a `getMany` cannot be packed. */
export function tooManyValueBytes(): InvalidArgumentError {
  return new InvalidArgumentError(`the values of one getMany have more than ${limits.packedBytes} bytes`, {
    remedy: "Ask for fewer keys at once.",
  });
}

/** Puts values back to back, `undefined` for an absent one. They are copied. */
export function packValues(values: readonly (Uint8Array | undefined)[]): PackedValues {
  let bytes = 0;
  for (const value of values) if (value !== undefined) bytes += value.length;
  if (bytes > limits.packedBytes) throw tooManyValueBytes();
  const data = new Uint8Array(bytes);
  const offsets = new Uint32Array(values.length);
  const lengths = new Uint32Array(values.length);
  let offset = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    offsets[i] = offset;
    if (value === undefined) {
      lengths[i] = absent;
    } else {
      data.set(value, offset);
      lengths[i] = value.length;
      offset += value.length;
    }
  }
  return { data, offsets, lengths };
}

/** One key and its value. */
export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** All rows of a scan as views into its blocks. For scans whose size the caller knows to be small. */
export async function collectRows(blocks: AsyncIterable<RowBlock>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const block of blocks) {
    for (let i = 0; i < block.count; i++) rows.push({ key: rowKey(block, i), value: rowValue(block, i) });
  }
  return rows;
}

/** The value of one key: a `getMany` of one. For single records such as a head; never inside a loop. */
export async function getOne(view: ReadView, key: Uint8Array): Promise<Uint8Array | undefined> {
  return valueAt(await view.getMany(packKey(key)), 0);
}
