import { qualified } from "./lake-model.js";
import type { Random } from "./random.js";
import { predicate } from "./row-statements.js";
import { forTable, type Kinds, type Maker } from "./statement.js";

const upkeep =
  (sql: string): Maker =>
  () => ({ sql, how: "alike" });

/** Upkeep of one table. */
const tableUpkeep = forTable((random, { schema, name }) => ({
  sql: random.pick([
    `CALL ducklake_flush_inlined_data('{lake}', schema_name => '${schema}', table_name => '${name}')`,
    `CALL ducklake_merge_adjacent_files('{lake}', '${name}', schema => '${schema}', max_compacted_files => 2)`,
    `CALL ducklake_rewrite_data_files('{lake}', '${name}', schema => '${schema}', delete_threshold => 0.2)`,
  ]),
  how: "alike",
}));

const inlineLimit = forTable((random, { schema, name }, model) => {
  // DuckLake 1.5.5 takes views for tables where the limit is set for more than one, and crashes.
  const hasViews = model.objects.some(({ what }) => what === "VIEW");
  const scopedTo = hasViews ? tableScope(schema, name) : scope(random, schema, name);
  return { sql: setOption("data_inlining_row_limit", random.pick(["0", "3", "10", "30"]), scopedTo), how: "alike" };
});

const option = forTable((random, { schema, name }) => {
  const [key, value] = random.pick([
    ["parquet_compression", "'zstd'"],
    ["parquet_version", "2"],
    ["target_file_size", "'1MB'"],
    ["rewrite_delete_threshold", "0.1"],
    ["hive_file_pattern", "false"],
    ["sort_on_insert", "true"],
    ["sort_on_insert", "false"],
  ] as const);
  return { sql: setOption(key, value, scope(random, schema, name)), how: "alike" };
});

function setOption(key: string, value: string, scopedTo: string): string {
  return `CALL {lake}.set_option('${key}', ${value}${scopedTo})`;
}

/** Options hold for the lake, for a schema or for a table. */
function scope(random: Random, schema: string, table: string): string {
  return random.weighted([
    [3, ""],
    [1, `, schema => '${schema}'`],
    [1, tableScope(schema, table)],
  ]);
}

function tableScope(schema: string, table: string): string {
  return `, schema => '${schema}', table_name => '${table}'`;
}

const readTable = forTable((random, table) => {
  const where = random.chance(0.5) ? ` WHERE ${predicate(random, table)}` : "";
  return { sql: `SELECT rowid, * FROM ${qualified(table)}${where} ORDER BY ALL`, how: "query" };
});

const readEarlier = forTable((_, table) => ({
  sql: `SELECT rowid, * FROM ${qualified(table)} AT (VERSION => {version}) ORDER BY ALL`,
  how: "query",
}));

const readChanges = forTable((_, { schema, name }) => ({
  sql: `SELECT * EXCLUDE (snapshot_id) FROM ducklake_table_changes('{lake}', '${schema}', '${name}', {since}, {version}) ORDER BY ALL`,
  how: "query",
}));

export const upkeepKinds: Kinds = [
  [2, "flush of inlined rows", upkeep("CALL ducklake_flush_inlined_data('{lake}')")],
  [1.5, "merge of adjacent files", upkeep("CALL ducklake_merge_adjacent_files('{lake}')")],
  [1.5, "rewrite of files", upkeep("CALL ducklake_rewrite_data_files('{lake}', delete_threshold => 0)")],
  [0.8, "upkeep of a table", tableUpkeep],
  [0.6, "expiry of snapshots", upkeep("CALL ducklake_expire_snapshots('{lake}', older_than => now())")],
  [0.6, "cleanup of files", upkeep("CALL ducklake_cleanup_old_files('{lake}', cleanup_all => true)")],
  [0.3, "removal of orphans", upkeep("CALL ducklake_delete_orphaned_files('{lake}', cleanup_all => true)")],
  [0.3, "checkpoint", upkeep("CHECKPOINT {lake}")],
  [0.8, "limit of inlined rows", inlineLimit],
  [0.5, "option", option],
];

export const queryKinds: Kinds = [
  [3, "query", readTable],
  [1, "query of an earlier snapshot", readEarlier],
  [0.7, "query of changes", readChanges],
];
