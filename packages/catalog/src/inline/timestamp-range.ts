import { isTimestampCount } from "@moraine/codec";
import { type Data, DataType, TimeUnit } from "apache-arrow";

const units = {
  [TimeUnit.SECOND]: "s",
  [TimeUnit.MILLISECOND]: "ms",
  [TimeUnit.MICROSECOND]: "us",
  [TimeUnit.NANOSECOND]: "ns",
} as const;

/**
 * Whether every timestamp of a column, nested ones too, is one that DuckDB has: others cannot be written to a file that it reads.
 * `isRead` marks the rows that count, by default all; NULLs and what they hide never do.
 */
export function timestampsInRange(data: Data, isRead?: Uint8Array): boolean {
  const { type } = data;
  if (DataType.isTimestamp(type)) {
    const unit = units[type.unit];
    const counts = data.values as BigInt64Array;
    for (let row = 0; row < data.length; row++) {
      if (isRead?.[row] !== 0 && data.getValid(row) && !isTimestampCount(counts[row] ?? 0n, unit)) return false;
    }
    return true;
  }
  if (data.children.length === 0) return true;
  const visible = visibleEntries(data, isRead);
  return data.children.every((child) => timestampsInRange(child, visible));
}

/** The entries of the children that visible rows refer to, as one byte each. */
function visibleEntries(data: Data, isRead: Uint8Array | undefined): Uint8Array {
  const visible = new Uint8Array(Math.max(0, ...data.children.map((child) => child.length)));
  const { type } = data;
  const offsets = data.valueOffsets as Int32Array | undefined;
  const width = DataType.isFixedSizeList(type) ? type.listSize : 1;
  for (let row = 0; row < data.length; row++) {
    if (isRead?.[row] === 0 || !data.getValid(row)) continue;
    if (DataType.isList(type) || DataType.isMap(type)) visible.fill(1, offsets?.[row], offsets?.[row + 1]);
    else visible.fill(1, row * width, (row + 1) * width);
  }
  return visible;
}
