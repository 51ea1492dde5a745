import { join } from "node:path";
import type { TableId } from "@moraine/codec";
import type { DataFileInfo, ReadOnlyCatalog } from "../interface.js";
import { type DuckDb, literal } from "./duckdb.js";

/** Column of a data file that keeps row ids which are not consecutive. */
const rowIdColumn = "_ducklake_internal_row_id";

/** How DuckDB sees one table: `columns` as it names and types them. */
export interface ScannedTable {
  readonly id: TableId;
  readonly name: string;
  readonly folder: string;
  readonly columns: Readonly<Record<string, string>>;
}

/**
 * Makes a view of a table's live rows with their row ids, as any engine without the indexes would read them: the rows of
 * every data file that no delete file names, and the inline rows. The view has the table's name.
 */
export async function defineLiveRows(duckDb: DuckDb, catalog: ReadOnlyCatalog, table: ScannedTable): Promise<void> {
  const snapshot = await catalog.snapshot();
  const deleteFiles = new Map(
    snapshot.deleteFilesOf(table.id).map((file) => [file.dataFileId, join(table.folder, file.path)]),
  );
  const parts: string[] = [];
  for (const file of snapshot.dataFilesOf(table.id))
    parts.push(await rowsOfFile(duckDb, table, file, deleteFiles.get(file.id)));
  await defineInlineRows(duckDb, catalog, table);
  parts.push(`SELECT row_id, ${Object.keys(table.columns).join(", ")} FROM ${table.name}_inline`);
  await duckDb.run(`CREATE OR REPLACE VIEW ${table.name} AS ${parts.join(" UNION ALL ")}`);
}

async function rowsOfFile(
  duckDb: DuckDb,
  table: ScannedTable,
  file: DataFileInfo,
  deleteFile: string | undefined,
): Promise<string> {
  const path = join(table.folder, file.path);
  const names = await duckDb.rows(`SELECT name FROM parquet_schema(${literal(path)})`);
  const embedsRowIds = names.some(({ name }) => name === rowIdColumn);
  const rowId = embedsRowIds ? rowIdColumn : `${file.rowIdStart ?? 0n} + file_row_number`;
  const dead =
    deleteFile === undefined
      ? ""
      : ` WHERE file_row_number NOT IN (SELECT pos FROM read_parquet(${literal(deleteFile)}))`;
  const columns = Object.keys(table.columns).join(", ");
  return `SELECT (${rowId})::BIGINT AS row_id, ${columns} FROM read_parquet(${literal(path)}, file_row_number = true)${dead}`;
}

async function defineInlineRows(duckDb: DuckDb, catalog: ReadOnlyCatalog, table: ScannedTable): Promise<void> {
  const columns = Object.entries(table.columns);
  const definitions = columns.map(([name, type]) => `${name} ${type}`);
  await duckDb.run(`CREATE OR REPLACE TABLE ${table.name}_inline (row_id BIGINT, ${definitions.join(", ")})`);
  const rows = await catalog.recentRows({ table: table.id });
  if (rows.length === 0) return;
  const tuples = rows.map(
    ({ rowId, values }) => `(${[rowId.toString(), ...columns.map(([name]) => sqlValue(values[name]))].join(", ")})`,
  );
  await duckDb.run(`INSERT INTO ${table.name}_inline VALUES ${tuples.join(", ")}`);
}

/** A value of an inline row as an SQL expression. */
function sqlValue(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "bigint") return value.toString();
  if (typeof value === "string") return literal(value);
  throw new TypeError(`an inline value of type ${typeof value}`);
}
