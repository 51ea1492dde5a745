import { describe, expect, it } from "vitest";
import { ConstraintError } from "@moraine/codec";
import { SqlLake } from "../support/sql-lake.js";

/** A table of `a`, `b` with an index on `b` and one without repeats on `a`. */
async function indexed(): Promise<{
  readonly sql: SqlLake;
  readonly table: bigint;
  readonly a: bigint;
  readonly b: bigint;
}> {
  const sql = await SqlLake.open();
  const table = sql.createTable("t", { a: "int64", b: "varchar" });
  sql.raiseSchemaVersion();
  await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
  const a = await sql.createIndex(table, ["a"], { unique: true });
  const b = await sql.createIndex(table, ["b"]);
  await sql.verify();
  return { sql, table, a, b };
}

const rowsOf = (...values: readonly (readonly [number, string | null])[]): { a: bigint; b: string | null }[] =>
  values.map(([a, b]) => ({ a: BigInt(a), b }));

describe("entries of rows that SQL changes", () => {
  it("follow inlined rows, their updates and deletes", async () => {
    const { sql, table, a } = await indexed();
    const { lake } = sql;
    const ids = sql.insertInlined(table, [
      [1n, "x"],
      [2n, "y"],
      [3n, null],
    ]);
    await sql.commit({ made: `inlined_insert:${table}` });
    await sql.verify();
    expect(await lake.lookup(a as never, 2n)).toEqual([ids[1]]);
    // An UPDATE ends the row and writes it again under its id.
    sql.deleteInlined(table, [ids[1]!]);
    sql.insertInlined(table, [[20n, "y"]], [ids[1]!]);
    await sql.commit({ made: `inlined_insert:${table},inlined_delete:${table}` });
    await sql.verify();
    expect(await lake.lookup(a as never, 2n)).toEqual([]);
    expect(await lake.lookup(a as never, 20n)).toEqual([ids[1]]);
    sql.deleteInlined(table, [ids[0]!, ids[2]!]);
    await sql.commit({ made: `inlined_delete:${table}` });
    await sql.verify();
    expect(await lake.lookup(a as never, 1n)).toEqual([]);
  });

  it("are taken from many inlined rows at once", async () => {
    const { sql, table, a } = await indexed();
    const rows = Array.from({ length: 300 }, (_, at) => [BigInt(at), `v${at % 7}`]);
    const ids = sql.insertInlined(table, rows);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.deleteInlined(table, ids.slice(20, 200));
    await sql.commit({ made: `inlined_delete:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 20n)).toEqual([]);
    expect(await sql.lake.lookup(a as never, 200n)).toEqual([200n]);
  });

  it("follow files, their delete files and what replaces those", async () => {
    const { sql, table, a } = await indexed();
    const file = await sql.insertFile(table, rowsOf([1, "x"], [2, "y"], [3, null], [4, "z"]));
    await sql.commit({ made: `inserted_into_table:${table}` });
    await sql.verify();
    await sql.deleteInFile(table, file, [1]);
    await sql.commit({ made: `deleted_from_table:${table}` });
    await sql.verify();
    await sql.deleteInFile(table, file, [1, 2], { replace: "delete" });
    await sql.commit({ made: `deleted_from_table:${table}` });
    await sql.verify();
    sql.deleteInFileInlined(table, file, [0]);
    await sql.commit({ made: `inlined_delete:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 4n)).toEqual([3n]);
    expect(await sql.lake.lookup(a as never, 1n)).toEqual([]);
    sql.end("ducklake_delete_file", (row) => row["data_file_id"] === file.id);
    sql.end("ducklake_data_file", (row) => row["data_file_id"] === file.id);
    await sql.commit({ made: `deleted_from_table:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 4n)).toEqual([]);
  });

  it("follow an update of rows of a file, which writes a file with their ids", async () => {
    const { sql, table, a } = await indexed();
    const file = await sql.insertFile(table, rowsOf([1, "x"], [2, "y"], [3, "z"]));
    await sql.commit({ made: `inserted_into_table:${table}` });
    await sql.deleteInFile(table, file, [0, 1]);
    await sql.insertFile(table, rowsOf([2, "x"], [1, "y"]), [0n, 1n]);
    await sql.commit({ made: `inserted_into_table:${table},deleted_from_table:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 2n)).toEqual([0n]);
    expect(await sql.lake.lookup(a as never, 1n)).toEqual([1n]);
  });

  it("are the same after a flush", async () => {
    const { sql, table, a, b } = await indexed();
    const ids = sql.insertInlined(table, [
      [1n, "x"],
      [2n, "y"],
      [3n, "z"],
    ]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.deleteInlined(table, [ids[1]!]);
    await sql.commit({ made: `inlined_delete:${table}` });
    const before = await sql.lake.lookup(b as never, "z");
    const file = await sql.insertFile(table, rowsOf([1, "x"], [2, "y"], [3, "z"]), ids, sql.snapshot - 2n);
    await sql.deleteInFile(table, file, [1]);
    sql.database.delete(sql.inlinedTable(table), () => true);
    await sql.commit({ made: `inline_flush:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 1n)).toEqual([ids[0]]);
    expect(await sql.lake.lookup(a as never, 2n)).toEqual([]);
    expect(await sql.lake.lookup(b as never, "z")).toEqual(before);
  });

  it("outlast compactions, which derive nothing", async () => {
    const { sql, table, a } = await indexed();
    const first = await sql.insertFile(table, rowsOf([1, "x"], [2, "y"]));
    await sql.commit({ made: `inserted_into_table:${table}` });
    const second = await sql.insertFile(table, rowsOf([3, "z"]));
    await sql.commit({ made: `inserted_into_table:${table}` });
    const merged = await sql.insertFile(
      table,
      rowsOf([1, "x"], [2, "y"], [3, "z"]),
      [0n, 1n, 2n],
      sql.snapshot - 2n,
      sql.snapshot - 1n,
    );
    for (const name of ["data_file", "file_column_stats", "delete_file", "file_partition_value"]) {
      sql.database.delete(`ducklake_${name}`, (row) => [first.id, second.id].includes(row["data_file_id"] as bigint));
    }
    await sql.commit({ made: `merge_adjacent:${table}` });
    await sql.verify();
    await sql.deleteInFile(table, merged, [1]);
    await sql.commit({ made: `deleted_from_table:${table}` });
    await sql.verify();
    sql.end("ducklake_delete_file", (row) => row["data_file_id"] === merged.id);
    sql.end("ducklake_data_file", (row) => row["data_file_id"] === merged.id);
    await sql.insertFile(table, rowsOf([1, "x"], [3, "z"]), [0n, 2n]);
    await sql.commit({ made: `rewrite_delete:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 3n)).toEqual([2n]);
  });

  it.each([
    ["with a row less", [0n, 1n]],
    ["with a row of its own", [0n, 1n, 2n, 7n]],
    ["with a row twice", [0n, 1n, 1n]],
    ["with a row that is dead", [0n, 1n, 2n, 3n]],
  ])("hold a compaction to its sources: one %s is refused", async (_, rowIds) => {
    const { sql, table } = await indexed();
    const first = await sql.insertFile(table, rowsOf([1, "x"], [2, "y"]));
    const second = await sql.insertFile(table, rowsOf([3, "z"], [4, "dead"]));
    await sql.commit({ made: `inserted_into_table:${table}` });
    await sql.deleteInFile(table, second, [1]);
    await sql.commit({ made: `deleted_from_table:${table}` });
    const rewrite = async (ids: readonly bigint[]): Promise<void> => {
      const isSource = (row: Readonly<Record<string, unknown>>): boolean =>
        [first.id, second.id].includes(row["data_file_id"] as bigint);
      for (const name of ["delete_file", "data_file"]) sql.end(`ducklake_${name}`, isSource);
      await sql.insertFile(
        table,
        rowsOf(...ids.map((id): [number, string] => [Number(id) + 1, "xyz"[Number(id)] ?? "r"])),
        ids,
      );
      await sql.commit({ made: `rewrite_delete:${table}` });
    };
    const error: unknown = await rewrite(rowIds).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConstraintError);
    expect((error as Error).message).toContain(
      `a compaction of table ${table}, which has indexes, takes 3 rows out of their files and writes ${rowIds.length} rows`,
    );
    await sql.verify();
    // DuckLake may give rows other ids: entries follow them.
    await rewrite(rowIds.length % 2 === 0 ? [9n, 0n, 8n] : [2n, 0n, 1n]);
    await sql.verify();
    expect(await sql.lake.scan(table as never)).toHaveLength(3);
  });

  it("end with their table", async () => {
    const { sql, table } = await indexed();
    sql.insertInlined(table, [[1n, "x"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.dropTable(table);
    await sql.commit({ made: `dropped_table:${table}` });
    await sql.verify();
    const snapshot = await sql.lake.catalog.snapshot();
    expect(snapshot.indexesOf(table as never)).toEqual([]);
    const again = await sql.lake.catalog.maintain();
    expect(again.indexesSwept).toBe(2);
  });

  it("go with rows that are deleted from inlined tables and stand in no file", async () => {
    const { sql, table, a } = await indexed();
    sql.insertInlined(table, [
      [1n, "x"],
      [2n, "y"],
      [3n, "z"],
      [4n, "w"],
    ]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.database.delete(sql.inlinedTable(table), (row) => row["row_id"] === 1n);
    await sql.send();
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 2n)).toEqual([]);
    expect(await sql.lake.lookup(a as never, 4n)).toEqual([3n]);
  });
});

describe("values that an index holds already", () => {
  it("refuse a commit, permanently and without naming them", async () => {
    const { sql, table } = await indexed();
    sql.insertInlined(table, [[77_001n, "x"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.insertInlined(table, [[77_001n, "y"]]);
    const refused = await sql.commit({ made: `inlined_insert:${table}` }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConstraintError);
    const { message } = refused as ConstraintError;
    expect(message).toContain("a_u");
    expect(message).not.toMatch(/conflict|concurrent|unique|primary key|77001/i);
    await sql.insertFile(table, rowsOf([77_001, "z"]));
    await expect(sql.commit({ made: `inserted_into_table:${table}` })).rejects.toThrow(ConstraintError);
    await sql.verify();
    sql.insertInlined(table, [[77_002n, "y"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    await sql.verify();
  });

  it("are free again for the commit that deletes them", async () => {
    const { sql, table, a } = await indexed();
    sql.insertInlined(table, [
      [1n, "x"],
      [2n, "y"],
    ]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.deleteInlined(table, [0n, 1n]);
    sql.insertInlined(
      table,
      [
        [2n, "x"],
        [1n, "y"],
      ],
      [0n, 1n],
    );
    await sql.commit({ made: `inlined_insert:${table},inlined_delete:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(a as never, 1n)).toEqual([1n]);
  });
});
