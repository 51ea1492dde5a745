import { encodeIndexEntry, IndexKeyBuilder, type SnapshotId, type TableId } from "@moraine/codec";
import { measureIndex, verifyIndex } from "@moraine/index-core";
import { BatchBuilder } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { dataFileBytes } from "../../src/testing/parquet-files.js";
import { failureOf } from "../support/errors.js";
import { temporaryFolder } from "../support/folders.js";
import { indexWritesIn } from "../support/hooked-store.js";
import { layoutOf, storedEntries } from "../support/index-oracle.js";
import { Lake } from "../support/lake.js";
import { plantIndexState } from "../support/plant.js";

describe("row ids through update, delete, flush and rewrite", () => {
  it("S24 each row id has one live version at every snapshot, whatever was updated, flushed and deleted", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", v: "BIGINT" });
    await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, ...Array.from({ length: 10 }, (_, i) => ({ k: BigInt(i), v: 0n })));
    for (let round = 0n; round < 3n; round++) {
      const [target] = (await lake.catalog.recentRows({ table })).slice(-1);
      await lake.commit((tx) => {
        tx.inlineDelete({ table, rowId: target!.rowId });
        tx.inlineInsert({ table, rows: [{ k: target!.values["k"], v: round + 1n }] });
      });
      await lake.expectVerified(table);
    }
    const last = await lake.head();
    for (let at = 2n; at <= last; at++) {
      const ids = (await lake.catalog.recentRows({ table, at: at as never })).map(({ rowId }) => rowId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBe(at < 3n ? 0 : 10);
    }
    await lake.catalog.flushInlined({ table });
    const ids = (await lake.scan(table)).map(({ rowId }) => rowId);
    expect(ids).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 12n]);
    await lake.expectVerified(table);
  });

  it("S26 a flush keeps the row ids and leaves the index's whole range byte for byte as it was", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", s: "VARCHAR" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const multi = await lake.index(table, ["s"], { orders: [{ direction: "desc", nulls: "first" }] });
    for (let i = 0; i < 6; i++) await lake.insert(table, { k: BigInt(i), s: i % 2 === 0 ? "even" : null });
    await lake.delete(table, 2n, 3n);
    const before = [await storedEntries(lake.store.inner, unique), await storedEntries(lake.store.inner, multi)];
    const rows = await lake.scan(table);
    await lake.catalog.flushInlined({ table });
    expect([await storedEntries(lake.store.inner, unique), await storedEntries(lake.store.inner, multi)]).toEqual(
      before,
    );
    expect(await lake.scan(table)).toEqual(rows);
    expect((await lake.catalog.snapshot()).dataFilesOf(table).length).toBe(1);
    await lake.expectVerified(table);
  });

  it("S26 a rewrite by expiry and registration gives new row ids, and the index follows them exactly", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const old = await lake.register(table, [{ k: 1n }, { k: 2n }, { k: 3n }]);
    await lake.deleteRows(table, old.dataFileId, [1]);
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 3n }]);
    await lake.commit((tx) => {
      tx.expireDataFile({ table, file: old.dataFileId, removals: "scoped-read" });
      return tx.registerDataFile({ table, file, entries: "scoped-read" });
    });
    expect(await lake.catalog.indexRange({ index: unique })).toEqual([3n, 4n]);
    expect(await lake.lookup(unique, 2n)).toEqual([]);
    await lake.expectVerified(table);
  });

  it("S27 a row that was deleted before its neighbours were merged into a file does not come back", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const one = await lake.insert(table, { k: 1n });
    await lake.delete(table, one);
    await lake.insert(table, { k: 2n });
    await lake.insert(table, { k: 3n });
    await lake.catalog.flushInlined({ table });
    expect(await lake.column(table, "k")).toEqual([2n, 3n]);
    expect(await lake.lookup(unique, 1n)).toEqual([]);
    await lake.expectVerified(table);
    expect(await verified(lake, table)).toEqual([{ stored: 2, expected: 2, missing: 0, dead: 0, mismatched: 0 }]);
  });

  it("S28 ids that a file embeds win over its recorded first row id, and nothing takes ids for dense", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.insert(table, ...[10n, 11n, 12n, 13n, 14n, 15n].map((k) => ({ k })));
    await lake.delete(table, 3n, 4n, 5n);
    // The file holds the rows 0 to 2 and says so; the record of it claims that they begin at 3.
    const columns = [
      { fieldId: await lake.columnId(table, "k"), name: "k", columnType: "BIGINT" },
      { fieldId: 2147483540n, name: "_ducklake_internal_row_id", columnType: "BIGINT" },
    ];
    const rows = [10n, 11n, 12n].map((k, rowId) => ({ k, _ducklake_internal_row_id: BigInt(rowId) }));
    const { bytes, fileSizeBytes, footerSize } = dataFileBytes(columns, rows);
    await lake.data.put("main/t/embedded.parquet", bytes);
    await lake.commit((tx) =>
      tx.flushInlinedData({
        table,
        schemaVersion: 1n,
        files: [
          {
            file: { path: "embedded.parquet", recordCount: 3, fileSizeBytes, footerSize },
            rowIdStart: 3n,
            beginSnapshot: 2n,
          },
        ],
      }),
    );
    const unique = await lake.index(table, ["k"], { unique: true });
    expect(await lake.catalog.indexLookupMany({ index: unique, keys: [[10n], [11n], [12n]] })).toEqual([0n, 1n, 2n]);
    expect(await lake.insert(table, { k: 16n })).toBe(6n);
    await lake.expectVerified(table);
  });

  it("S30 a changed label is found under the new value and no longer under the old one, before and after every movement of the rows", async () => {
    const folder = temporaryFolder();
    const lake = await Lake.open({ location: `${folder}/store`, dataPath: `${folder}/data` });
    const table = await lake.table("t", { id: "BIGINT", cat: "VARCHAR" });
    const byCategory = await lake.index(table, ["cat"]);
    await lake.index(table, ["id"], { unique: true });
    await lake.insert(table, ...Array.from({ length: 100 }, (_, i) => ({ id: BigInt(i), cat: i < 50 ? "A" : "B" })));
    await lake.commit((tx) => {
      for (let i = 0n; i < 25n; i++) tx.inlineDelete({ table, rowId: i });
      tx.inlineInsert({ table, rows: Array.from({ length: 25 }, (_, i) => ({ id: BigInt(i), cat: "B" })) });
    });
    const check = async (what: string): Promise<void> => {
      expect([(await lake.lookup(byCategory, "A")).length, (await lake.lookup(byCategory, "B")).length], what).toEqual([
        25, 75,
      ]);
      await lake.expectVerified(table);
    };
    await check("inline");
    await lake.catalog.flushInlined({ table });
    await check("flushed");
    const [flushed] = (await lake.catalog.snapshot()).dataFilesOf(table);
    const rows = await lake.scan(table);
    const [id, cat] = [await lake.columnId(table, "id"), await lake.columnId(table, "cat")];
    const file = await lake.writeFile(
      table,
      rows.map(({ values }) => ({ id: values.get(id), cat: values.get(cat) })),
    );
    await lake.commit((tx) => {
      tx.expireDataFile({ table, file: flushed!.id, removals: "scoped-read" });
      return tx.registerDataFile({ table, file, entries: "scoped-read" });
    });
    await check("rewritten");
    await lake.catalog.maintain();
    await check("reclaimed");
    await lake.catalog.close();
    const again = await Lake.open({ location: `${folder}/store`, dataPath: `${folder}/data` });
    expect([(await again.lookup(byCategory, "A")).length, (await again.lookup(byCategory, "B")).length]).toEqual([
      25, 75,
    ]);
    await again.expectVerified(table);
  });

  it.each([
    ["building", "index_building"],
    ["maintaining", "index_building"],
    ["poisoned", "not_found"],
  ] as const)("S31 an index that is %s never answers which rows to change", async (state, code) => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const index = await lake.index(table, ["k"]);
    const row = await lake.insert(table, { k: 1n });
    const planted = await plantIndexState(lake, table, index, state);
    for (const read of [
      planted.indexLookup({ index, key: [1n] }),
      planted.indexLookupMany({ index, keys: [[1n]] }),
      planted.indexRange({ index }),
      planted.indexNulls({ index, prefix: [null] }),
    ]) {
      expect((await failureOf(read)).code).toBe(code);
    }
    // A closure that asks the index first changes nothing.
    const head = (await planted.snapshot()).currentSnapshot.id;
    const failure = await failureOf(
      planted.commit(async (tx) => {
        for (const rowId of await planted.indexLookup({ index, key: [1n] })) tx.inlineDelete({ table, rowId });
      }),
    );
    expect(failure.code).toBe(code);
    expect((await planted.snapshot()).currentSnapshot.id).toBe(head);
    expect((await planted.recentRows({ table })).map(({ rowId }) => rowId)).toEqual([row]);
  });

  it("S32 a file cannot leave with live rows without taking their entries along, and what a dropped table leaves is reclaimed", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const { dataFileId } = await lake.register(table, [{ k: 1n }, { k: 2n }]);
    expect((await failureOf(lake.commit((tx) => tx.expireDataFile({ table, file: dataFileId })))).code).toBe(
      "constraint",
    );
    expect(await lake.catalog.indexRange({ index: unique })).toEqual([0n, 1n]);
    await lake.commit((tx) => tx.expireDataFile({ table, file: dataFileId, removals: "scoped-read" }));
    expect(await lake.catalog.indexRange({ index: unique })).toEqual([]);
    await lake.register(table, [{ k: 1n }, { k: 3n }]);
    await lake.commit((tx) => tx.dropTable({ table }));
    expect((await storedEntries(lake.store.inner, unique)).length).toBe(2);
    expect(await lake.catalog.maintain()).toMatchObject({ indexesSwept: 1, indexEntriesReclaimed: 2 });
    expect(await storedEntries(lake.store.inner, unique)).toEqual([]);
  });

  it(
    "S34 50,000 inlined rows are counted once after a flush, and the next row id stays",
    { timeout: 120_000 },
    async () => {
      const lake = await Lake.open();
      const table = await lake.table("t", { k: "BIGINT" });
      await lake.insert(table, ...Array.from({ length: 50_000 }, (_, i) => ({ k: BigInt(i) })));
      expect((await lake.catalog.snapshot()).tableStats(table)).toMatchObject({
        recordCount: 50_000n,
        nextRowId: 50_000n,
      });
      await lake.catalog.flushInlined({ table });
      const snapshot = await lake.catalog.snapshot();
      expect(snapshot.tableStats(table)).toMatchObject({ recordCount: 50_000n, nextRowId: 50_000n });
      expect(snapshot.dataFilesOf(table).map(({ recordCount }) => recordCount)).toEqual([50_000n]);
      expect(snapshot.tableStats(table)?.fileSizeBytes).toBe(snapshot.dataFilesOf(table)[0]!.fileSizeBytes);
      expect(await lake.insert(table, { k: -1n })).toBe(50_000n);
    },
  );

  it("S37 two merges in one commit change each row once, in the change feed and in the index", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", v: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const [a, b] = [await lake.insert(table, { k: 1n, v: 0n }), await lake.insert(table, { k: 2n, v: 0n })];
    const before = lake.store.writes;
    await lake.commit((tx) => {
      tx.inlineDelete({ table, rowId: a });
      tx.inlineDelete({ table, rowId: b });
      const first = tx.inlineInsert({
        table,
        rows: [
          { k: 1n, v: 1n },
          { k: 2n, v: 1n },
          { k: 3n, v: 1n },
        ],
      });
      for (let i = 0n; i < 3n; i++) tx.inlineDelete({ table, rowId: first + i });
      tx.inlineInsert({
        table,
        rows: [
          { k: 1n, v: 2n },
          { k: 3n, v: 2n },
        ],
      });
    });
    const at = await lake.head();
    const inserted = await lake.catalog.scanInline({ table, scan: { kind: "insertions", start: at, at } });
    const deleted = await lake.catalog.scanInline({ table, scan: { kind: "deletions", start: at, at } });
    expect(inserted.map(({ values }) => [values["k"], values["v"]])).toEqual([
      [1n, 2n],
      [3n, 2n],
    ]);
    expect(deleted.map(({ rowId }) => rowId)).toEqual([a, b]);
    // Two puts for the two new rows and one delete of the key that is gone; the key that both had is put over.
    const [batch] = lake.store.batches.slice(before);
    expect(indexWritesIn(batch, unique)).toEqual({ puts: 2, deletes: 1 });
    await lake.expectVerified(table);
  });

  it("S38 a point lookup finds a row in a file that was written under a partitioning set in the same commit", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", region: "VARCHAR" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.register(table, [{ k: 1n, region: "a" }]);
    const file = await lake.writeFile(table, [{ k: 2n, region: "b" }]);
    const column = await lake.columnId(table, "k");
    await lake.commit((tx) => {
      tx.setPartitioning({ table, columns: [{ column, transform: "bucket(8)" }] });
      return tx.registerDataFile({ table, file: { ...file, partitionValues: ["3"] }, entries: "scoped-read" });
    });
    expect(await lake.lookup(unique, 1n)).toEqual([0n]);
    expect(await lake.lookup(unique, 2n)).toEqual([1n]);
    await lake.expectVerified(table);
  });

  it("S39 a row that is deleted by the commit that registers its file never gets an entry", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", v: "VARCHAR" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const multi = await lake.index(table, ["v"]);
    const file = await lake.writeFile(table, [
      { k: 1n, v: "x" },
      { k: 2n, v: "x" },
      { k: 3n, v: "x" },
    ]);
    const nextFile = 0n as never;
    const deletes = await lake.writeDeleteFile(table, nextFile, [1], file.path);
    const before = lake.store.writes;
    await lake.commit((tx) => {
      const { dataFileId } = tx.registerDataFile({ table, file, entries: "scoped-read" });
      tx.registerDeleteFile({ table, file: { ...deletes, dataFileId }, removals: "scoped-read" });
    });
    expect(lake.store.batches.slice(before).map((batch) => indexWritesIn(batch))).toEqual([{ puts: 4, deletes: 0 }]);
    expect(await lake.lookup(unique, 2n)).toEqual([]);
    expect(await lake.lookup(multi, "x")).toEqual([0n, 2n]);
    await lake.expectVerified(table);
    // The value is free.
    await lake.insert(table, { k: 2n, v: "y" });
  });

  it("S39 inline rows that are inserted and deleted by one commit, beside a flush of older ones, leave no entry", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n }, { k: 2n });
    await lake.delete(table, 0n);
    const flushed = await lake.writeFile(table, [{ k: 2n }]);
    await lake.commit((tx) => {
      tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        files: [{ file: flushed, rowIdStart: 1n, beginSnapshot: 3n }],
        throughSnapshot: tx.currentSnapshot.id,
      });
      const first = tx.inlineInsert({ table, rows: [{ k: 1n }, { k: 5n }, { k: 6n }] });
      tx.inlineDelete({ table, rowId: first + 1n });
    });
    expect(await lake.catalog.indexRange({ index: unique })).toEqual([2n, 1n, 4n]);
    expect(await lake.lookup(unique, 5n)).toEqual([]);
    expect(await lake.column(table, "k")).toEqual([2n, 1n, 6n]);
    await lake.expectVerified(table);
  });

  it("a flush of rows whose ids have gaps needs files that embed the ids", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n }, { k: 2n }, { k: 3n });
    await lake.delete(table, 1n);
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 3n }]);
    const flush = lake.commit((tx) =>
      tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        files: [{ file, rowIdStart: 0n, beginSnapshot: 3n }],
        throughSnapshot: tx.currentSnapshot.id,
      }),
    );
    expect(await failureOf(flush)).toMatchObject({ code: "constraint" });
    expect(await lake.column(table, "k")).toEqual([1n, 3n]);
    await lake.catalog.flushInlined({ table });
    expect(await lake.lookup(unique, 3n)).toEqual([2n]);
    await lake.expectVerified(table);
  });

  it("a flush cannot say that it read rows of the future", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.insert(table, { k: 1n });
    const file = await lake.writeFile(table, [{ k: 1n }]);
    const flush = lake.commit((tx) =>
      tx.flushInlinedData({
        table,
        schemaVersion: 2n,
        files: [{ file, rowIdStart: 0n, beginSnapshot: 2n }],
        throughSnapshot: (tx.currentSnapshot.id + 1n) as SnapshotId,
      }),
    );
    const { code, message } = await failureOf(flush);
    expect(code).toBe("constraint");
    expect(message).toContain("throughSnapshot");
  });

  it("S40 entries that no row asks for show in the counts of a verification and of a census", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n }, { k: 2n }, { k: 3n });
    expect(await verified(lake, table)).toEqual([{ stored: 3, expected: 3, missing: 0, dead: 0, mismatched: 0 }]);
    const snapshot = await lake.catalog.snapshot();
    const layout = layoutOf(snapshot, snapshot.indexesOf(table)[0]!);
    const batch = new BatchBuilder();
    for (let i = 0n; i < 50n; i++) {
      const { key, value } = encodeIndexEntry(layout, [1000n + i], 900n + i);
      batch.put(key, value);
    }
    const wrongRow = encodeIndexEntry(layout, [2n], 77n);
    batch.put(wrongRow.key, wrongRow.value);
    batch.delete(encodeIndexEntry(layout, [3n], 2n).key);
    await lake.store.inner.write(batch.finish());
    expect(await verified(lake, table)).toEqual([{ stored: 52, expected: 3, missing: 1, dead: 50, mismatched: 1 }]);
    expect(await measureIndex(lake.store.inner, unique)).toMatchObject({ uniqueEntries: 52, multiEntries: 0 });
  });
});

/** What a verification of each index of a table finds. */
async function verified(lake: Lake, table: TableId): Promise<unknown[]> {
  const snapshot = await lake.catalog.snapshot();
  const rows = await lake.scan(table);
  return await Promise.all(
    snapshot.indexesOf(table).map(async (index) => {
      const keys = new IndexKeyBuilder(layoutOf(snapshot, index));
      for (const { rowId, values } of rows)
        keys.append(
          index.columns.map((column) => values.get(column) ?? null),
          rowId,
        );
      return await verifyIndex(lake.store.inner, layoutOf(snapshot, index), [keys.finish()]);
    }),
  );
}
