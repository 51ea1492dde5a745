import { encodeValue, type LooseRowValue, LooseRowsValue, sysLooseRowsKey } from "@moraine/codec";
import type { BatchSink } from "./diff.js";

/** The rows that are left when a snapshot comes whose changes somebody had written down before it was there: its own count. */
export function withoutChangesOf(snapshotId: bigint, rows: readonly LooseRowValue[]): readonly LooseRowValue[] {
  const id = `${snapshotId}`;
  const isOf = ({ table, cells }: LooseRowValue): boolean =>
    table === "ducklake_snapshot_changes" && cells[0]?.text === id;
  return rows.some(isOf) ? rows.filter((row) => !isOf(row)) : rows;
}

/** Writes the record of loose rows; a store without such rows has none. */
export function encodeLooseRows(rows: readonly LooseRowValue[], sink: BatchSink): void {
  if (rows.length === 0) sink.delete(sysLooseRowsKey);
  else sink.put(sysLooseRowsKey, encodeValue(LooseRowsValue, { rows: [...rows] }));
}
