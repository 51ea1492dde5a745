import { ClosedError, type ColumnId, type DataFileId, type SnapshotId } from "@moraine/codec";
import { expect, it } from "vitest";
import { metadataTables } from "../src/rows/metadata-tables.js";
import type { FollowStep } from "../src/rows/follow-step.js";
import { rowsPerBatch } from "../src/rows/limits.js";
import type { StoreSnapshot, WritableStore } from "@moraine/store";
import { failureOf } from "./support/errors.js";
import { Lake, main } from "./support/lake.js";
import { SqlLake } from "./support/sql-lake.js";
import type { TableCopy } from "./support/table-copy.js";
import { copyOf } from "./support/table-copy.js";

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** A lake whose times and UUIDs are known: the nth commit is made at second n. */
async function openLake(dataPath: string | null = null): Promise<Lake> {
  let seconds = 0;
  let uuids = 0;
  const catalog = { nowMicros: () => BigInt((seconds += 1)) * 1_000_000n, newUuid: () => uuid((uuids += 1)) };
  return await Lake.open({ dataPath, catalog });
}

async function served(lake: Lake): Promise<TableCopy> {
  const { steps, release } = await lake.catalog.loadRows();
  const copy = await copyOf(steps);
  release();
  return copy;
}

/** Rows of a table as arrays, in the order in which they are served. */
const cells = (copy: TableCopy, table: string): unknown[][] => copy.rows(table).map((row) => Object.values(row));

it("a fresh store is served as DuckLake initialises a lake", async () => {
  const lake = await openLake();
  const copy = await served(lake);
  expect([...copy.tables].map(([name, { columns }]) => [name, columns])).toEqual(Object.entries(metadataTables));
  expect(cells(copy, "ducklake_metadata")).toEqual([
    ["version", "1.0", null, null],
    ["created_by", "moraine", null, null],
    ["encrypted", "false", null, null],
  ]);
  expect(cells(copy, "ducklake_snapshot")).toEqual([[0n, 1_000_000n, 0n, 1n, 0n]]);
  expect(cells(copy, "ducklake_snapshot_changes")).toEqual([[0n, 'created_schema:"main"', null, null, null]]);
  expect(cells(copy, "ducklake_schema")).toEqual([[0n, uuid(1), 0n, null, "main", "main/", true]]);
  const filled = [...copy.tables].filter(([, { rows }]) => rows.length > 0).map(([name]) => name);
  expect(filled).toEqual(["ducklake_metadata", "ducklake_snapshot", "ducklake_snapshot_changes", "ducklake_schema"]);
});

it("options are rows of their scope, and the path of data files ends with one slash", async () => {
  const lake = await openLake("memory://serve-rows-options");
  const table = await lake.table("t", { a: "BIGINT" });
  await lake.commit((tx) => {
    tx.setOption({ scope: "global", key: "target_file_size", value: "1000" });
    tx.setOption({ scope: "global", key: "created_by", value: "somebody" });
    tx.setOption({ scope: { table }, key: "version", value: "7" });
    tx.setOption({ scope: { schema: main }, key: "a", value: "b" });
  });
  expect(cells(await served(lake), "ducklake_metadata")).toEqual([
    ["version", "1.0", null, null],
    ["created_by", "moraine", null, null],
    ["data_path", "memory://serve-rows-options/", null, null],
    ["encrypted", "false", null, null],
    ["target_file_size", "1000", null, null],
    ["a", "b", "schema", 0n],
    ["version", "7", "table", 1n],
  ]);
});

it("entities have a row for each version, in the order in which they began", async () => {
  const lake = await openLake();
  const table = await lake.commit((tx) =>
    tx.createTable({
      schema: main,
      name: "t",
      columns: [
        { name: "a", columnType: "BIGINT", nullsAllowed: false },
        { name: "s", columnType: "STRUCT", children: [{ name: "x", columnType: "DECIMAL(18,3)" }] },
        { name: "d", columnType: "VARCHAR", defaultValue: "upper('x')" },
      ],
    }),
  );
  await lake.catalog.commit(
    (tx) => {
      tx.renameTable({ table, name: "u" });
      tx.alterColumn({ table, column: 1n as ColumnId, nullsAllowed: true });
    },
    { author: "ann", message: "rename", extraInfo: "{}" },
  );
  await lake.commit((tx) => tx.dropColumn({ table, column: 4n as ColumnId }));
  const copy = await served(lake);
  expect(cells(copy, "ducklake_table")).toEqual([
    [1n, uuid(2), 1n, 2n, 0n, "t", "t/", true],
    [1n, uuid(2), 2n, null, 0n, "u", "t/", true],
  ]);
  expect(cells(copy, "ducklake_column")).toEqual([
    [1n, 1n, 2n, 1n, 1n, "a", "int64", null, null, false, null, "literal", "duckdb"],
    [2n, 1n, null, 1n, 2n, "s", "struct", null, null, true, null, "literal", "duckdb"],
    [3n, 1n, null, 1n, 3n, "x", "decimal(18,3)", null, null, true, 2n, "literal", "duckdb"],
    [4n, 1n, 3n, 1n, 4n, "d", "varchar", null, "upper('x')", true, null, "expression", "duckdb"],
    [1n, 2n, null, 1n, 1n, "a", "int64", null, null, true, null, "literal", "duckdb"],
  ]);
  expect(cells(copy, "ducklake_snapshot")).toEqual([
    [0n, 1_000_000n, 0n, 1n, 0n],
    [1n, 2_000_000n, 1n, 2n, 0n],
    [2n, 3_000_000n, 2n, 2n, 0n],
    [3n, 4_000_000n, 3n, 2n, 0n],
  ]);
  expect(cells(copy, "ducklake_snapshot_changes")).toEqual([
    [0n, 'created_schema:"main"', null, null, null],
    [1n, 'created_table:"main"."t"', null, null, null],
    [2n, "altered_table:1", "ann", "rename", "{}"],
    [3n, "altered_table:1", null, null, null],
  ]);
  expect(cells(copy, "ducklake_schema_versions")).toEqual([
    [1n, 1n, 1n],
    [2n, 2n, 1n],
    [3n, 3n, 1n],
  ]);
  expect(cells(copy, "ducklake_table_stats")).toEqual([[1n, 0n, 0n, 0n]]);
});

it("files, their statistics and what is embedded in them are rows of their own", async () => {
  const lake = await openLake();
  const table = await lake.table("t", { a: "BIGINT", b: "VARCHAR" });
  await lake.commit((tx) => {
    tx.setPartitioning({ table, columns: [{ column: 2n as ColumnId, transform: "bucket(4)" }] });
    tx.setSorting({
      table,
      keys: [{ expression: "a", direction: "DESC", nullOrder: "NULLS_FIRST" }, { expression: "b" }],
    });
  });
  const file = { recordCount: 3n, fileSizeBytes: 400n, footerSize: 90n, partitionValues: ["2"] };
  await lake.commit((tx) =>
    tx.registerDataFile({
      table,
      file: {
        ...file,
        path: "f.parquet",
        columnStats: [
          { columnId: 1n as ColumnId, columnSizeBytes: 40n, valueCount: 3n, nullCount: 1n, min: "1", max: "2" },
          {
            columnId: 2n as ColumnId,
            columnSizeBytes: 50n,
            valueCount: 3n,
            nullCount: 0n,
            containsNan: true,
            extraStats: "é",
          },
        ],
      },
    }),
  );
  await lake.commit((tx) => {
    tx.registerDataFile({ table, file: { ...file, path: "/g.parquet", pathIsRelative: false, encryptionKey: "k" } });
    tx.updateColumnStats({ table, column: 1n as ColumnId, stats: { containsNull: true, min: "1", max: "2" } });
    const dataFileId = 0n as DataFileId;
    tx.registerDeleteFile({
      table,
      file: { dataFileId, path: "d", deleteCount: 1n, fileSizeBytes: 2n, footerSize: 1n },
    });
  });
  await lake.commit((tx) => tx.expireDataFile({ table, file: 0n as DataFileId }));
  const copy = await served(lake);
  expect(cells(copy, "ducklake_data_file")).toEqual([
    [0n, 1n, 3n, 5n, null, "f.parquet", true, "parquet", 3n, 400n, 90n, 0n, 2n, null, null, null],
    [1n, 1n, 4n, null, null, "/g.parquet", false, "parquet", 3n, 400n, 90n, 3n, 2n, "k", null, null],
  ]);
  expect(cells(copy, "ducklake_delete_file")).toEqual([
    [2n, 1n, 4n, 5n, 0n, "d", true, "parquet", 1n, 2n, 1n, null, null],
  ]);
  expect(cells(copy, "ducklake_file_column_stats")).toEqual([
    [0n, 1n, 1n, 40n, 3n, 1n, "1", "2", null, null],
    [0n, 1n, 2n, 50n, 3n, 0n, null, null, true, "é"],
  ]);
  expect(cells(copy, "ducklake_file_partition_value")).toEqual([
    [0n, 1n, 0n, "2"],
    [1n, 1n, 0n, "2"],
  ]);
  expect(cells(copy, "ducklake_partition_info")).toEqual([[2n, 1n, 2n, null]]);
  expect(cells(copy, "ducklake_partition_column")).toEqual([[2n, 1n, 0n, 2n, "bucket(4)"]]);
  expect(cells(copy, "ducklake_sort_info")).toEqual([[3n, 1n, 2n, null]]);
  expect(cells(copy, "ducklake_sort_expression")).toEqual([
    [3n, 1n, 0n, "a", "duckdb", "DESC", "NULLS_FIRST"],
    [3n, 1n, 1n, "b", "duckdb", "ASC", "NULLS_LAST"],
  ]);
  expect(cells(copy, "ducklake_table_column_stats")).toEqual([[1n, 1n, true, null, "1", "2", null]]);
});

it("views, macros and tags are as DuckLake reads them", async () => {
  const lake = await openLake();
  const table = await lake.table("t", { a: "BIGINT" });
  await lake.commit((tx) => {
    tx.createView({ schema: main, name: "v", dialect: "duckdb", sql: "SELECT 1" });
    tx.createMacro({
      schema: main,
      name: "m",
      implementations: [
        { dialect: "duckdb", sql: "x", macroType: "scalar", parameters: [{ parameterName: "x" }] },
        {
          dialect: "duckdb",
          sql: "x + y",
          macroType: "scalar",
          parameters: [
            { parameterName: "x", parameterType: "BIGINT" },
            { parameterName: "y", parameterType: "INTEGER", defaultValue: "1", defaultValueType: "INTEGER" },
          ],
        },
      ],
    });
    tx.setTag({ target: { table }, key: "comment", value: "one" });
  });
  await lake.commit((tx) => tx.setTag({ target: { table }, key: "comment", value: "two" }));
  const copy = await served(lake);
  expect(cells(copy, "ducklake_view")).toEqual([[2n, uuid(3), 2n, null, 0n, "v", "duckdb", "SELECT 1", ""]]);
  expect(cells(copy, "ducklake_macro")).toEqual([[0n, 3n, "m", 2n, null]]);
  expect(cells(copy, "ducklake_macro_impl")).toEqual([
    [3n, 0n, "duckdb", "x", "scalar"],
    [3n, 1n, "duckdb", "x + y", "scalar"],
  ]);
  expect(cells(copy, "ducklake_macro_parameters")).toEqual([
    [3n, 0n, 0n, "x", "unknown", "NULL", "unknown"],
    [3n, 1n, 0n, "x", "int64", "NULL", "unknown"],
    [3n, 1n, 1n, "y", "int32", "1", "int32"],
  ]);
  expect(cells(copy, "ducklake_tag")).toEqual([
    [1n, 2n, 3n, "comment", "one"],
    [1n, 3n, null, "comment", "two"],
  ]);
});

it("inlined rows have the columns of their schema version, and end with their first tombstone", async () => {
  const lake = await openLake();
  const table = await lake.table("t", { k: "BIGINT", j: "JSON" });
  await lake.insert(table, { k: 1, j: "{}" }, { k: 2, j: null });
  await lake.insert(table, { k: 3, j: "[1]" });
  await lake.delete(table, 1n);
  await lake.commit((tx) => tx.addColumn({ table, definition: { name: "d", columnType: "DECIMAL(9,2)" } }));
  await lake.insert(table, { k: 4, j: "4", d: "1.50" });
  const copy = await served(lake);
  expect(cells(copy, "ducklake_inlined_data_tables")).toEqual([
    [1n, "ducklake_inlined_data_1_1", 1n],
    // Version 2 says that rows are inlined, 3 has the new column.
    [1n, "ducklake_inlined_data_1_3", 3n],
  ]);
  expect(copy.tables.get("ducklake_inlined_data_1_1")?.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    "row_id BIGINT",
    "begin_snapshot BIGINT",
    "end_snapshot BIGINT",
    "k BIGINT",
    "j JSON",
  ]);
  expect(cells(copy, "ducklake_inlined_data_1_1")).toEqual([
    [0n, 2n, null, 1n, "{}"],
    [1n, 2n, 4n, 2n, null],
    [2n, 3n, null, 3n, "[1]"],
  ]);
  expect(cells(copy, "ducklake_inlined_data_1_3")).toEqual([[3n, 6n, null, 4n, "4", 150n]]);
});

it("single rows that were deleted from files have a table of their own", async () => {
  const lake = await openLake("memory://serve-rows-deletes");
  const table = await lake.table("t", { k: "BIGINT" });
  const { dataFileId, rowIdStart } = await lake.register(table, [{ k: 1 }, { k: 2 }, { k: 3 }]);
  await lake.delete(table, rowIdStart + 2n);
  const head = await lake.head();
  await lake.delete(table, rowIdStart);
  const copy = await served(lake);
  expect(cells(copy, "ducklake_inlined_delete_1")).toEqual([
    [dataFileId, 0n, head + 1n],
    [dataFileId, 2n, head],
  ]);
});

it("batches are bounded, whether rows come in small chunks or in one large one", async () => {
  const lake = await openLake();
  const table = await lake.table("t", { k: "BIGINT", v: "VARCHAR" });
  const rows = 2 * rowsPerBatch + 5;
  await lake.insert(table, ...Array.from({ length: rows }, (_, k) => ({ k, v: `${k}` })));
  for (let k = 0; k < 3; k++) await lake.insert(table, { k, v: "x".repeat(3 * 1024 * 1024) });
  const { steps, release } = await lake.catalog.loadRows();
  const sizes: number[] = [];
  const keys: bigint[] = [];
  for await (const step of steps) {
    if (step.kind !== "rows" || !step.table.startsWith("ducklake_inlined_data_1")) continue;
    sizes.push(step.batch.rows);
    const values = step.batch.columns[3]!.values!;
    keys.push(...new BigInt64Array(values.slice().buffer));
  }
  release();
  expect(Math.max(...sizes)).toBe(rowsPerBatch);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(rows + 3);
  expect(sizes.slice(-2)).toEqual([1, 1]);
  expect(keys).toEqual([...Array.from({ length: rows }, (_, k) => BigInt(k)), 0n, 1n, 2n]);
});

it("a snapshot that changes nothing has NULL for its changes, as DuckLake writes it", async () => {
  const sql = await SqlLake.open();
  const snapshot = await sql.commit({ made: null });
  const rows = (await served(sql.lake)).rows("ducklake_snapshot_changes");
  expect(rows.find((row) => row["snapshot_id"] === snapshot)?.["changes_made"]).toBeNull();
});

it("what no row can be made of is damage, and said without the value", async () => {
  const lake = await Lake.open({ dataPath: null, catalog: { newUuid: () => "not one" } });
  const { steps, release } = await lake.catalog.loadRows();
  const failure = await failureOf(copyOf(steps));
  expect([failure.code, failure.message]).toEqual([
    "corruption",
    "corruption: schema_uuid holds a text that is no UUID",
  ]);
  release();
});

it("a load that is read late shows the revision at which it was asked for", async () => {
  const lake = await openLake();
  const table = await lake.table("t", { k: "BIGINT" });
  const load = await lake.catalog.loadRows();
  expect(load.revision).toBe(lake.catalog.revision);
  await lake.insert(table, { k: 1 });
  await lake.commit((tx) => tx.dropTable({ table }));
  expect(lake.catalog.revision).toBe(load.revision + 2n);
  const copy = await copyOf(load.steps);
  load.release();
  expect(cells(copy, "ducklake_table")).toEqual([[1n, uuid(2), 1n, null, 0n, "t", "t/", true]]);
  expect(cells(copy, "ducklake_inlined_data_tables")).toEqual([]);
});

/** Steps that follow each commit in turn. */
async function follow(lake: Lake): Promise<{ next: () => Promise<readonly FollowStep[]> }> {
  const told: (readonly FollowStep[])[] = [];
  let wake = (): void => undefined;
  lake.catalog.onRevision({
    revision: ({ steps }) => {
      told.push(steps);
      wake();
    },
    lost: (error) => {
      throw error;
    },
  });
  await Promise.resolve();
  const next = async (): Promise<readonly FollowStep[]> => {
    while (told.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return told.shift()!;
  };
  return { next };
}

/** What steps do, without the rows. */
const outline = (steps: readonly FollowStep[]): unknown[] =>
  steps.map((step) => {
    switch (step.kind) {
      case "rows":
        return `${step.batch.rows} into ${step.table}`;
      case "delete":
        return [`from ${step.table}`, ...step.where.map(([column, value]) => `${column} = ${String(value)}`)].join(" ");
      case "end":
        return `end ${step.rowId} of ${step.table} at ${step.endSnapshot}`;
      default:
        return `${step.kind} ${step.table}`;
    }
  });

const snapshotRows = ["1 into ducklake_snapshot", "1 into ducklake_snapshot_changes"];

it("a commit is told by the rows that it changed, and nothing is taken out that was not there", async () => {
  const lake = await openLake();
  const table = await lake.table("t", { k: "BIGINT" });
  const { next } = await follow(lake);
  await lake.insert(table, { k: 1 }, { k: 2 });
  expect(outline(await next())).toEqual([
    "create ducklake_inlined_data_1_1",
    "from ducklake_table_stats table_id = 1",
    ...snapshotRows,
    "1 into ducklake_table_stats",
    "1 into ducklake_inlined_data_tables",
    "2 into ducklake_inlined_data_1_1",
  ]);
  await lake.insert(table, { k: 3 });
  expect(outline(await next())).toEqual([
    "from ducklake_table_stats table_id = 1",
    ...snapshotRows,
    "1 into ducklake_table_stats",
    "1 into ducklake_inlined_data_1_1",
  ]);
  await lake.delete(table, 2n);
  expect(outline(await next())).toEqual([...snapshotRows, "end 2 of ducklake_inlined_data_1_1 at 4"]);
  const columnStats = [{ columnId: 1n as ColumnId, columnSizeBytes: 1n, valueCount: 1n, nullCount: 0n }];
  const file = { path: "f", recordCount: 1n, fileSizeBytes: 1n, footerSize: 1n, columnStats };
  await lake.commit((tx) => {
    for (let i = 0; i < 3; i++) tx.registerDataFile({ table, file });
  });
  expect(outline(await next())).toEqual([
    "from ducklake_table_stats table_id = 1",
    ...snapshotRows,
    "3 into ducklake_data_file",
    "1 into ducklake_table_stats",
    "3 into ducklake_file_column_stats",
  ]);
  await lake.commit((tx) => tx.setOption({ scope: "global", key: "a", value: "b" }));
  expect(outline(await next())).toEqual(["1 into ducklake_metadata"]);
  await lake.commit((tx) => tx.unsetOption({ scope: "global", key: "a" }));
  expect(outline(await next())).toEqual(["from ducklake_metadata key = a scope = null scope_id = null"]);
});

it("a flush takes out all rows of a table at once, and those of some snapshots by their snapshots", async () => {
  const lake = await openLake("memory://serve-rows-flush");
  const table = await lake.table("t", { k: "BIGINT" });
  await lake.insert(table, { k: 1 }, { k: 2 });
  await lake.insert(table, { k: 3 });
  const { next } = await follow(lake);
  await lake.catalog.flushInlined({ table });
  const all = outline(await next());
  expect(all).toContain("from ducklake_inlined_data_1_1");
  expect(all.filter((step) => String(step).startsWith("from ducklake_inlined_data_1_1"))).toHaveLength(1);
  await lake.insert(table, { k: 4 }, { k: 5 });
  await next();
  const through = (await lake.head()) as SnapshotId;
  await lake.insert(table, { k: 6 });
  await next();
  const file = await lake.writeFile(table, [{ k: 4 }, { k: 5 }]);
  await lake.commit((tx) =>
    tx.flushInlinedData({
      table,
      schemaVersion: 1n,
      throughSnapshot: through,
      files: [{ file, rowIdStart: 3n, beginSnapshot: through }],
    }),
  );
  expect(outline(await next())).toContain(`from ducklake_inlined_data_1_1 begin_snapshot = ${through}`);
});

/** A store whose snapshots fail to read while `failing` says so. */
function withFailingSnapshots(store: WritableStore, failing: () => boolean): WritableStore {
  const snapshot = async (): Promise<StoreSnapshot> => {
    const pinned = await store.snapshot();
    return {
      getMany: (keys) => (failing() ? Promise.reject(new ClosedError("on purpose")) : pinned.getMany(keys)),
      scan: (range, options) => pinned.scan(range, options),
      release: () => pinned.release(),
    };
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "snapshot") return snapshot;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

it("a commit whose steps cannot be worked out is lost, and later ones leave a gap", async () => {
  let failing = false;
  const lake = await Lake.open({ dataPath: null, wrap: (store) => withFailingSnapshots(store, () => failing) });
  const table = await lake.table("t", { k: "BIGINT" });
  const other = await lake.table("u", { k: "BIGINT" });
  const told: unknown[] = [];
  const until = async (count: number): Promise<void> => {
    while (told.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const stop = lake.catalog.onRevision({
    revision: ({ from, to }) => told.push([from, to]),
    lost: (error) => told.push((error as Error).message),
  });
  const { revision } = lake.catalog;
  failing = true;
  await lake.insert(table, { k: 1 });
  await until(1);
  failing = false;
  await lake.insert(other, { k: 1 });
  await until(2);
  expect(told).toEqual(["closed: on purpose", [revision + 1n, revision + 2n]]);
  stop();
  await lake.insert(table, { k: 2 });
  await lake.catalog.close();
  expect(told).toHaveLength(2);
});
