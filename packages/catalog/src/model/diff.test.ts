import { ColumnValue, TableStatsValue, TableValue, decodeKey, decodeValue, entityMessages } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { fromHex, RecordedBatch } from "../testing/records.js";
import { encodeEntityChanges, encodeGcChanges } from "./diff.js";
import type { EntityChange } from "./entities.js";
import { changelogWindowSnapshots, maxChangelogKeys } from "./limits.js";
import { stageChangelog } from "./snapshot-record.js";

const table: TableValue = { ...TableValue.defaults, tableId: 1n, beginSnapshot: 2n, tableName: "t", nextColumnId: 3n };
const column: ColumnValue = { ...ColumnValue.defaults, tableId: 1n, columnId: 1n, beginSnapshot: 2n, columnName: "a" };
const stats: TableStatsValue = { ...TableStatsValue.defaults, tableId: 1n, recordCount: 5n };

const of = (change: EntityChange): EntityChange => change;

/** What a change writes: `put`, `delete` and `history` with the begin and end that the records carry. */
function written(change: EntityChange, options = {}): string[] {
  const batch = new RecordedBatch();
  const keys = encodeEntityChanges([change], 9n, batch, options);
  expect(keys).toHaveLength(1);
  const puts = [...batch.puts].map(([hex, bytes]) => {
    const key = decodeKey(fromHex(hex));
    const value = decodeValue<object>(entityMessages[change.kind], bytes) as {
      beginSnapshot?: bigint;
      endSnapshot?: bigint;
    };
    return key.subspace === "history"
      ? `history@${key.endSnapshot} ${value.beginSnapshot}..${value.endSnapshot}`
      : `put ${value.beginSnapshot}..${value.endSnapshot}`;
  });
  return [...puts, ...[...batch.deletes].map(() => "delete")].sort();
}

describe("records of a change", () => {
  it("are one put for what is new", () => {
    expect(written(of({ kind: "table", ids: [1n], before: undefined, after: table }))).toEqual(["put 2..undefined"]);
  });

  it("end the old version of a versioned kind", () => {
    const after = { ...table, tableName: "u", beginSnapshot: 9n };
    expect(written(of({ kind: "table", ids: [1n], before: table, after }))).toEqual([
      "history@9 2..9",
      "put 9..undefined",
    ]);
    expect(written(of({ kind: "table", ids: [1n], before: table, after: undefined }))).toEqual([
      "delete",
      "history@9 2..9",
    ]);
  });

  it("overwrite the other kinds in place", () => {
    const after = { ...stats, recordCount: 6n };
    expect(written(of({ kind: "table_stats", ids: [1n], before: stats, after }))).toEqual(["put undefined..undefined"]);
    expect(written(of({ kind: "table_stats", ids: [1n], before: stats, after: undefined }))).toEqual(["delete"]);
  });

  it("keep one version of a column whose tags alone changed", () => {
    const tags = [{ beginSnapshot: 9n, endSnapshot: undefined, key: "k", value: "v", isNull: false }];
    expect(written(of({ kind: "column", ids: [1n, 1n], before: column, after: { ...column, tags } }))).toEqual([
      "put 2..undefined",
    ]);
    const renamed = { ...column, tags, columnName: "b", beginSnapshot: 9n };
    expect(written(of({ kind: "column", ids: [1n, 1n], before: column, after: renamed }))).toEqual([
      "history@9 2..9",
      "put 9..undefined",
    ]);
  });

  it("keep one version of a table whose column counter alone changed, when asked to", () => {
    const change = of({ kind: "table", ids: [1n], before: table, after: { ...table, nextColumnId: 4n } });
    expect(written(change, { columnCounterInPlace: true })).toEqual(["put 2..undefined"]);
    expect(written(change)).toEqual(["history@9 2..9", "put 2..undefined"]);
    const moved = of({ kind: "table", ids: [1n], before: table, after: { ...table, nextColumnId: 4n, schemaId: 5n } });
    expect(written(moved, { columnCounterInPlace: true })).toHaveLength(2);
  });

  it("add and remove scheduled deletions", () => {
    const batch = new RecordedBatch();
    const after = { dataFileId: 5n, path: "f", pathIsRelative: true, scheduleStartMicros: 1n };
    encodeGcChanges(
      [
        { dataFileId: 5n, before: undefined, after },
        { dataFileId: 6n, before: { ...after, dataFileId: 6n }, after: undefined },
      ],
      batch,
    );
    expect([...batch.puts.keys()]).toEqual(["04030000000000000005"]);
    expect([...batch.deletes]).toEqual(["04030000000000000006"]);
  });
});

describe("the changelog", () => {
  const keys = (count: number): Uint8Array[] =>
    Array.from({ length: count }, (_, at) => Uint8Array.of(4, 2, 7, at >> 8, at & 255));

  it("is written even when it lists nothing, and not for too many keys", () => {
    const record = (count: number): number => {
      const batch = new RecordedBatch();
      stageChangelog(1n, keys(count), batch);
      expect(batch.deletes.size).toBe(0);
      return batch.puts.size;
    };
    expect([record(0), record(maxChangelogKeys), record(maxChangelogKeys + 1)]).toEqual([1, 1, 0]);
  });

  it("lists each key once, in order, and lets the record behind the window go", () => {
    const batch = new RecordedBatch();
    const [first, second] = keys(2) as [Uint8Array, Uint8Array];
    stageChangelog(changelogWindowSnapshots + 3n, [second, first, second], batch);
    const once = new RecordedBatch();
    stageChangelog(changelogWindowSnapshots + 3n, [first, second], once);
    expect(batch.puts).toEqual(once.puts);
    expect([...batch.deletes]).toEqual(["090000000000000003"]);
  });
});
