import { expect, it } from "vitest";
import { Follower, freshCopy } from "../support/follower.js";
import { SqlLake } from "../support/sql-lake.js";
import type { TableCopy } from "../support/table-copy.js";

/** A lake that is written as DuckLake writes it, whose tables another one follows. */
class FollowedLake {
  readonly sql: SqlLake;
  readonly #follower: Follower;
  checks = 0;

  private constructor(sql: SqlLake, follower: Follower) {
    this.sql = sql;
    this.#follower = follower;
  }

  static async open(): Promise<FollowedLake> {
    const sql = await SqlLake.open();
    const follower = await Follower.open(sql.lake);
    // What a client has of the lake before its first commit is what it was served.
    sql.database.delete("ducklake_metadata", () => true);
    sql.database.insert("ducklake_metadata", ...follower.copy.tables.get("ducklake_metadata")!.rows);
    sql.database.take();
    return new FollowedLake(sql, follower);
  }

  /** Commits, and finds the rows of the database that committed in a load and in the copy that follows. */
  async commit(made: string | undefined, ...schemaChanged: bigint[]): Promise<void> {
    const { sql } = this;
    if (made === undefined) await sql.send();
    else await sql.commit({ made, schemaChanged });
    await this.#follower.catchUp(sql.lake);
    const expected = Object.fromEntries(
      sql.database.names().map((name) => [name, sorted(sql.database.rows(name).map((row) => Object.values(row)))]),
    );
    expect(contentsOf(await freshCopy(sql.lake))).toEqual(expected);
    expect(contentsOf(this.#follower.copy)).toEqual(expected);
    this.checks += 1;
  }
}

function contentsOf(copy: TableCopy): unknown {
  return Object.fromEntries([...copy.tables].map(([name, { rows }]) => [name, sorted(rows)]));
}

function sorted(rows: readonly (readonly unknown[])[]): string[] {
  const text = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value);
  return rows.map((row) => JSON.stringify(row, text)).sort();
}

it("rows that SQL commits come back to it and to everybody who follows, NULLs included", async () => {
  const lake = await FollowedLake.open();
  const { sql } = lake;
  const { database } = sql;
  const table = sql.createTable("t", { a: "int64", b: "varchar" });
  sql.raiseSchemaVersion();
  await lake.commit('created_table:"main"."t"', table);

  const ids = sql.insertInlined(table, [
    [1n, "x"],
    [2n, null],
    [3n, "z"],
  ]);
  await lake.commit(`inlined_insert:${table}`);
  sql.deleteInlined(table, [ids[1]!]);
  sql.insertInlined(table, [[20n, "y"]], [ids[1]!]);
  await lake.commit(`inlined_insert:${table},inlined_delete:${table}`);
  sql.deleteInlined(table, [ids[0]!, ids[1]!]);
  await lake.commit(`inlined_delete:${table}`);

  const file = await sql.insertFile(table, [
    { a: 1n, b: "f" },
    { a: 2n, b: null },
    { a: 3n, b: "g" },
    { a: 4n, b: "h" },
  ]);
  database.insert("ducklake_file_partition_value", [file.id, table, 0n, null], [file.id, table, 1n, "p"]);
  await lake.commit(`inserted_into_table:${table}`);
  await sql.deleteInFile(table, file, [1]);
  await lake.commit(`deleted_from_table:${table}`);
  await sql.deleteInFile(table, file, [1, 2], { replace: "delete" });
  await lake.commit(`deleted_from_table:${table}`);
  sql.deleteInFileInlined(table, file, [0, 3]);
  await lake.commit(`inlined_delete:${table}`);

  const begin = sql.snapshot;
  database.insert("ducklake_tag", [table, begin, null, "comment", null]);
  database.insert(
    "ducklake_column_tag",
    [table, 1n, begin, null, "comment", "a"],
    [table, 2n, begin, null, "note", null],
  );
  database.insert("ducklake_metadata", ["target_file_size", "1000", null, null], ["a", "b", "table", table]);
  await lake.commit(`altered_table:${table}`, table);
  database.update("ducklake_metadata", (row) => row["key"] === "target_file_size", { value: "2000" });
  database.update("ducklake_tag", () => true, { end_snapshot: sql.snapshot });
  database.insert("ducklake_tag", [table, sql.snapshot, null, "comment", "two"]);
  sql.end("ducklake_column_tag", (row) => row["column_id"] === 1n);
  await lake.commit(`altered_table:${table}`, table);

  sql.end("ducklake_column", (row) => row["column_id"] === 2n);
  await lake.commit(`altered_table:${table}`, table);
  sql.dropTable(table);
  for (const name of [...sql.inlinedNames(table), `ducklake_inlined_delete_${table}`]) database.dropInlined(name);
  await lake.commit(`dropped_table:${table}`);
  expect(lake.checks).toBe(12);
});

it("snapshots that expire take their rows with them", async () => {
  const lake = await FollowedLake.open();
  const { sql } = lake;
  const { database } = sql;
  const table = sql.createTable("t", { a: "int64", b: "varchar" });
  await lake.commit('created_table:"main"."t"', table);
  const begin = sql.snapshot;
  database.insert("ducklake_column_tag", [table, 2n, begin, null, "comment", "b"]);
  const file = await sql.insertFile(table, [{ a: 1n, b: "f" }]);
  database.insert("ducklake_file_partition_value", [file.id, table, 0n, "p"]);
  await lake.commit(`inserted_into_table:${table}`);
  sql.end("ducklake_data_file", (row) => row["data_file_id"] === file.id);
  sql.end("ducklake_column", (row) => row["column_id"] === 2n);
  sql.end("ducklake_column_tag", (row) => row["column_id"] === 2n);
  await lake.commit(`deleted_from_table:${table},altered_table:${table}`, table);

  const isPast = (row: Readonly<Record<string, unknown>>): boolean => row["end_snapshot"] !== null;
  for (const name of ["ducklake_snapshot", "ducklake_snapshot_changes"])
    database.delete(name, (row) => (row["snapshot_id"] as bigint) < sql.snapshot - 1n);
  for (const name of ["ducklake_data_file", "ducklake_column"]) database.delete(name, isPast);
  database.delete("ducklake_file_partition_value", (row) => row["data_file_id"] === file.id);
  database.delete("ducklake_file_column_stats", (row) => row["data_file_id"] === file.id);
  database.delete("ducklake_column_tag", (row) => row["column_id"] === 2n);
  database.insert("ducklake_files_scheduled_for_deletion", [file.id, file.path, true, 1_600_000_000_000_000n]);
  await lake.commit(undefined);
  database.delete("ducklake_files_scheduled_for_deletion", () => true);
  await lake.commit(undefined);
  expect(lake.checks).toBe(5);
});

it("rows that belong to nothing stay beside those that do, whatever becomes of these", async () => {
  const lake = await FollowedLake.open();
  const { sql } = lake;
  const { database } = sql;
  const table = sql.createTable("t", { a: "int64", b: "varchar" });
  await lake.commit('created_table:"main"."t"', table);
  const tag = (column: bigint, key: string) => [table, column, sql.snapshot, null, key, "v"];
  database.insert("ducklake_column_tag", tag(3n, "early"), tag(3n, "early"), tag(7n, "never"));
  database.insert("ducklake_snapshot_changes", [sql.snapshot + 50n, "orphan", null, null, null]);
  await lake.commit(undefined);
  // The column that a tag was waiting for comes; tags of its own are put down and changed.
  sql.insertColumn(table, 3n, "c", "int64");
  await lake.commit(`altered_table:${table}`, table);
  database.insert("ducklake_column_tag", tag(3n, "own"));
  await lake.commit(`altered_table:${table}`, table);
  database.update("ducklake_column_tag", (row) => row["key"] === "own", { value: "w" });
  await lake.commit(undefined);
  sql.end("ducklake_column_tag", (row) => row["key"] === "own");
  database.delete("ducklake_column_tag", (row) => row["key"] === "early");
  await lake.commit(`altered_table:${table}`, table);
  sql.dropTable(table);
  await lake.commit(`dropped_table:${table}`);
  database.delete("ducklake_column_tag", () => true);
  database.delete("ducklake_snapshot_changes", (row) => row["changes_made"] === "orphan");
  await lake.commit(undefined);
  expect(lake.checks).toBe(8);
});

it("inlined tables of a dropped table may go one after the other, as long as they are empty", async () => {
  const lake = await FollowedLake.open();
  const { sql } = lake;
  const { database } = sql;
  const table = sql.createTable("t", { a: "int64" });
  const [first, second] = [1, 2].map(() =>
    database.createInlined(table, sql.raiseSchemaVersion(), sql.columnsOf(table)),
  );
  await lake.commit('created_table:"main"."t"', table);
  const third = database.createInlined(table, sql.raiseSchemaVersion(), sql.columnsOf(table));
  database.insert(first!, [sql.takeRowIds(table, 1)[0], sql.snapshot, null, 1n]);
  await lake.commit(`inlined_insert:${table}`);
  sql.dropTable(table);
  await lake.commit(`dropped_table:${table}`);
  database.dropInlined(second!);
  await lake.commit(undefined);
  // The row of this one can still be seen in the past.
  database.dropInlined(first!);
  await expect(lake.commit(undefined)).rejects.toThrow(`${first!} leaves ducklake_inlined_data_tables and holds rows`);
  for (const name of [first!, third]) database.dropInlined(name);
  await lake.commit(undefined);
  expect(lake.checks).toBe(5);
});
