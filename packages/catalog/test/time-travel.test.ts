import { snapshotKey, type SnapshotId } from "@moraine/codec";
import { BatchBuilder, openStore } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { Catalog, type CommitClosure } from "../src/index.js";
import type { CatalogSnapshot } from "../src/model/view.js";
import { snapshotText } from "./support/catalog-text.js";
import { failureOf } from "./support/errors.js";
import { Lake, main } from "./support/lake.js";

/** A snapshot as text, without what is not versioned: row counts are those of the present. */
function versionedText(snapshot: CatalogSnapshot): string {
  return snapshotText(snapshot).replaceAll(/"stats": (?:"undefined"|\{[^}]*\})/gu, '"stats": 0');
}

async function expire(lake: Lake, ...snapshots: readonly bigint[]): Promise<void> {
  const batch = new BatchBuilder();
  for (const snapshot of snapshots) batch.delete(snapshotKey(snapshot));
  await lake.store.inner.write(batch.finish());
  // Readers keep the head pinned until it moves.
  await lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "expiry", steps: [] });
}

describe("snapshotAt", () => {
  it("shows every object as it was at each snapshot, whatever came later, also after the store was opened again", async () => {
    const lake = await Lake.open();
    const texts = new Map<bigint, string>();
    const remember = async (): Promise<void> => {
      const snapshot = await lake.catalog.snapshot();
      texts.set(snapshot.currentSnapshot.id, versionedText(snapshot));
    };
    await remember();
    const commit = async <T>(closure: CommitClosure<T>): Promise<T> => {
      const value = await lake.commit(closure);
      await remember();
      return value;
    };
    const table = await commit((tx) =>
      tx.createTable({
        schema: main,
        name: "t",
        columns: [
          { name: "a", columnType: "INTEGER" },
          { name: "b", columnType: "VARCHAR" },
        ],
      }),
    );
    const [a, b] = [await lake.columnId(table, "a"), await lake.columnId(table, "b")];
    const file = await lake.writeFile(table, [
      { a: 1, b: "x" },
      { a: 2, b: "y" },
    ]);
    const { dataFileId } = await commit((tx) => tx.registerDataFile({ table, file }));
    const deletes = await lake.writeDeleteFile(table, dataFileId, [0]);
    const deleteFile = await commit((tx) => tx.registerDeleteFile({ table, file: deletes }));
    await commit((tx) => tx.alterColumn({ table, column: a, columnType: "BIGINT" }));
    await commit((tx) => tx.renameColumn({ table, column: b, name: "text" }));
    await commit((tx) => tx.addColumn({ table, definition: { name: "c", columnType: "DOUBLE" } }));
    const index = await commit((tx) => tx.createIndex({ table, name: "t_a", columns: ["a"], unique: true }));
    await commit((tx) => tx.setPartitioning({ table, columns: [{ column: a, transform: "identity" }] }));
    await commit((tx) => tx.setSorting({ table, keys: [{ expression: "a" }] }));
    await commit((tx) => tx.clearPartitioning({ table }));
    const schema = await commit((tx) => tx.createSchema({ name: "s" }));
    const moved = await commit((tx) =>
      tx.createTable({ schema: main, name: "moved", columns: [{ name: "a", columnType: "BIGINT" }] }),
    );
    await commit((tx) => tx.setTableSchema({ table: moved, schema }));
    await commit((tx) => tx.renameTable({ table, name: "renamed" }));
    const view = await commit((tx) => tx.createView({ schema, name: "v", dialect: "duckdb", sql: "SELECT 1" }));
    await commit((tx) => tx.dropColumn({ table, column: b }));
    await commit((tx) => {
      tx.dropIndex({ index });
      tx.expireDeleteFile({ table, file: deleteFile });
    });
    await commit((tx) => tx.expireDataFile({ table, file: dataFileId }));
    await commit((tx) => tx.dropView({ view }));
    await commit((tx) => tx.dropTable({ table }));
    await commit((tx) => tx.dropTable({ table: moved }));
    await commit((tx) => tx.dropSchema({ schema }));
    expect(texts.size).toBe(23);
    expect(new Set(texts.values()).size).toBe(23);
    for (const [id, text] of texts)
      expect(versionedText(await lake.catalog.snapshotAt(id as SnapshotId)), `snapshot ${id}`).toBe(text);
    await lake.catalog.close();
    const again = await Lake.open({ location: lake.location, dataPath: lake.dataPath! });
    for (const [id, text] of texts)
      expect(versionedText(await again.catalog.snapshotAt(id as SnapshotId)), `snapshot ${id}`).toBe(text);
  });

  it("gives values: one that is held is not moved by later commits", async () => {
    const lake = await Lake.open();
    await lake.table("t", { k: "BIGINT" });
    const held = await lake.catalog.snapshot();
    const past = await lake.catalog.snapshotAt(0n as SnapshotId);
    await lake.table("u", { k: "BIGINT" });
    expect(held.tablesIn(main).map(({ name }) => name)).toEqual(["t"]);
    expect(past.tablesIn(main)).toEqual([]);
  });

  it("reads tags and options of the past as documented: tags as they were, options as they are", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.commit((tx) => tx.setTag({ target: { table }, key: "owner", value: "Ada" }));
    const first = await lake.head();
    await lake.commit((tx) => {
      tx.setTag({ target: { table }, key: "owner", value: "Grace" });
      tx.setOption({ scope: { table }, key: "o", value: "new" });
    });
    const past = await lake.catalog.snapshotAt(first as SnapshotId);
    const live = (snapshot: CatalogSnapshot, at: bigint): string[] =>
      snapshot
        .tagsOf(table)
        .filter(
          ({ beginSnapshot, endSnapshot }) => beginSnapshot <= at && (endSnapshot === undefined || endSnapshot > at),
        )
        .map(({ value }) => value);
    expect(live(past, first)).toEqual(["Ada"]);
    expect(live(await lake.catalog.snapshot(), first + 1n)).toEqual(["Grace"]);
    expect(past.option({ table }, "o")).toBe("new");
  });

  it("is refused above the head, for an expired snapshot, and for what is no snapshot", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    for (let i = 0; i < 5; i++) await lake.insert(table, { k: BigInt(i) });
    expect((await failureOf(lake.catalog.snapshotAt(99n as SnapshotId))).code).toBe("not_found");
    await expire(lake, 0n, 1n, 3n);
    for (const gone of [0n, 1n, 3n]) {
      const failure = await failureOf(lake.catalog.snapshotAt(gone as SnapshotId));
      expect([failure.code, failure.retryable]).toEqual(["snapshot_expired", false]);
    }
    expect((await lake.catalog.snapshotAt(4n as SnapshotId)).currentSnapshot.id).toBe(4n);
    for (const none of [-1n, 1, "1", null, undefined, 2n ** 64n]) {
      expect((await failureOf(lake.catalog.snapshotAt(none as never))).code).toMatch(/invalid_argument|not_found/u);
    }
    // Expired snapshots are no obstacle to commits, and nor are they given out again.
    expect(await lake.insert(table, { k: 9n })).toBe(5n);
    expect(await lake.head()).toBe(7n);
    await lake.catalog.close();
    const again = await Lake.open({ location: lake.location, dataPath: lake.dataPath! });
    expect((await failureOf(again.catalog.snapshotAt(3n as SnapshotId))).code).toBe("snapshot_expired");
    expect((await again.catalog.recentRows({ table })).length).toBe(6);
  });

  it("a store whose head has no snapshot record is damage", async () => {
    const lake = await Lake.open();
    await lake.table("t", { k: "BIGINT" });
    const head = await lake.head();
    await expire(lake, head);
    await lake.catalog.close();
    const store = await openStore(lake.location);
    expect((await failureOf(Catalog.open({ store }))).code).toBe("corruption");
    await store.close();
  });
});

describe("rows at past snapshots", () => {
  it("are those that were live then, as far as they are still inline, and are refused above the head", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const states: [bigint, unknown[]][] = [];
    const live = async (at?: bigint): Promise<unknown[]> =>
      (await lake.catalog.recentRows({ table, ...(at === undefined ? {} : { at: at as SnapshotId }) })).map(
        ({ rowId, values }) => [rowId, values["k"]],
      );
    const remember = async (): Promise<void> => {
      states.push([await lake.head(), await live()]);
    };
    for (let i = 0n; i < 6n; i++) {
      await lake.insert(table, { k: i }, { k: 10n + i });
      await remember();
      await lake.delete(table, i);
      await remember();
    }
    for (const [at, rows] of states) expect(await live(at), `snapshot ${at}`).toEqual(rows);
    expect((await failureOf(live(999n))).code).toBe("not_found");
    using scope = await lake.catalog.reads();
    await lake.insert(table, { k: 99n });
    expect((await failureOf(scope.recentRows({ table, at: (await lake.head()) as SnapshotId }))).code).toBe(
      "not_found",
    );
    await lake.catalog.flushInlined({ table });
    for (const [at] of states) expect(await live(at)).toEqual([]);
  });
});
