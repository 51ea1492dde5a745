import { ConversionFailed } from "../malformed.js";
import type { RawColumn } from "./raw-column.js";
import type { DecimalStorage } from "./source-type.js";

const longestBytes = 32;

/** Reads the unscaled integer of row `i` from any of the ways to store a decimal. Slow and general. */
export function unscaledOf(raw: RawColumn, storage: DecimalStorage): (row: number) => bigint {
  const { values, offsets } = raw;
  const { endian, width } = storage;
  return (row) => {
    const start = offsets === null ? row * width : (offsets[row] ?? 0);
    const end = offsets === null ? start + width : (offsets[row + 1] ?? 0);
    const length = end - start;
    if (length === 0) return 0n;
    if (length > longestBytes) throw new ConversionFailed(`a stored decimal has ${length} bytes`);
    let value = 0n;
    for (let i = 0; i < length; i++) {
      value = (value << 8n) | BigInt(values[endian === "big" ? start + i : end - 1 - i] ?? 0);
    }
    return BigInt.asIntN(length * 8, value);
  };
}
