import { decodeValue, type SnapshotId, snapshotKey, SnapshotValue } from "@moraine/codec";
import { type ReadView, rowValue } from "@moraine/store";
import type { SnapshotRecord, SnapshotsArguments } from "./interface.js";

/** Records of retained snapshots up to the head, the newest first. */
export async function readSnapshots(
  view: ReadView,
  head: SnapshotId,
  { limit, before }: SnapshotsArguments,
): Promise<SnapshotRecord[]> {
  const end = before === undefined || before > head ? head + 1n : before;
  if (limit === 0 || end <= 0n) return [];
  const records: SnapshotRecord[] = [];
  const range = { start: snapshotKey(0n), end: snapshotKey(end) };
  for await (const block of view.scan(range, { reverse: true, ...(limit === undefined ? {} : { limit }) })) {
    for (let row = 0; row < block.count; row++) {
      const value = decodeValue(SnapshotValue, rowValue(block, row));
      records.push({
        id: value.snapshotId as SnapshotId,
        timeMicros: value.snapshotTimeMicros,
        schemaVersion: value.schemaVersion,
        changes: value.changesMade,
        author: value.author,
        message: value.commitMessage,
        extraInfo: value.commitExtraInfo,
      });
    }
  }
  return records;
}
