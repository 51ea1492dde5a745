import {
  CommitConflictError,
  ConstraintError,
  CorruptionError,
  InvalidArgumentError,
  type MoraineError,
} from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { batchOf, ddl, tableChanges } from "../support/row-batches.js";
import { SqlLake } from "../support/sql-lake.js";

async function withTable(
  options: Parameters<typeof SqlLake.open>[0] = {},
): Promise<{ readonly sql: SqlLake; readonly table: bigint }> {
  const sql = await SqlLake.open(options);
  const table = sql.createTable("t", { a: "int64", b: "varchar" });
  sql.raiseSchemaVersion();
  await sql.commit({ made: 'created_table:"main"."t"', schemaChanged: [table] });
  return { sql, table };
}

async function refusal(commit: Promise<unknown>): Promise<MoraineError> {
  const error: unknown = await commit.then(
    () => new Error("the commit was not refused"),
    (cause: unknown) => cause,
  );
  const text = (error as MoraineError).message;
  if (!(error instanceof CommitConflictError)) expect(text).not.toMatch(/conflict|concurrent|unique|primary key/i);
  return error as MoraineError;
}

describe("the base of a commit", () => {
  it("has to be the revision that the lake is at", async () => {
    const { sql, table } = await withTable();
    const { catalog } = sql.lake;
    const base = catalog.revision;
    await sql.lake.commit((tx) => tx.setOption({ scope: "global", key: "target_file_size", value: "1000" }));
    expect(catalog.revision).toBe(base + 1n);
    sql.insertInlined(table, [[1n, "x"]]);
    const error = await refusal(sql.send(base));
    expect(error).toBeInstanceOf(CommitConflictError);
    expect(error.message).toContain("conflict");
    expect(error.retryable).toBe(true);
    await sql.load();
    await sql.verify();
  });

  it("lets one of two that began on it land", async () => {
    const { sql } = await withTable();
    const { catalog } = sql.lake;
    const base = catalog.revision;
    sql.database.insert("ducklake_metadata", ["first", "1", null, null]);
    const first = sql.database.take();
    sql.database.insert("ducklake_metadata", ["second", "1", null, null]);
    const second = sql.database.take();
    const outcomes = await Promise.allSettled([
      catalog.commitRows(first, { base }),
      catalog.commitRows(second, { base }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(outcomes[0]).toMatchObject({ value: { revision: base + 1n } });
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(CommitConflictError);
  });

  it("is kept by a commit that changes nothing", async () => {
    const { sql } = await withTable();
    const base = sql.lake.catalog.revision;
    expect(await sql.lake.catalog.commitRows({ ddl: [], tables: [] }, { base })).toEqual({ revision: base });
    expect(sql.lake.catalog.revision).toBe(base);
  });

  it("does not outlive a cancelled commit", async () => {
    const { sql } = await withTable();
    const base = sql.lake.catalog.revision;
    sql.database.insert("ducklake_metadata", ["k", "1", null, null]);
    const signal = AbortSignal.abort();
    await expect(sql.lake.catalog.commitRows(sql.database.take(), { base, signal })).rejects.toMatchObject({
      code: "interrupted",
    });
  });
});

describe("a snapshot", () => {
  it("is refused without its changes", async () => {
    const { sql } = await withTable();
    sql.database.insert("ducklake_snapshot", [sql.snapshot, 0n, null, null, null]);
    const error = await refusal(sql.send());
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain("ducklake_snapshot_changes");
    await sql.verify();
  });

  it("is refused when it leaves a gap, and overtaken when it is not above the head", async () => {
    const { sql } = await withTable();
    const insert = (id: bigint): void => {
      sql.database.insert("ducklake_snapshot", [id, 1n, 1n, 9n, 9n]);
      sql.database.insert("ducklake_snapshot_changes", [id, null, null, null, null]);
    };
    insert(sql.snapshot + 1n);
    expect(await refusal(sql.send())).toBeInstanceOf(ConstraintError);
    insert(sql.snapshot - 1n);
    expect(await refusal(sql.send())).toBeInstanceOf(CommitConflictError);
  });

  it("is refused with a schema version that is not its own", async () => {
    const { sql, table } = await withTable();
    sql.database.insert("ducklake_schema_versions", [sql.snapshot, sql.schemaVersion + 3n, table]);
    const error = await refusal(sql.commit({ made: `altered_table:${table}` }));
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain("ducklake_schema_versions");
  });

  it("cannot be expired at the head, and can be before it", async () => {
    const { sql } = await withTable();
    const expire = (id: bigint): void => {
      for (const name of ["ducklake_snapshot", "ducklake_snapshot_changes"])
        sql.database.delete(name, (row) => row["snapshot_id"] === id);
    };
    expire(1n);
    const error = await refusal(sql.send());
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain("head");
    expire(0n);
    await sql.send();
    await sql.verify();
  });
});

describe("a commit without a snapshot", () => {
  it.each([
    "ducklake_table",
    "ducklake_schema",
    "ducklake_data_file",
    "ducklake_column_mapping",
    "ducklake_file_column_stats",
  ])("is refused with new rows of %s", async (name) => {
    const { sql, table } = await withTable();
    const uuid = "5eed0000-0000-4000-8000-000000000099";
    const rows: Readonly<Record<string, readonly unknown[]>> = {
      ducklake_table: [90n, uuid, 1n, null, 0n, "u", "u/", true],
      ducklake_schema: [91n, uuid, 1n, null, "s", "s/", true],
      ducklake_data_file: [92n, table, 1n, null, null, "p", true, "parquet", 1n, 9n, 9n, 0n],
      ducklake_column_mapping: [93n, table, "map_by_name"],
      ducklake_file_column_stats: [94n, table, 1n, 1n, 1n, 0n],
    };
    sql.database.insert(name, rows[name]!);
    const error = await refusal(sql.send());
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain(name);
    await sql.verify();
  });

  it("is refused with new inlined rows and with ends of them", async () => {
    const { sql, table } = await withTable();
    sql.insertInlined(table, [[1n, "x"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.insertInlined(table, [[2n, "x"]]);
    expect(await refusal(sql.send())).toBeInstanceOf(ConstraintError);
    sql.deleteInlined(table, [0n]);
    expect(await refusal(sql.send())).toBeInstanceOf(ConstraintError);
    await sql.verify();
  });
});

describe("rows that contradict the store", () => {
  it("are refused as corruption", async () => {
    const { sql, table } = await withTable();
    const { catalog } = sql.lake;
    await sql.createIndex(table, ["a"]);
    sql.insertInlined(table, [[1n, "x"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    const name = sql.inlinedTable(table);
    const columns = ["row_id", "begin_snapshot", "end_snapshot"].map((column) => ({ name: column, type: "BIGINT" }));
    const row = (rowId: bigint, end: bigint | null): unknown[] => [rowId, 3n, end, 1n, "x"];
    const missing = tableChanges(name, [...columns, ...sql.columnsOf(table)], { deleted: [row(7n, null)] });
    const base = catalog.revision;
    expect(await refusal(catalog.commitRows({ ddl: [], tables: [missing] }, { base }))).toBeInstanceOf(CorruptionError);
    expect(catalog.revision).toBe(base);
  });

  it("are refused when they end or delete what is not there", async () => {
    const { sql, table } = await withTable();
    sql.database.insert("ducklake_view", [
      77n,
      "5eed0000-0000-4000-8000-000000000098",
      1n,
      null,
      0n,
      "v",
      "duckdb",
      "SELECT 1",
      null,
    ]);
    sql.database.take();
    sql.end("ducklake_view", () => true);
    expect(await refusal(sql.commit({ made: "dropped_view:77" }))).toBeInstanceOf(CorruptionError);
    sql.database.update("ducklake_view", () => true, { end_snapshot: 1n, begin_snapshot: 0n });
    sql.database.take();
    sql.database.delete("ducklake_view", () => true);
    expect(await refusal(sql.send())).toBeInstanceOf(CorruptionError);
    expect(table).toBeGreaterThan(0n);
  });

  it("are refused when they have other columns", async () => {
    const { sql, table } = await withTable();
    const { catalog } = sql.lake;
    const base = catalog.revision;
    const commit = async (name: string, columns: { name: string; type: string }[], row: unknown[]): Promise<unknown> =>
      await catalog.commitRows({ ddl: [], tables: [tableChanges(name, columns, { inserted: [row] })] }, { base });
    const key = { name: "key", type: "VARCHAR" };
    expect(await refusal(commit("ducklake_metadata", [key], ["k"]))).toBeInstanceOf(InvalidArgumentError);
    expect(await refusal(commit("elsewhere", [key], ["k"]))).toBeInstanceOf(ConstraintError);
    sql.insertInlined(table, [[1n, "x"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    const name = sql.inlinedTable(table);
    const error = catalog.commitRows(
      { ddl: [], tables: [tableChanges(name, [key], { inserted: [["k"]] })] },
      { base: catalog.revision },
    );
    expect(await refusal(error)).toBeInstanceOf(InvalidArgumentError);
    const wrong = {
      schema: "main",
      name: "ducklake_metadata",
      columns: ["key", "value", "scope", "scope_id"],
      deleted: [],
      before: [],
      after: [],
    };
    const batch = batchOf(["VARCHAR", "BIGINT", "VARCHAR", "BIGINT"], [["k", 1n, null, null]]);
    expect(
      await refusal(
        catalog.commitRows({ ddl: [], tables: [{ ...wrong, inserted: [batch] }] }, { base: catalog.revision }),
      ),
    ).toBeInstanceOf(InvalidArgumentError);
  });
});

describe("statements", () => {
  it.each([
    ["create_table", "my_own"],
    ["create_schema", "other"],
    ["drop_table", "ducklake_table"],
    ["other", "an_index"],
  ] as const)("are refused: %s of %s", async (kind, name) => {
    const { sql } = await withTable();
    const base = sql.lake.catalog.revision;
    const changes = { ddl: [ddl(kind, name, [])], tables: [] };
    const error = await refusal(sql.lake.catalog.commitRows(changes, { base }));
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain(name);
  });

  it("are refused where an inlined table is not registered with them", async () => {
    const { sql, table } = await withTable();
    sql.database.createInlined(table, 1n, sql.columnsOf(table));
    sql.database.delete("ducklake_inlined_data_tables", () => true);
    expect(await refusal(sql.send())).toBeInstanceOf(ConstraintError);
  });
});

describe("indexed columns", () => {
  it.each([
    ["dropped", null],
    ["given another type", "int32"],
  ])("cannot be %s", async (what, type) => {
    const { sql, table } = await withTable();
    await sql.createIndex(table, ["a"], { name: "by_a" });
    sql.end("ducklake_column", (row) => row["column_id"] === 1n);
    if (type !== null) sql.insertColumn(table, 1n, "a", type);
    sql.raiseSchemaVersion();
    const error = await refusal(sql.commit({ made: `altered_table:${table}`, schemaChanged: [table] }));
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain('"a"');
    expect(error.message).toContain('"by_a"');
    expect(error.message).toContain(what);
    await sql.verify();
  });

  it("can be renamed, and keep their entries", async () => {
    const { sql, table } = await withTable();
    const index = await sql.createIndex(table, ["a"], { unique: true });
    sql.insertInlined(table, [[1n, "x"]]);
    await sql.commit({ made: `inlined_insert:${table}` });
    sql.end("ducklake_column", (row) => row["column_id"] === 1n);
    sql.insertColumn(table, 1n, "renamed", "int64");
    sql.database.createInlined(table, sql.raiseSchemaVersion(), sql.columnsOf(table));
    await sql.commit({ made: `altered_table:${table}`, schemaChanged: [table] });
    await sql.verify();
    sql.insertInlined(table, [[1n, "y"]]);
    expect(await refusal(sql.commit({ made: `inlined_insert:${table}` }))).toBeInstanceOf(ConstraintError);
    sql.deleteInlined(table, [0n]);
    sql.insertInlined(table, [[5n, "y"]]);
    await sql.commit({ made: `inlined_insert:${table},inlined_delete:${table}` });
    await sql.verify();
    expect(await sql.lake.lookup(index, 5n)).toEqual([1n]);
  });

  it("need access to the files that hold them", async () => {
    const { sql, table } = await withTable({ dataPath: null });
    await sql.createIndex(table, ["a"]);
    const id = sql.nextFileId();
    sql.database.insert("ducklake_data_file", [
      id,
      table,
      sql.snapshot,
      null,
      null,
      "f.parquet",
      true,
      "parquet",
      3n,
      400n,
      90n,
      0n,
    ]);
    const error = await refusal(sql.commit({ made: `inserted_into_table:${table}` }));
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error.message).toContain(`data file ${id}`);
    await sql.verify();
  });

  it("fail the commit where their file cannot be read", async () => {
    const { sql, table } = await withTable();
    await sql.createIndex(table, ["a"]);
    const id = sql.nextFileId();
    sql.database.insert("ducklake_data_file", [
      id,
      table,
      sql.snapshot,
      null,
      null,
      "lost.parquet",
      true,
      "parquet",
      3n,
      400n,
      90n,
      0n,
    ]);
    const error = await refusal(sql.commit({ made: `inserted_into_table:${table}` }));
    expect(error.code).toBe("not_found");
    expect(error.message).toContain("lost.parquet");
    await sql.verify();
  });
});
