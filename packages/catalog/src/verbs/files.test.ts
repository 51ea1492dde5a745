import type { ColumnId, DataFileId, DeleteFileId, SchemaId, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { type DataFile, expireDataFile, registerDataFile } from "./data-files.js";
import { type DeleteFile, expireDeleteFile, registerDeleteFile } from "./delete-files.js";
import { updateColumnStats, updateTableStats } from "./stats.js";
import { createTable } from "./tables.js";

const main = 0n as SchemaId;
const a = 1n as ColumnId;
const absent = 99n;

const dataFile = (recordCount: number, more: Partial<DataFile> = {}): DataFile => ({
  path: "f.parquet",
  recordCount,
  fileSizeBytes: 100,
  footerSize: 10,
  ...more,
});

const deleteFile = (dataFileId: DataFileId, deleteCount = 1): DeleteFile => ({
  dataFileId,
  path: "d.parquet",
  deleteCount,
  fileSizeBytes: 20,
  footerSize: 5,
});

function start(): { session: Session; table: TableId } {
  const session = new Session();
  const table = session.commit((draft) =>
    createTable(draft, { schema: main, name: "t", columns: [{ name: "a", columnType: "BIGINT" }] }),
  );
  return { session, table };
}

describe("data files", () => {
  it("take consecutive row ids and are counted", () => {
    const { session, table } = start();
    const [first, second] = session.commit((draft) => [
      registerDataFile(draft, { table, file: dataFile(100) }),
      registerDataFile(draft, { table, file: dataFile(50) }),
    ]);
    expect(first).toEqual({ dataFileId: 0n, rowIdStart: 0n });
    expect(second).toEqual({ dataFileId: 1n, rowIdStart: 100n });
    expect(session.snapshot.tableStats(table)).toEqual({ recordCount: 150n, fileSizeBytes: 200n, nextRowId: 150n });
    expect(session.state.head.changesMade).toBe(`inserted_into_table:${table}`);
    expect(session.snapshot.currentSnapshot.schemaVersion).toBe(1n);
    expect(session.snapshot.dataFilesOf(table)[1]).toMatchObject({
      id: 1n,
      path: "f.parquet",
      pathIsRelative: true,
      fileFormat: "parquet",
      rowIdStart: 100n,
    });
  });

  it("need a live table, and live columns for their statistics", () => {
    const { session, table } = start();
    const draft = session.draft();
    const stats = { columnId: 9n as ColumnId, columnSizeBytes: 1, valueCount: 1, nullCount: 0 };
    expect(codeOf(() => registerDataFile(draft, { table: absent as TableId, file: dataFile(1) }))).toBe("not_found");
    expect(codeOf(() => registerDataFile(draft, { table, file: dataFile(1, { columnStats: [stats] }) }))).toBe(
      "not_found",
    );
    const twice = { ...stats, columnId: a };
    expect(codeOf(() => registerDataFile(draft, { table, file: dataFile(1, { columnStats: [twice, twice] }) }))).toBe(
      "invalid_argument",
    );
    expect(draft.isEmpty).toBe(true);
    expect(draft.nextFileId).toBe(0n);
  });

  it("go with their delete files; the row-id counter stays", () => {
    const { session, table } = start();
    const { dataFileId } = session.commit((draft) => registerDataFile(draft, { table, file: dataFile(10) }));
    session.commit((draft) => registerDeleteFile(draft, { table, file: deleteFile(dataFileId) }));
    session.commit((draft) => expireDataFile(draft, { table, file: dataFileId }));
    expect(session.snapshot.dataFilesOf(table)).toEqual([]);
    expect(session.snapshot.deleteFilesOf(table)).toEqual([]);
    expect(session.snapshot.tableStats(table)).toEqual({ recordCount: 0n, fileSizeBytes: 0n, nextRowId: 10n });
    expect(session.state.head.changesMade).toBe(`merge_adjacent:${table}`);
    expect(session.at(3n).deleteFilesOf(table)).toHaveLength(1);
    expect(codeOf(() => expireDataFile(session.draft(), { table, file: dataFileId }))).toBe("not_found");
  });

  it("never take a count below zero", () => {
    const { session, table } = start();
    const { dataFileId } = session.commit((draft) => registerDataFile(draft, { table, file: dataFile(10) }));
    session.commit((draft) => updateTableStats(draft, { table, recordCount: 1, fileSizeBytes: 1 }));
    session.commit((draft) => expireDataFile(draft, { table, file: dataFileId }));
    expect(session.snapshot.tableStats(table)).toMatchObject({ recordCount: 0n, fileSizeBytes: 0n });
  });

  it("leave no statistics when they come and go in one commit", () => {
    const { session, table } = start();
    const columnStats = [{ columnId: a, columnSizeBytes: 8, valueCount: 1, nullCount: 0 }];
    const draft = session.draft();
    const { dataFileId } = registerDataFile(draft, { table, file: dataFile(1, { columnStats }) });
    registerDataFile(draft, { table, file: dataFile(1, { columnStats }) });
    expireDataFile(draft, { table, file: dataFileId });
    expect(draft.newFileColumnStats.map((stats) => stats.dataFileId)).toEqual([1n]);
    const batch = session.land(draft);
    expect([...batch.puts.keys()].filter((key) => key.startsWith("040209"))).toHaveLength(1);
  });

  it("refuse more rows than there are row ids", () => {
    const { session, table } = start();
    session.commit((draft) =>
      registerDataFile(draft, { table, file: { ...dataFile(0), recordCount: 2n ** 63n - 2n } }),
    );
    expect(codeOf(() => registerDataFile(session.draft(), { table, file: dataFile(3) }))).toBe("constraint");
    expect(codeOf(() => registerDataFile(session.draft(), { table, file: dataFile(2) }))).toBeUndefined();
  });
});

describe("delete files", () => {
  it("need a live data file of the same table", () => {
    const { session, table } = start();
    const { dataFileId, other } = session.commit((draft) => ({
      ...registerDataFile(draft, { table, file: dataFile(10) }),
      other: createTable(draft, { schema: main, name: "u", columns: [{ name: "a", columnType: "BIGINT" }] }),
    }));
    const draft = session.draft();
    expect(codeOf(() => registerDeleteFile(draft, { table, file: deleteFile(absent as DataFileId) }))).toBe(
      "not_found",
    );
    expect(codeOf(() => registerDeleteFile(draft, { table: other, file: deleteFile(dataFileId) }))).toBe("not_found");
    expect(codeOf(() => registerDeleteFile(draft, { table, file: deleteFile(dataFileId, 11) }))).toBe("constraint");
    expect(codeOf(() => expireDeleteFile(draft, { table, file: absent as DeleteFileId }))).toBe("not_found");
  });

  it("stand alone for their data file until they are expired", () => {
    const { session, table } = start();
    const { dataFileId } = session.commit((draft) => registerDataFile(draft, { table, file: dataFile(10) }));
    const first = session.commit((draft) => registerDeleteFile(draft, { table, file: deleteFile(dataFileId) }));
    const draft = session.draft();
    expect(codeOf(() => registerDeleteFile(draft, { table, file: deleteFile(dataFileId) }))).toBe("constraint");
    expireDeleteFile(draft, { table, file: first });
    expect(registerDeleteFile(draft, { table, file: deleteFile(dataFileId, 2) })).toBe(2n);
    session.land(draft);
    expect(session.state.head.changesMade).toBe(`deleted_from_table:${table},rewrite_delete:${table}`);
    expect(session.state.head.deletedDataFileIds).toEqual([dataFileId]);
    expect(session.snapshot.deleteFilesOf(table).map((file) => file.deleteCount)).toEqual([2n]);
    expect(session.snapshot.tableStats(table)?.recordCount).toBe(10n);
  });
});

describe("statistics", () => {
  it("are overwritten as given; the row-id counter stays", () => {
    const { session, table } = start();
    session.commit((draft) => registerDataFile(draft, { table, file: dataFile(10) }));
    session.commit((draft) => {
      updateTableStats(draft, { table, recordCount: 7, fileSizeBytes: 70n });
      updateColumnStats(draft, {
        table,
        column: a,
        stats: { containsNull: true, min: "1", max: "9", extraStats: "{}" },
      });
    });
    expect(session.snapshot.tableStats(table)).toEqual({ recordCount: 7n, fileSizeBytes: 70n, nextRowId: 10n });
    expect(session.snapshot.columnStats(table, a)).toEqual({
      containsNull: true,
      containsNan: undefined,
      min: "1",
      max: "9",
      extraStats: "{}",
    });
    expect(session.state.head.changesMade).toBe("");
    session.commit((draft) => updateColumnStats(draft, { table, column: a, stats: {} }));
    expect(session.snapshot.columnStats(table, a)).toMatchObject({ containsNull: undefined, min: undefined });
    expect(codeOf(() => updateColumnStats(session.draft(), { table, column: 5n as ColumnId, stats: {} }))).toBe(
      "not_found",
    );
  });

  it("mint a snapshot even when nothing changes", () => {
    const { session, table } = start();
    const before = session.state.head.snapshotId;
    const draft = session.draft();
    updateTableStats(draft, { table, recordCount: 0, fileSizeBytes: 0 });
    expect(draft.entityChanges()).toEqual([]);
    session.land(draft);
    expect(session.state.head.snapshotId).toBe(before + 1n);
  });
});
