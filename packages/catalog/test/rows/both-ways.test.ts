import type { TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { SqlLake } from "../support/sql-lake.js";

describe("a lake that SQL and the embedding API write", () => {
  it("takes inlined rows of both under the newest inlined table", async () => {
    const sql = await SqlLake.open();
    const table = sql.createTable("t", { a: "int64", b: "varchar" });
    sql.raiseSchemaVersion();
    await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
    const index = await sql.createIndex(table, ["a"], { unique: true });
    // DuckLake raises the schema version for the inlined table alone.
    sql.insertInlined(table, [[1n, "x"]]);
    const name = sql.inlinedTable(table);
    await sql.commit({ made: `inlined_insert:${table}` });
    const first = await sql.lake.insert(table as TableId, { a: 2n, b: "y" });
    expect(await sql.lake.lookup(index, 2n)).toEqual([first]);
    const fresh = await sql.lake.reopen();
    const second = await fresh.insert(table as TableId, { a: 3n, b: "y" });
    expect(await fresh.lookup(index, 3n)).toEqual([second]);
    await fresh.expectVerified(table as TableId);
    const rows = await fresh.scan(table as TableId);
    expect(rows.map((row) => row.rowId)).toEqual([0n, 1n, 2n]);
    const versions = new Set<bigint>();
    using scope = await fresh.catalog.reads();
    for (const row of await scope.recentRows({ table: table as TableId })) versions.add(row.schemaVersion);
    expect([...versions].map((version) => `ducklake_inlined_data_${table}_${version}`)).toEqual([name]);
  });

  it("ends rows of the API by SQL, and rows of SQL by the API", async () => {
    const sql = await SqlLake.open();
    const table = sql.createTable("t", { a: "int64", b: "varchar" });
    sql.database.createInlined(table, sql.raiseSchemaVersion(), sql.columnsOf(table));
    await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
    await sql.createIndex(table, ["a"]);
    const api = await sql.lake.insert(table as TableId, { a: 1n, b: "api" });
    await sql.load();
    const [own] = sql.insertInlined(table, [[2n, "sql"]]);
    sql.deleteInlined(table, [api]);
    await sql.commit({ made: `inlined_insert:${table},inlined_delete:${table}` });
    await sql.verify();
    await sql.lake.delete(table as TableId, own!);
    await sql.load();
    await sql.verify();
    expect(await sql.lake.scan(table as TableId)).toEqual([]);
  });

  it("keeps the commits of both apart by their bases", async () => {
    const sql = await SqlLake.open();
    const table = sql.createTable("t", { a: "int64" });
    sql.database.createInlined(table, sql.raiseSchemaVersion(), sql.columnsOf(table));
    await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
    sql.insertInlined(table, [[1n]]);
    const [bySql, byApi] = await Promise.allSettled([
      sql.commit({ made: `inlined_insert:${table}` }),
      sql.lake.insert(table as TableId, { a: 2n }),
    ]);
    expect([bySql.status, byApi.status]).toEqual(["fulfilled", "fulfilled"]);
    await sql.load();
    await sql.verify();
    expect(await sql.lake.column(table as TableId, "a")).toHaveLength(2);
  });
});
