import type { NamedRow } from "../support/metadata-database.js";
import type { SqlLake } from "../support/sql-lake.js";

/** One random transaction: what it does, and two numbers that decide the rest. */
export interface Move {
  readonly kind: number;
  readonly a: number;
  readonly b: number;
}

const id = (row: NamedRow, name: string): bigint => row[name] as bigint;

function pick<T>(items: readonly T[], at: number): T | undefined {
  return items.length === 0 ? undefined : items[at % items.length];
}

/** A value that is not among the live ones, as the index on `a` takes none twice. */
let values = 0n;
const fresh = (): bigint => (values += 1n);

/** Carries a transaction out as DuckLake would. Gives false where there is nothing to do it to. */
type Transaction = (sql: SqlLake, a: number, b: number) => Promise<boolean>;

const tablesOf = (sql: SqlLake): bigint[] => sql.live("ducklake_table").map((row) => id(row, "table_id"));

/** Rows of all columns: the first one has a value of its own. */
function rowsFor(sql: SqlLake, table: bigint, count: number): unknown[][] {
  return Array.from({ length: count }, () => {
    const n = fresh();
    return sql.columnsOf(table).map(({ name, type }) => {
      if (name === "a") return n;
      if (n % 5n === 0n) return null;
      return type === "VARCHAR" ? `v${n % 3n}` : n % 4n;
    });
  });
}

function named(sql: SqlLake, table: bigint, rows: readonly (readonly unknown[])[]): Record<string, unknown>[] {
  const columns = sql.columnsOf(table);
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
}

interface LiveInlined {
  readonly table: bigint;
  readonly rowId: bigint;
}

function liveInlined(sql: SqlLake, table: bigint): LiveInlined[] {
  return sql.inlinedNames(table).flatMap((name) => sql.live(name).map((row) => ({ table, rowId: id(row, "row_id") })));
}

const onTable =
  (run: (sql: SqlLake, table: bigint, a: number, b: number) => Promise<boolean>): Transaction =>
  async (sql, a, b) => {
    const table = pick(tablesOf(sql), a);
    return table === undefined ? false : await run(sql, table, a >> 2, b);
  };

const createTable: Transaction = async (sql, a) => {
  if (tablesOf(sql).length >= 3) return false;
  const table = sql.createTable(`t${fresh()}`, { a: "int64", b: "varchar", c: "int32" });
  const version = sql.raiseSchemaVersion();
  if (a % 2 === 0) sql.database.createInlined(table, version, sql.columnsOf(table));
  await sql.commit({ made: `created_table:"main"."t"`, schemaChanged: [table] });
  if (a % 3 > 0) await sql.createIndex(table, ["a"], { unique: true, name: `u${table}` });
  if (a % 3 > 1) await sql.createIndex(table, ["b", "a"], { name: `m${table}` });
  return true;
};

const dropTable = onTable(async (sql, table, a) => {
  if (a % 3 > 0) return false;
  sql.dropTable(table);
  sql.raiseSchemaVersion();
  await sql.commit({ made: `dropped_table:${table}` });
  return true;
});

const insertInlined = onTable(async (sql, table, a) => {
  sql.insertInlined(table, rowsFor(sql, table, 1 + (a % 4)));
  await sql.commit({ made: `inlined_insert:${table}` });
  return true;
});

const deleteInlined = onTable(async (sql, table, a, b) => {
  const live = liveInlined(sql, table);
  const gone = live.filter((_, at) => (at + a) % (2 + (b % 3)) === 0).map(({ rowId }) => rowId);
  if (gone.length === 0) return false;
  sql.deleteInlined(table, gone);
  await sql.commit({ made: `inlined_delete:${table}` });
  return true;
});

const updateInlined = onTable(async (sql, table, a) => {
  const row = pick(liveInlined(sql, table), a);
  if (row === undefined) return false;
  sql.deleteInlined(table, [row.rowId]);
  sql.insertInlined(table, rowsFor(sql, table, 1), [row.rowId]);
  await sql.commit({ made: `inlined_insert:${table},inlined_delete:${table}` });
  return true;
});

const insertFile = onTable(async (sql, table, a) => {
  await sql.insertFile(table, named(sql, table, rowsFor(sql, table, 1 + (a % 5))));
  await sql.commit({ made: `inserted_into_table:${table}` });
  return true;
});

function filesOf(sql: SqlLake, table: bigint): NamedRow[] {
  return sql.live("ducklake_data_file", (row) => row["table_id"] === table);
}

const fileOf = (row: NamedRow): { id: bigint; path: string } => ({
  id: id(row, "data_file_id"),
  path: row["path"] as string,
});

const deleteInFile = onTable(async (sql, table, a, b) => {
  const row = pick(filesOf(sql, table), a);
  if (row === undefined) return false;
  const file = fileOf(row);
  const count = Number(id(row, "record_count"));
  const positions = Array.from({ length: count }, (_, at) => at).filter((at) => (at + b) % 2 === 0);
  if (positions.length === 0) return false;
  if (b % 3 === 0) {
    const name = sql.database.createInlinedDeletes(table);
    const known = new Set(
      sql.database
        .rows(name)
        .filter((dead) => dead["file_id"] === file.id)
        .map((dead) => dead["row_id"]),
    );
    sql.deleteInFileInlined(
      table,
      file,
      positions.filter((position) => !known.has(BigInt(position))),
    );
  } else
    await sql.deleteInFile(table, file, allDead(sql, table, file, positions), {
      replace: b % 2 === 0 ? "end" : "delete",
    });
  await sql.commit({ made: `deleted_from_table:${table}` });
  return true;
});

/** A delete file that takes the place of another one names its rows as well. Here no positions are kept, so such a file names all. */
function allDead(
  sql: SqlLake,
  table: bigint,
  file: { readonly id: bigint },
  positions: readonly number[],
): readonly number[] {
  const old = sql.live("ducklake_delete_file", (row) => row["data_file_id"] === file.id);
  if (old.length === 0) return positions;
  const [row] = sql.live("ducklake_data_file", (other) => other["data_file_id"] === file.id);
  return Array.from({ length: Number(id(row!, "record_count")) }, (_, at) => at);
}

const endFile = onTable(async (sql, table, a) => {
  const row = pick(filesOf(sql, table), a);
  if (row === undefined) return false;
  const isOfFile = (other: NamedRow): boolean => other["data_file_id"] === row["data_file_id"];
  sql.end("ducklake_data_file", isOfFile);
  sql.end("ducklake_delete_file", isOfFile);
  await sql.commit({ made: `deleted_from_table:${table}` });
  return true;
});

/** Writes the rows of the oldest inlined table to a file and drops the table where a newer one has taken its place. */
const flush = onTable(async (sql, table) => {
  const name = sql.inlinedNames(table).sort()[0];
  if (name === undefined) return false;
  const rows = sql.live(name);
  const columns = sql.columnsOf(table);
  const known = rows[0] === undefined ? [] : Object.keys(rows[0]).slice(3);
  if (rows.length > 0) {
    const content = rows.map((row) =>
      Object.fromEntries(columns.map((column) => [column.name, known.includes(column.name) ? row[column.name] : null])),
    );
    if (columns.some((column) => !known.includes(column.name))) return false;
    await sql.insertFile(
      table,
      content,
      rows.map((row) => id(row, "row_id")),
    );
  }
  sql.database.delete(name, () => true);
  await sql.commit({ made: `inline_flush:${table}` });
  if (sql.inlinedNames(table).length > 1) {
    sql.database.dropInlined(name);
    await sql.send();
  }
  return true;
});

const changeColumns = onTable(async (sql, table, a, b) => {
  const columns = sql.live("ducklake_column", (row) => row["table_id"] === table);
  const next =
    columns.reduce((most, row) => (id(row, "column_id") > most ? id(row, "column_id") : most), 0n) + 1n + BigInt(b % 2);
  const others = columns.filter((row) => !["a", "b"].includes(row["column_name"] as string));
  const target = pick(others, b);
  if (a % 3 === 0 || target === undefined)
    sql.insertColumn(table, next, `n${fresh()}`, "int64", a % 2 === 0 ? "7" : null);
  else {
    const isIt = (row: NamedRow): boolean => row["table_id"] === table && row["column_id"] === target["column_id"];
    sql.end("ducklake_column", isIt);
    if (a % 3 === 1)
      sql.insertColumn(
        table,
        id(target, "column_id"),
        `r${fresh()}`,
        target["column_type"] as string,
        target["initial_default"] as string | null,
      );
  }
  const version = sql.raiseSchemaVersion();
  if (b % 2 === 0) sql.database.createInlined(table, version, sql.columnsOf(table));
  // Without an inlined table for its new columns a table takes no inlined rows, which would lack them.
  else sql.database.createInlined(table, version, sql.columnsOf(table));
  await sql.commit({ made: `altered_table:${table}`, schemaChanged: [table] });
  return true;
});

const renameTable = onTable(async (sql, table) => {
  const [row] = sql.live("ducklake_table", (other) => other["table_id"] === table);
  sql.end("ducklake_table", (other) => other["table_id"] === table);
  sql.database.insert("ducklake_table", [
    table,
    row!["table_uuid"],
    sql.snapshot,
    null,
    0n,
    `t${fresh()}`,
    row!["path"],
    true,
  ]);
  const version = sql.raiseSchemaVersion();
  sql.database.createInlined(table, version, sql.columnsOf(table));
  await sql.commit({ made: `altered_table:${table}`, schemaChanged: [table] });
  return true;
});

const comment = onTable(async (sql, table, a, b) => {
  const value = b % 4 === 0 ? null : `text ${b}`;
  if (a % 2 === 0) {
    sql.end("ducklake_tag", (row) => row["object_id"] === table && row["key"] === "comment");
    sql.database.insert("ducklake_tag", [table, sql.snapshot, null, "comment", value]);
  } else {
    const column = pick(
      sql.live("ducklake_column", (row) => row["table_id"] === table),
      b,
    )!;
    const isIt = (row: NamedRow): boolean => row["table_id"] === table && row["column_id"] === column["column_id"];
    sql.end("ducklake_column_tag", (row) => isIt(row) && row["key"] === "comment");
    sql.database.insert("ducklake_column_tag", [table, column["column_id"], sql.snapshot, null, "comment", value]);
  }
  sql.raiseSchemaVersion();
  await sql.commit({ made: `altered_table:${table}`, schemaChanged: [table] });
  return true;
});

const layout = onTable(async (sql, table, a) => {
  const kind = a % 2 === 0 ? "partition" : "sort";
  const info = kind === "partition" ? "ducklake_partition_info" : "ducklake_sort_info";
  sql.end(info, (row) => row["table_id"] === table);
  if (a % 4 < 3) {
    const newId = sql.nextCatalogId();
    sql.database.insert(info, [newId, table, sql.snapshot, null]);
    if (kind === "partition")
      sql.database.insert(
        "ducklake_partition_column",
        [newId, table, 0n, 1n, "identity"],
        [newId, table, 1n, 2n, "bucket(4)"],
      );
    else sql.database.insert("ducklake_sort_expression", [newId, table, 0n, "a", "duckdb", "ASC", "NULLS_LAST"]);
  }
  await sql.commit({ made: `altered_table:${table}` });
  return true;
});

const views: Transaction = async (sql, a) => {
  const view = pick(sql.live("ducklake_view"), a);
  const uuid = "5eed0000-0000-4000-8000-0000000000aa";
  if (view === undefined || a % 3 === 0) {
    sql.database.insert("ducklake_view", [
      sql.nextCatalogId(),
      uuid,
      sql.snapshot,
      null,
      0n,
      `v${fresh()}`,
      "duckdb",
      "SELECT 1",
      null,
    ]);
  } else {
    sql.end("ducklake_view", (row) => row["view_id"] === view["view_id"]);
    if (a % 3 === 1)
      sql.database.insert("ducklake_view", [
        view["view_id"],
        uuid,
        sql.snapshot,
        null,
        0n,
        "w",
        "duckdb",
        "SELECT 2",
        "[x]",
      ]);
  }
  sql.raiseSchemaVersion();
  await sql.commit({ made: 'created_view:"main"."v"' });
  return true;
};

const macros: Transaction = async (sql, a) => {
  const macro = pick(sql.live("ducklake_macro"), a);
  if (macro !== undefined && a % 2 === 0) sql.end("ducklake_macro", (row) => row["macro_id"] === macro["macro_id"]);
  else {
    const macroId = sql.nextCatalogId();
    sql.database.insert("ducklake_macro", [0n, macroId, `m${macroId}`, sql.snapshot, null]);
    sql.database.insert(
      "ducklake_macro_impl",
      [macroId, 0n, "duckdb", "x", "scalar"],
      [macroId, 1n, "duckdb", "x + y", "scalar"],
    );
    sql.database.insert(
      "ducklake_macro_parameters",
      [macroId, 0n, 0n, "x", "unknown", "NULL", "unknown"],
      [macroId, 1n, 0n, "x", "unknown", null, "unknown"],
      [macroId, 1n, 1n, "y", "unknown", "7", "int32"],
    );
  }
  sql.raiseSchemaVersion();
  await sql.commit({ made: "dropped_scalar_macro:1" });
  return true;
};

const schemas: Transaction = async (sql, a) => {
  const schema = pick(
    sql.live("ducklake_schema", (row) => row["schema_id"] !== 0n),
    a,
  );
  if (schema !== undefined && a % 2 === 0)
    sql.end("ducklake_schema", (row) => row["schema_id"] === schema["schema_id"]);
  else
    sql.database.insert("ducklake_schema", [
      sql.nextCatalogId(),
      "5eed0000-0000-4000-8000-0000000000ab",
      sql.snapshot,
      null,
      `s${fresh()}`,
      "s/",
      true,
    ]);
  sql.raiseSchemaVersion();
  await sql.commit({ made: "dropped_schema:1" });
  return true;
};

const options: Transaction = async (sql, a, b) => {
  const table = pick(tablesOf(sql), a);
  const [scope, scopeId] = table === undefined || b % 2 === 0 ? [null, null] : ["table", table];
  const isIt = (row: NamedRow): boolean =>
    row["key"] === "target_file_size" && row["scope"] === scope && row["scope_id"] === scopeId;
  if (a % 5 === 0) sql.database.delete("ducklake_metadata", isIt);
  else if (sql.database.update("ducklake_metadata", isIt, { value: `${fresh()}` }) === 0)
    sql.database.insert("ducklake_metadata", ["target_file_size", "1", scope, scopeId]);
  await sql.send();
  return true;
};

const statistics = onTable(async (sql, table, a) => {
  const columnId = BigInt(1 + (a % 3));
  const isIt = (row: NamedRow): boolean => row["table_id"] === table && row["column_id"] === columnId;
  if (sql.database.update("ducklake_table_column_stats", isIt, { max_value: `${fresh()}` }) === 0)
    sql.database.insert("ducklake_table_column_stats", [table, columnId, false, null, "1", null, null]);
  await sql.commit({ made: `inserted_into_table:${table}` });
  return true;
});

/** `ducklake_expire_snapshots`, after DuckLake's `DeleteSnapshots`. */
const expire: Transaction = async (sql, a) => {
  const { database } = sql;
  const ids = database
    .rows("ducklake_snapshot")
    .map((row) => id(row, "snapshot_id"))
    .sort((x, y) => Number(x - y));
  const gone = ids.slice(0, -1).filter((_, at) => (at + a) % 2 === 0 || a % 3 === 0);
  if (gone.length === 0) return false;
  for (const name of ["ducklake_snapshot", "ducklake_snapshot_changes"])
    database.delete(name, (row) => gone.includes(id(row, "snapshot_id")));
  const left = ids.filter((snapshot) => !gone.includes(snapshot));
  const isOver = (row: NamedRow): boolean =>
    row["end_snapshot"] !== null && !left.some((at) => at >= id(row, "begin_snapshot") && at < id(row, "end_snapshot"));
  const versions = database.rows("ducklake_table");
  const tables = new Set(versions.filter(isOver).map((row) => id(row, "table_id")));
  for (const row of versions) if (!isOver(row)) tables.delete(id(row, "table_id"));
  const schedule = (row: NamedRow, name: string): void =>
    database.insert("ducklake_files_scheduled_for_deletion", [row[name], row["path"], true, 1_600_000_000_000_000n]);
  const files = database.delete("ducklake_data_file", (row) => tables.has(id(row, "table_id")) || isOver(row));
  const fileIds = new Set(files.map((row) => row["data_file_id"]));
  for (const name of ["ducklake_file_column_stats", "ducklake_file_variant_stats", "ducklake_file_partition_value"])
    database.delete(name, (row) => fileIds.has(row["data_file_id"]));
  for (const row of files) schedule(row, "data_file_id");
  const deletes = database.delete(
    "ducklake_delete_file",
    (row) => tables.has(id(row, "table_id")) || fileIds.has(row["data_file_id"]) || isOver(row),
  );
  for (const row of deletes) schedule(row, "delete_file_id");
  for (const table of tables) {
    for (const name of [...sql.inlinedNames(table), `ducklake_inlined_delete_${table}`]) database.dropInlined(name);
    for (const name of [
      "table",
      "table_stats",
      "table_column_stats",
      "partition_info",
      "partition_column",
      "column",
      "column_tag",
      "sort_info",
      "sort_expression",
      "schema_versions",
      "inlined_data_tables",
      "column_mapping",
    ])
      database.delete(`ducklake_${name}`, (row) => row["table_id"] === table);
  }
  for (const name of ["schema", "view", "tag", "macro"]) database.delete(`ducklake_${name}`, isOver);
  const macroIds = new Set(database.rows("ducklake_macro").map((row) => row["macro_id"]));
  for (const name of ["macro_impl", "macro_parameters"])
    database.delete(`ducklake_${name}`, (row) => !macroIds.has(row["macro_id"]));
  await sql.send();
  return true;
};

const cleanUp: Transaction = async (sql) => {
  if (sql.database.delete("ducklake_files_scheduled_for_deletion", () => true).length === 0) return false;
  await sql.send();
  return true;
};

const moves: readonly Transaction[] = [
  createTable,
  insertInlined,
  insertInlined,
  insertFile,
  deleteInlined,
  updateInlined,
  deleteInFile,
  flush,
  changeColumns,
  comment,
  insertInlined,
  insertFile,
  deleteInFile,
  flush,
  renameTable,
  layout,
  views,
  macros,
  schemas,
  options,
  statistics,
  endFile,
  expire,
  cleanUp,
  dropTable,
];

export async function play(sql: SqlLake, { kind, a, b }: Move): Promise<boolean> {
  const move = moves[kind % moves.length]!;
  return await move(sql, a, b);
}
