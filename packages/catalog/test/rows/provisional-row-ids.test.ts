// Rows that share a row id, as DuckLake gives it to rows that a transaction inserts into files and updates.
import { firstProvisionalRowId } from "@moraine/index-core";
import { describe, expect, it } from "vitest";
import { type SqlFile, SqlLake } from "../support/sql-lake.js";

const shared = firstProvisionalRowId;

interface Fixture {
  readonly sql: SqlLake;
  readonly table: bigint;
  readonly index: bigint;
  /** A file of rows of `a` with the ids given, committed. */
  readonly write: (values: readonly number[], rowIds: readonly bigint[]) => Promise<SqlFile>;
}

async function open(): Promise<Fixture> {
  const sql = await SqlLake.open();
  const table = sql.createTable("t", { a: "int64" });
  sql.raiseSchemaVersion();
  await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
  const index = await sql.createIndex(table, ["a"]);
  const write = async (values: readonly number[], rowIds: readonly bigint[]): Promise<SqlFile> => {
    const file = await sql.insertFile(
      table,
      values.map((a) => ({ a: BigInt(a) })),
      rowIds,
    );
    await sql.commit({ made: `inserted_into_table:${table}` });
    await sql.verify();
    return file;
  };
  return { sql, table, index, write };
}

describe("rows that share a row id", () => {
  it("are not deleted by it, as nobody can tell which one is meant", async () => {
    const { sql, table, index, write } = await open();
    await write([1, 2], [shared, shared]);
    expect(await sql.lake.lookup(index as never, 2n)).toEqual([shared]);
    await expect(sql.lake.delete(table as never, shared)).rejects.toMatchObject({ code: "unsupported" });
    await sql.verify();
  });

  it("keep it in a compaction that gives other rows new ids, but get no more alike", async () => {
    const { sql, table, index, write } = await open();
    const files = [await write([1, 2], [shared, shared + 1n]), await write([1, 3], [shared, 4n])];
    const compact = async (rowIds: readonly bigint[]): Promise<void> => {
      sql.end("ducklake_data_file", (row) => files.some(({ id }) => id === row["data_file_id"]));
      await sql.insertFile(
        table,
        [1, 1, 2, 3].map((a) => ({ a: BigInt(a) })),
        rowIds,
      );
      await sql.commit({ made: `rewrite_delete:${table}` });
    };
    for (const rowIds of [
      [shared, shared, shared, 4n],
      [shared, shared, shared + 1n, shared + 1n],
      [7n, 7n, shared + 1n, 4n],
      [shared, shared, 9n, 9n],
    ]) {
      await expect(compact(rowIds)).rejects.toThrow("which are not the same ones");
      await sql.verify();
    }
    await compact([shared, shared, 8n, 9n]);
    await sql.verify();
    expect(await sql.lake.lookup(index as never, 2n)).toEqual([8n]);
    expect(await sql.lake.lookup(index as never, 1n)).toEqual([shared]);
  });
});
