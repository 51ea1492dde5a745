import { ConstraintError, sysLooseRowsKey, type TableId } from "@moraine/codec";
import { getOne } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { Follower, freshCopy } from "../support/follower.js";
import { SqlLake } from "../support/sql-lake.js";

/** A table with a comment on it, rows in a file, and a view; with an index on `a` where it is asked for. */
async function lakeWith(index: boolean): Promise<{ readonly sql: SqlLake; readonly table: bigint }> {
  const sql = await SqlLake.open();
  const table = sql.createTable("t", { a: "int64", b: "varchar" });
  sql.raiseSchemaVersion();
  sql.database.insert("ducklake_tag", [table, sql.snapshot, null, "comment", "hello"]);
  sql.database.insert("ducklake_column_tag", [table, 1n, sql.snapshot, null, "comment", "hello"]);
  await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
  if (index) await sql.createIndex(table, ["a"]);
  await sql.insertFile(table, [{ a: 1n, b: "x" }]);
  await sql.commit({ made: `inserted_into_table:${table}` });
  await sql.verify();
  return { sql, table };
}

const column = (id: bigint) => (row: Readonly<Record<string, unknown>>) => row["column_id"] === id;
const all = (): boolean => true;

describe("edits of metadata rows by hand", () => {
  it.each([
    [
      "a tag",
      (sql: SqlLake, table: bigint) => sql.database.insert("ducklake_tag", [table, 1n, null, "owner", "alice"]),
    ],
    [
      "a tag of an object that is not there",
      (sql: SqlLake) => sql.database.insert("ducklake_tag", [99n, 1n, null, "owner", "alice"]),
    ],
    ["the value of a tag", (sql: SqlLake) => sql.database.update("ducklake_tag", all, { value: null })],
    ["a tag less", (sql: SqlLake) => sql.database.delete("ducklake_tag", all)],
    [
      "a tag of a column",
      (sql: SqlLake, table: bigint) => sql.database.insert("ducklake_column_tag", [table, 2n, 1n, null, "pii", "true"]),
    ],
    [
      "the value of a tag of a column",
      (sql: SqlLake) => sql.database.update("ducklake_column_tag", all, { value: "other" }),
    ],
    ["a tag of a column less", (sql: SqlLake) => sql.database.delete("ducklake_column_tag", all)],
    [
      "options",
      (sql: SqlLake) =>
        sql.database.insert("ducklake_metadata", ["mykey", "myvalue", null, null], ["other", "v2", null, null]),
    ],
    [
      "statistics of a table",
      (sql: SqlLake) => sql.database.update("ducklake_table_stats", all, { record_count: 100n }),
    ],
    [
      "new statistics of a table",
      (sql: SqlLake, table: bigint) =>
        sql.database.insert("ducklake_table_column_stats", [table, 1n, true, null, "1", "2", null]),
    ],
    [
      "statistics of a file",
      (sql: SqlLake) =>
        sql.database.update("ducklake_file_column_stats", column(1n), {
          value_count: 1n,
          null_count: 0n,
          min_value: "1",
        }),
    ],
    [
      "a column's type",
      (sql: SqlLake) => sql.database.update("ducklake_column", column(2n), { column_type: "int32varcharvarchar" }),
    ],
    [
      "a file's order",
      (sql: SqlLake) => sql.database.update("ducklake_data_file", all, { file_order: 7n, footer_size: null }),
    ],
    ["a table's path", (sql: SqlLake) => sql.database.update("ducklake_table", all, { path: "elsewhere/" })],
    [
      "the text of a commit",
      (sql: SqlLake) =>
        sql.database.update("ducklake_snapshot_changes", (row) => row["snapshot_id"] === 1n, {
          commit_message: "why",
          author: null,
        }),
    ],
    [
      "the time of the head",
      (sql: SqlLake) =>
        sql.database.update("ducklake_snapshot", (row) => row["snapshot_id"] === 2n, { snapshot_time: 77n }),
    ],
  ])("keep %s", async (_, edit) => {
    const { sql } = await lakeWith(false);
    edit(sql, sql.live("ducklake_table")[0]!["table_id"] as bigint);
    const base = sql.lake.catalog.revision;
    await sql.send();
    expect(sql.lake.catalog.revision).toBe(base + 1n);
    await sql.verify();
    await sql.verifyState();
    const head = (await sql.lake.catalog.snapshot()).currentSnapshot;
    expect(head.id).toBe(2n);
    if (_ === "the time of the head") expect(head.timeMicros).toBe(77n);
  });

  it.each([
    [
      "a tag of a column that is not there",
      (sql: SqlLake, table: bigint) => sql.database.insert("ducklake_column_tag", [table, 0n, 4n, null, "pii", "true"]),
      (sql: SqlLake) => sql.database.update("ducklake_column_tag", column(0n), { value: null, end_snapshot: 5n }),
      (sql: SqlLake) => sql.database.delete("ducklake_column_tag", column(0n)),
    ],
    [
      "the changes of a snapshot that is not there",
      (sql: SqlLake) => sql.database.insert("ducklake_snapshot_changes", [9n, "orphan", null, "it's", null]),
      (sql: SqlLake) =>
        sql.database.update("ducklake_snapshot_changes", (row) => row["snapshot_id"] === 9n, { snapshot_id: 10n }),
      (sql: SqlLake) => sql.database.delete("ducklake_snapshot_changes", (row) => (row["snapshot_id"] as bigint) > 8n),
    ],
  ])("keep %s, as long as it is there", async (_, insert, update, remove) => {
    const { sql, table } = await lakeWith(true);
    const isKept = async (): Promise<boolean> => (await getOne(sql.lake.store.inner, sysLooseRowsKey)) !== undefined;
    expect(await isKept()).toBe(false);
    for (const edit of [insert, update, remove]) {
      edit(sql, table);
      await sql.send();
      await sql.verify();
      await sql.verifyState();
      expect(await isKept()).toBe(edit !== remove);
    }
  });

  it("that name the changes of a snapshot go when it comes", async () => {
    const { sql, table } = await lakeWith(false);
    const follower = await Follower.open(sql.lake);
    sql.database.insert("ducklake_snapshot_changes", [sql.snapshot, "orphan", null, null, null]);
    await sql.send();
    await sql.lake.insert(table as TableId, { a: 5n, b: "api" });
    await follower.catchUp(sql.lake);
    const changes = (rows: readonly (readonly unknown[])[]): unknown[] => rows.map(([id, made]) => [id, made]);
    const followed = changes(follower.copy.tables.get("ducklake_snapshot_changes")!.rows);
    expect(followed).toEqual(changes((await freshCopy(sql.lake)).tables.get("ducklake_snapshot_changes")!.rows));
    expect(followed).toContainEqual([3n, `inserted_into_table:${table}`]);
    expect(followed).toHaveLength(4);
    expect(await getOne(sql.lake.store.inner, sysLooseRowsKey)).toBeUndefined();
  });

  it("of changes that are there already are refused", async () => {
    const { sql } = await lakeWith(false);
    sql.database.insert("ducklake_snapshot_changes", [1n, "again", null, null, null]);
    await expect(sql.send()).rejects.toThrow("ducklake_snapshot_changes");
    await sql.verify();
  });

  it.each([
    [
      "ids of a table",
      "ducklake_table",
      (sql: SqlLake) => sql.database.update("ducklake_table", all, { table_id: 77n }),
    ],
    [
      "the schema version of a snapshot",
      "ducklake_snapshot",
      (sql: SqlLake) => sql.database.update("ducklake_snapshot", all, { schema_version: 9n }),
    ],
    [
      "a key of the lake",
      "ducklake_metadata",
      (sql: SqlLake) =>
        sql.database.update("ducklake_metadata", (row) => row["key"] === "encrypted", { value: "true" }),
    ],
    [
      "a scope that is none",
      "ducklake_metadata",
      (sql: SqlLake) => sql.database.insert("ducklake_metadata", ["k", "v", "file", 1n]),
    ],
    [
      "an orphan",
      "ducklake_partition_column",
      (sql: SqlLake, table: bigint) =>
        sql.database.insert("ducklake_partition_column", [9n, table, 0n, 1n, "identity"]),
    ],
    [
      "a schema version",
      "ducklake_schema_versions",
      (sql: SqlLake) => sql.database.update("ducklake_schema_versions", all, { schema_version: 9n }),
    ],
    ["a NULL", "ducklake_table", (sql: SqlLake) => sql.database.update("ducklake_table", all, { table_name: null })],
    [
      "a negative id",
      "ducklake_table",
      (sql: SqlLake) => sql.database.update("ducklake_table", all, { begin_snapshot: -1n }),
    ],
    [
      "a registration",
      "ducklake_inlined_data_tables",
      (sql: SqlLake, table: bigint) => sql.database.insert("ducklake_inlined_data_tables", [table, "elsewhere", 1n]),
    ],
  ])("are refused that cannot be kept: %s", async (_, named, edit) => {
    const { sql } = await lakeWith(false);
    edit(sql, sql.live("ducklake_table")[0]!["table_id"] as bigint);
    const error: unknown = await sql.send().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConstraintError);
    expect((error as Error).message).toContain(named);
    await sql.verify();
  });

  it.each([
    ["a column", (sql: SqlLake) => sql.database.update("ducklake_column", column(2n), { column_name: "c" })],
    ["a file", (sql: SqlLake) => sql.database.update("ducklake_data_file", all, { mapping_id: 3n })],
    [
      "the type of the indexed column",
      (sql: SqlLake) => sql.database.update("ducklake_column", column(1n), { column_type: "varchar" }),
    ],
  ])("are refused on a table with indexes: %s", async (_, edit) => {
    const { sql } = await lakeWith(true);
    edit(sql);
    const error: unknown = await sql.send().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConstraintError);
    expect((error as Error).message).toMatch(/ducklake_(column|data_file).*indexes/);
    await sql.verify();
  });

  it("take entries of a file that is deleted by hand", async () => {
    const { sql } = await lakeWith(true);
    sql.database.delete("ducklake_data_file", all);
    sql.database.delete("ducklake_file_column_stats", all);
    await sql.send();
    await sql.verify();
    expect(await sql.lake.scan(sql.live("ducklake_table")[0]!["table_id"] as never)).toEqual([]);
  });

  it("may come as a delete and an insert of the same row", async () => {
    const { sql, table } = await lakeWith(false);
    const [row] = sql.database.delete("ducklake_table", all);
    sql.database.insert("ducklake_table", Object.values({ ...row, end_snapshot: sql.snapshot }));
    sql.dropTable(table);
    await sql.commit({ made: `dropped_table:${table}` });
    await sql.verify();
    expect((await sql.lake.catalog.snapshotAt(2n as never)).tablesIn(0n as never)).toHaveLength(1);
  });
});
