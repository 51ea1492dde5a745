// Row ids that DuckLake gives to several rows where it merges files of one table.
import { firstProvisionalRowId } from "@moraine/index-core";
import { describe, expect, it } from "vitest";
import { sharedRowId } from "../../src/index/shared-row-ids.js";
import { type SqlFile, SqlLake } from "../support/sql-lake.js";

async function open(): Promise<{ readonly sql: SqlLake; readonly table: bigint }> {
  const sql = await SqlLake.open();
  const table = sql.createTable("t", { a: "int64" });
  sql.raiseSchemaVersion();
  await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
  return { sql, table };
}

/** A file of rows of `a`, committed as an insertion. */
async function write(
  sql: SqlLake,
  table: bigint,
  values: readonly number[],
  rowIds: readonly bigint[],
): Promise<SqlFile> {
  const rows = values.map((a) => ({ a: BigInt(a) }));
  const file = await sql.insertFile(table, rows, rowIds);
  await sql.commit({ made: `inserted_into_table:${table}` });
  return file;
}

async function merge(
  sql: SqlLake,
  table: bigint,
  files: readonly SqlFile[],
  values: readonly number[],
  rowIds: readonly bigint[],
): Promise<void> {
  sql.end("ducklake_data_file", (row) => files.some(({ id }) => id === row["data_file_id"]));
  const rows = values.map((a) => ({ a: BigInt(a) }));
  await sql.insertFile(table, rows, rowIds);
  await sql.commit({ made: `merge_adjacent:${table}` });
}

describe("a merge that gives rows new ids", () => {
  it("is refused where a row of another file has one of them, and is not where that row is deleted", async () => {
    const { sql, table } = await open();
    const index = await sql.createIndex(table, ["a"]);
    const other = await write(sql, table, [7, 7], [2n, 5n]);
    const files = [await write(sql, table, [1, 2], [0n, 1n]), await write(sql, table, [7, 8], [3n, 6n])];
    await expect(merge(sql, table, files, [1, 2, 7, 8], [0n, 1n, 2n, 3n])).rejects.toThrow("gives a row the id 2,");
    await sql.verify();
    expect(await sql.lake.lookup(index as never, 7n)).toEqual([2n, 3n, 5n]);
    await sql.deleteInFile(table, other, [0]);
    await sql.commit({ made: `deleted_from_table:${table}` });
    await merge(sql, table, files, [1, 2, 7, 8], [0n, 1n, 2n, 3n]);
    await sql.verify();
    expect(await sql.lake.lookup(index as never, 7n)).toEqual([2n, 5n]);
  });
});

it("a merge after which ids ascend that did not before gives rows each other's", async () => {
  const { sql, table } = await open();
  const index = await sql.createIndex(table, ["a"]);
  const files = [await write(sql, table, [7, 8], [1n, 0n]), await write(sql, table, [9], [2n])];
  await merge(sql, table, files, [7, 8, 9], [0n, 1n, 2n]);
  await sql.verify();
  expect(await sql.lake.lookup(index as never, 7n)).toEqual([0n]);
});

it("a merge is refused that gives a row the id of an inline one", async () => {
  const { sql, table } = await open();
  await sql.createIndex(table, ["a"]);
  sql.insertInlined(table, [[7n]], [2n]);
  await sql.commit({ made: `inlined_insert:${table}` });
  const files = [await write(sql, table, [1, 2], [0n, 1n]), await write(sql, table, [7], [3n])];
  await expect(merge(sql, table, files, [1, 2, 7], [0n, 1n, 2n])).rejects.toThrow("gives a row the id 2,");
  await sql.verify();
  sql.deleteInlined(table, [2n]);
  await sql.commit({ made: `inlined_delete:${table}` });
  await merge(sql, table, files, [1, 2, 7], [0n, 1n, 2n]);
  await sql.verify();
});

describe("an index over rows that share an id", () => {
  it.each([false, true])("is refused, unique: %s", async (unique) => {
    const { sql, table } = await open();
    const files = [await write(sql, table, [1, 2], [0n, 1n]), await write(sql, table, [3, 4], [3n, 6n])];
    await write(sql, table, [5, 6], [2n, 5n]);
    // Nobody reads what is merged in a table without indexes.
    await merge(sql, table, files, [1, 2, 3, 4], [0n, 1n, 2n, 3n]);
    await expect(sql.createIndex(table, ["a"], { unique })).rejects.toThrow("share the row id 2:");
  });
});

it("an id that comes more than once is found, unless it is provisional", () => {
  const of = (...lists: readonly (readonly bigint[])[]): bigint | undefined =>
    sharedRowId(lists.map((list) => BigUint64Array.from(list)));
  const provisional = firstProvisionalRowId;
  expect(of()).toBeUndefined();
  expect(of([1n, 2n], [3n])).toBeUndefined();
  expect(of([3n, 9n], [1n, 2n])).toBeUndefined();
  expect(of([3n, 9n], [1n, 9n])).toBe(9n);
  expect(of([4n, 4n])).toBe(4n);
  expect(of([provisional, provisional], [0n])).toBeUndefined();
  expect(of([provisional, provisional, 7n], [7n])).toBe(7n);
});
