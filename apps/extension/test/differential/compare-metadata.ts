import { type LakePair, ours, stock } from "./lake-pair.js";

const ducklakeTables =
  "metadata snapshot snapshot_changes schema schema_versions table view tag column_tag column column_mapping name_mapping macro macro_impl " +
  "macro_parameters sort_info sort_expression partition_info partition_column data_file delete_file file_column_stats file_variant_stats file_partition_value files_scheduled_for_deletion inlined_data_tables table_stats table_column_stats";
/** Columns that hold a snapshot, by the names that DuckLake uses everywhere. */
const snapshotColumns = new Set(["snapshot_id", "begin_snapshot", "end_snapshot", "partial_max"]);
/** Columns that hold an id which index definitions share the counter of. */
const catalogColumns = new Set([
  "table_id",
  "schema_id",
  "view_id",
  "object_id",
  "partition_id",
  "sort_id",
  "macro_id",
]);
/** Columns that hold the id of a data file. */
const fileColumns = new Set(["data_file_id", "file_id"]);
/** What differs by nature: random names and what is ordered by them, clocks, counters, sizes of files that hold ids or names. */
const ignored = new Set([
  "delete_file_id",
  "snapshot_time",
  "schedule_start",
  "schema_uuid",
  "table_uuid",
  "view_uuid",
  "next_catalog_id",
  "path",
  "file_size_bytes",
  "footer_size",
  "column_size_bytes",
  "schema_version",
]);

/** Numbers by their order: what was the third of them is 3. Ids of one lake then compare with those of another one. */
class Ranks {
  readonly #rank = new Map<string, number>();

  constructor(numbers: readonly string[]) {
    const sorted = [...new Set(numbers)].filter((number) => number !== "NULL").sort((a, b) => Number(a) - Number(b));
    for (const [at, number] of sorted.entries()) this.#rank.set(number, at);
  }

  has(text: string): boolean {
    return this.#rank.has(text);
  }

  of(text: string): string {
    return text === "NULL" ? text : `#${this.#rank.get(text) ?? `?${text}`}`;
  }
}

/**
 * What the metadata tables of a lake hold, table by table, in a form that does not depend on ids and times: rows as text, in
 * order. `extraSnapshots` are left out, with everything that tells of them alone.
 */
export async function readMetadata(
  pair: LakePair,
  lake: string,
  extraSnapshots: readonly number[],
): Promise<Map<string, string[]>> {
  const extra = new Set(extraSnapshots.map(String));
  const read = withoutUnseen(await readTables(pair, `__ducklake_metadata_${lake}`), extra);
  const valuesOf = (named: ReadonlySet<string>): string[] =>
    read.flatMap(({ columns, rows }) =>
      [...columns.keys()]
        .filter((at) => named.has(columns[at] ?? ""))
        .flatMap((at) => rows.map((row) => row[at] ?? "")),
    );
  const snapshots = new Ranks(valuesOf(snapshotColumns).filter((snapshot) => !extra.has(snapshot)));
  const ids = new Ranks(valuesOf(catalogColumns));
  const shownCell = (column: string, cell: string): string => {
    if (snapshotColumns.has(column)) return snapshots.of(cell);
    if (catalogColumns.has(column)) return ids.of(cell);
    // Definitions name the lake.
    if (column === "sql") return cell.replaceAll(new RegExp(`\\b${lake}\\b`, "gu"), "{lake}");
    if (column === "changes_made")
      return cell.replaceAll(/:(\d+)/gu, (_, id: string) => `:${ids.has(id) ? ids.of(id) : "gone"}`);
    // Tables of inlined rows carry ids and versions in their names.
    return column === "table_name" ? withoutIds(cell, ids) : cell;
  };
  const files = fileRanks(read, shownCell);
  const tables = new Map<string, string[]>();
  for (const { name, columns, rows } of read) {
    const shown = [...columns.keys()].filter((at) => isCompared(name, columns[at] ?? ""));
    const texts = rows.map((row) =>
      shown
        .map((at) => [columns[at] ?? "", row[at] ?? ""] as const)
        .map(([column, cell]) => (fileColumns.has(column) ? (files.get(cell) ?? "gone") : shownCell(column, cell)))
        .join("|"),
    );
    const key = withoutIds(name, ids);
    tables.set(key, [...(tables.get(key) ?? []), ...texts].sort());
  }
  return tables;
}

/**
 * What is never to be seen moraine does not keep: what a transaction makes and ends, rows that it inserts into a table which it drops,
 * and what is said of files that are no more. What tells of `extra` snapshots alone goes as well.
 */
function withoutUnseen(read: readonly ReadTable[], extra: ReadonlySet<string>): ReadTable[] {
  const dataFiles = read.find(({ name }) => name === "ducklake_data_file");
  const [fileId, fileBegin, fileEnd] = ["data_file_id", "begin_snapshot", "end_snapshot"].map(
    (column) => dataFiles?.columns.indexOf(column) ?? -1,
  ) as [number, number, number];
  const seen = dataFiles?.rows.filter((row) => row[fileBegin] !== row[fileEnd]);
  const files = new Set(seen?.map((row) => row[fileId]));
  return read.map(({ name, columns, rows }) => {
    const begin = columns.findIndex((column) => column === "begin_snapshot" || column === "snapshot_id");
    const ended = columns.indexOf("end_snapshot");
    const isOfFiles = /^ducklake_(inlined_delete_|file_column_stats$|file_partition_value$)/u.test(name);
    const file = isOfFiles ? columns.findIndex((column) => fileColumns.has(column)) : -1;
    const end = endOfInlined(read, name);
    const kept = rows.filter(
      (row) =>
        !(extra.has(row[begin] ?? "") && /snapshot|schema_versions/u.test(name)) &&
        !(Number(row[begin]) >= end) &&
        (ended < 0 || row[begin] !== row[ended]) &&
        (file < 0 || files.has(row[file] ?? "")),
    );
    // Rows that end with their table end no sooner to anybody.
    const shown = kept.map((row) => (ended >= 0 && Number(row[ended]) >= end ? row.with(ended, "NULL") : row));
    return { name, columns, rows: shown };
  });
}

/**
 * What stands for the ids of data files: their rank by what the metadata tell of them. DuckLake merges and rewrites the partitions of a
 * table in the order of hashes, in which the schema's version takes part.
 */
function fileRanks(
  read: readonly ReadTable[],
  shownCell: (column: string, cell: string) => string,
): ReadonlyMap<string, string> {
  const told = new Map<string, string[]>();
  for (const { name, columns, rows } of read) {
    if (!["ducklake_data_file", "ducklake_file_column_stats", "ducklake_file_partition_value"].includes(name)) continue;
    const id = columns.indexOf("data_file_id");
    const shown = [...columns.keys()].filter((at) => at !== id && isCompared(name, columns[at] ?? ""));
    for (const row of rows) {
      const text = `${name}|${shown.map((at) => shownCell(columns[at] ?? "", row[at] ?? "")).join("|")}`;
      told.set(row[id] ?? "", [...(told.get(row[id] ?? "") ?? []), text]);
    }
  }
  const texts = new Map([...told].map(([id, rows]) => [id, rows.sort().join("\n")]));
  const sorted = [...new Set(texts.values())].toSorted();
  return new Map([...texts].map(([id, text]) => [id, `file ${sorted.indexOf(text)}`]));
}

/** The snapshot in which the table ended that a table of inlined rows belongs to; infinity for others. */
function endOfInlined(read: readonly ReadTable[], name: string): number {
  const tableId = /^ducklake_inlined_data_(\d+)_/u.exec(name)?.[1];
  const table = read.find((one) => one.name === "ducklake_table");
  if (tableId === undefined || table === undefined) return Number.POSITIVE_INFINITY;
  const [id, end] = [table.columns.indexOf("table_id"), table.columns.indexOf("end_snapshot")];
  const ends = table.rows.filter((row) => row[id] === tableId).map((row) => row[end] ?? "NULL");
  return ends.length === 0 || ends.includes("NULL") ? Number.POSITIVE_INFINITY : Math.max(...ends.map(Number));
}

function isCompared(table: string, column: string): boolean {
  return !ignored.has(column) && !(table === "ducklake_metadata" && column === "scope_id");
}

interface ReadTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

async function readTables(pair: LakePair, catalog: string): Promise<ReadTable[]> {
  const read: ReadTable[] = [];
  for (const name of await metadataTables(pair, catalog)) {
    const where = name === "ducklake_metadata" ? "WHERE key NOT IN ('created_by', 'data_path')" : "";
    const result = await pair.connection.runAndReadAll(`SELECT * FROM ${catalog}."${name}" ${where}`);
    const rows = result.getRows().map((row) => row.map((value) => (value === null ? "NULL" : String(value))));
    read.push({ name, columns: result.columnNames(), rows });
  }
  return read;
}

/** Tables of the metadata, which DuckDB itself does not list: their catalog is a hidden one. */
async function metadataTables(pair: LakePair, catalog: string): Promise<string[]> {
  const inlined = await pair.rows(`SELECT table_name FROM ${catalog}.ducklake_inlined_data_tables`);
  const deletes: string[] = [];
  for (const id of await pair.rows(`SELECT DISTINCT table_id FROM ${catalog}.ducklake_table`)) {
    const name = `ducklake_inlined_delete_${id}`;
    if (await pair.has(`SELECT 1 FROM ${catalog}."${name}"`)) deletes.push(name);
  }
  return [...ducklakeTables.split(" ").map((name) => `ducklake_${name}`), ...inlined, ...deletes];
}

function withoutIds(name: string, ids: Ranks): string {
  return name
    .replace(/^(ducklake_inlined_data_)(\d+)_\d+$/u, (_, prefix: string, id: string) => `${prefix}${ids.of(id)}`)
    .replace(/^(ducklake_inlined_delete_)(\d+)$/u, (_, prefix: string, id: string) => `${prefix}${ids.of(id)}`);
}

/** Where the metadata of the two lakes differ: one text for each table. */
export async function metadataDifferences(pair: LakePair, indexSnapshots: readonly number[]): Promise<string[]> {
  const [left, right] = [await readMetadata(pair, ours, indexSnapshots), await readMetadata(pair, stock, [])];
  return differencesOf(left, right);
}

export function differencesOf(left: ReadonlyMap<string, string[]>, right: ReadonlyMap<string, string[]>): string[] {
  const differences: string[] = [];
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(name) ?? [], right.get(name) ?? []];
    if (a.join("\n") === b.join("\n")) continue;
    const only = (rows: string[], others: string[]): string =>
      rows.filter((row) => !others.includes(row)).join("\n    ");
    differences.push(`${name}\n  only left:\n    ${only(a, b)}\n  only right:\n    ${only(b, a)}`);
  }
  return differences;
}
