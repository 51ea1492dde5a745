import type { DataFileId, IndexId, TableId } from "@moraine/codec";
import { expect } from "vitest";
import { loadState } from "../../src/engine/load-state.js";
import { CatalogSnapshot } from "../../src/model/view.js";
import type { CreateIndexArguments, PlainRow } from "../../src/index.js";
import { type IndexOptions, Lake, type LakeOptions } from "./lake.js";
import { MetadataDatabase, type NamedRow } from "./metadata-database.js";
import type { PlainColumns, PlainValue } from "./row-batches.js";
import { servedRows } from "./served-rows.js";

/** DuckLake's names of the types that the tests use, with DuckDB's. */
const duckDbTypes: Readonly<Record<string, string>> = {
  int64: "BIGINT",
  int32: "INTEGER",
  varchar: "VARCHAR",
  boolean: "BOOLEAN",
};

export interface SqlFile {
  readonly id: bigint;
  readonly path: string;
}

/** What a transaction says in its `ducklake_snapshot_changes` and `ducklake_schema_versions`. */
export interface CommitText {
  /** `null`: nothing. */
  readonly made: string | null;
  /** Tables that get a new schema version. */
  readonly schemaChanged?: readonly bigint[];
}

let uuids = 0;

/**
 * A lake that is written as DuckLake writes it: every method does to the metadata tables what DuckLake does, and `commit` sends the
 * transaction. Methods may be combined in one transaction as far as DuckLake combines them.
 */
export class SqlLake {
  readonly lake: Lake;
  readonly database = new MetadataDatabase();
  /** The head of the last commit, moved on by the transaction. */
  #snapshot = 0n;
  #schemaVersion = 0n;
  #nextCatalogId = 1n;
  #nextFileId = 0n;

  private constructor(lake: Lake) {
    this.lake = lake;
  }

  static async open(options: LakeOptions = {}): Promise<SqlLake> {
    const sql = new SqlLake(await Lake.open(options));
    await sql.load();
    return sql;
  }

  /** Fills the metadata tables with what the store stands for, as a client does that attaches the lake. */
  async load(): Promise<void> {
    for (const name of this.database.names()) this.database.delete(name, () => true);
    this.database.take();
    const served = await servedRows(this.lake.store.inner);
    const registrations = served.get("ducklake_inlined_data_tables") ?? [];
    served.delete("ducklake_inlined_data_tables");
    for (const [name, rows] of served) {
      if (!this.database.has(name)) {
        // Made by the embedding API, with the columns that the table has now.
        const [table = 0n, version = 0n] = name.split("_").slice(-2).map(BigInt);
        this.database.createInlined(table, version, this.columnsOf(table));
      }
      this.database.insert(name, ...rows);
    }
    this.database.delete("ducklake_inlined_data_tables", () => true);
    this.database.insert("ducklake_inlined_data_tables", ...registrations);
    this.database.take();
    const heads = this.database
      .rows("ducklake_snapshot")
      .sort((a, b) => Number((a["snapshot_id"] as bigint) - (b["snapshot_id"] as bigint)));
    const head = heads.at(-1)!;
    this.#snapshot = head["snapshot_id"] as bigint;
    this.#schemaVersion = head["schema_version"] as bigint;
    this.#nextCatalogId = head["next_catalog_id"] as bigint;
    this.#nextFileId = head["next_file_id"] as bigint;
  }

  /** The snapshot that the transaction makes. */
  get snapshot(): bigint {
    return this.#snapshot + 1n;
  }

  get schemaVersion(): bigint {
    return this.#schemaVersion;
  }

  nextCatalogId(): bigint {
    return this.#nextCatalogId++;
  }

  nextFileId(): bigint {
    return this.#nextFileId++;
  }

  /** Raises the schema version of the transaction, for what makes inlined tables. */
  raiseSchemaVersion(): bigint {
    return (this.#schemaVersion += 1n);
  }

  /** Ends the transaction with a snapshot. */
  async commit({ made, schemaChanged = [] }: CommitText): Promise<bigint> {
    const snapshot = this.snapshot;
    this.database.insert("ducklake_snapshot", [
      snapshot,
      1_600_000_000_000_000n + snapshot,
      this.#schemaVersion,
      this.#nextCatalogId,
      this.#nextFileId,
    ]);
    this.database.insert("ducklake_snapshot_changes", [snapshot, made, "ann", null, null]);
    for (const table of schemaChanged)
      this.database.insert("ducklake_schema_versions", [snapshot, this.#schemaVersion, table]);
    await this.send();
    this.#snapshot = snapshot;
    this.lake.remembered.set(snapshot, await this.lake.catalog.snapshot());
    return snapshot;
  }

  /** Ends the transaction as it is. A refused one is rolled back. */
  async send(base = this.lake.catalog.revision): Promise<void> {
    const head = { schema: this.#schemaVersion, catalog: this.#nextCatalogId, file: this.#nextFileId };
    const changes = this.database.changes();
    try {
      await this.lake.catalog.commitRows(changes, { base });
      this.database.take();
    } catch (error) {
      this.database.rollback();
      const last = this.database.rows("ducklake_snapshot").find((row) => row["snapshot_id"] === this.#snapshot);
      this.#schemaVersion = (last?.["schema_version"] as bigint | undefined) ?? head.schema;
      this.#nextCatalogId = (last?.["next_catalog_id"] as bigint | undefined) ?? head.catalog;
      throw error;
    }
  }

  /** The store stands for exactly the rows of the metadata tables, and every index holds the entries of its table's live rows. */
  async verify(): Promise<void> {
    const served = await servedRows(this.lake.store.inner);
    const actual: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const name of new Set([...served.keys(), ...this.database.names()])) {
      if (served.has(name)) actual[name] = sorted(served.get(name)!);
      const rows = this.database.has(name) ? this.database.rows(name).map((row) => Object.values(row)) : [];
      if (rows.length > 0) expected[name] = sorted(rows);
    }
    expect(actual).toEqual(expected);
    const tables = this.live("ducklake_table").map((row) => row["table_id"] as TableId);
    for (const table of tables) await this.lake.expectVerified(table);
  }

  /** What the catalog holds in memory is what a fresh reader loads. */
  async verifyState(): Promise<void> {
    const { inner } = this.lake.store;
    const loaded = await loadState(inner);
    const { catalog } = this.lake;
    expect(catalog.revision).toBe(loaded.batchSeq);
    const snapshot = await catalog.snapshot();
    const fresh = new CatalogSnapshot(loaded);
    expect(snapshot.currentSnapshot).toEqual(fresh.currentSnapshot);
    for (const { id } of fresh.schemas()) {
      expect(snapshot.tablesIn(id)).toEqual(fresh.tablesIn(id));
      for (const table of fresh.tablesIn(id)) {
        expect(snapshot.columnsOf(table.id)).toEqual(fresh.columnsOf(table.id));
        expect(snapshot.dataFilesOf(table.id)).toEqual(fresh.dataFilesOf(table.id));
        expect(snapshot.deleteFilesOf(table.id)).toEqual(fresh.deleteFilesOf(table.id));
        expect(snapshot.indexesOf(table.id)).toEqual(fresh.indexesOf(table.id));
      }
    }
    expect(snapshot.scheduledDeletions()).toEqual(fresh.scheduledDeletions());
  }

  /** A table in `main`, with an inlined table for its rows. */
  createTable(name: string, columns: Readonly<Record<string, string>>): bigint {
    const table = this.nextCatalogId();
    uuids += 1;
    const uuid = `5eed0000-0000-4000-8000-${String(uuids).padStart(12, "0")}`;
    this.database.insert("ducklake_table", [table, uuid, this.snapshot, null, 0n, name, `${name}/`, true]);
    Object.entries(columns).forEach(([column, type], at) => this.insertColumn(table, BigInt(at) + 1n, column, type));
    return table;
  }

  insertColumn(table: bigint, id: bigint, name: string, type: string, initialDefault: string | null = null): void {
    this.database.insert("ducklake_column", [
      id,
      this.snapshot,
      null,
      table,
      id,
      name,
      type,
      initialDefault,
      "NULL",
      true,
      null,
      "literal",
      "duckdb",
    ]);
  }

  /** The table's live columns with DuckDB's types, in order. */
  columnsOf(table: bigint): PlainColumns {
    return this.live("ducklake_column", (row) => row["table_id"] === table)
      .sort((a, b) => Number((a["column_order"] as bigint) - (b["column_order"] as bigint)))
      .map((row) => ({ name: row["column_name"] as string, type: duckDbTypes[row["column_type"] as string]! }));
  }

  live(name: string, where: (row: NamedRow) => boolean = () => true): NamedRow[] {
    return this.database.rows(name).filter((row) => row["end_snapshot"] === null && where(row));
  }

  /** Ends live rows of a table with this transaction. */
  end(name: string, where: (row: NamedRow) => boolean): number {
    return this.database.update(name, (row) => row["end_snapshot"] === null && where(row), {
      end_snapshot: this.snapshot,
    });
  }

  dropTable(table: bigint): void {
    const isOf = (row: NamedRow): boolean => row["table_id"] === table;
    for (const name of ["table", "partition_info", "column", "column_tag", "data_file", "delete_file", "sort_info"])
      this.end(`ducklake_${name}`, isOf);
    this.end("ducklake_tag", (row) => row["object_id"] === table);
  }

  /** The inlined table of the table's newest schema version, made where there is none. */
  inlinedTable(table: bigint): string {
    const known = this.database
      .rows("ducklake_inlined_data_tables")
      .filter((row) => row["table_id"] === table)
      .sort((a, b) => Number((a["schema_version"] as bigint) - (b["schema_version"] as bigint)))
      .at(-1);
    if (known !== undefined) return known["table_name"] as string;
    return this.database.createInlined(table, this.raiseSchemaVersion(), this.columnsOf(table));
  }

  /** Inlines rows, with ids of their own for an UPDATE. Gives the row ids. */
  insertInlined(table: bigint, rows: readonly (readonly PlainValue[])[], rowIds?: readonly bigint[]): bigint[] {
    const ids = rowIds ?? this.takeRowIds(table, rows.length);
    this.database.insert(this.inlinedTable(table), ...rows.map((row, at) => [ids[at], this.snapshot, null, ...row]));
    return [...ids];
  }

  takeRowIds(table: bigint, count: number, bytes = 0n): bigint[] {
    const [stats] = this.database.rows("ducklake_table_stats").filter((row) => row["table_id"] === table);
    const first = (stats?.["next_row_id"] as bigint | undefined) ?? 0n;
    const rows = ((stats?.["record_count"] as bigint | undefined) ?? 0n) + BigInt(count);
    const size = ((stats?.["file_size_bytes"] as bigint | undefined) ?? 0n) + bytes;
    const next = first + BigInt(count);
    if (stats === undefined) this.database.insert("ducklake_table_stats", [table, rows, next, size]);
    else {
      this.database.update("ducklake_table_stats", (row) => row["table_id"] === table, {
        record_count: rows,
        next_row_id: next,
        file_size_bytes: size,
      });
    }
    return Array.from({ length: count }, (_, at) => first + BigInt(at));
  }

  inlinedNames(table: bigint): string[] {
    return this.database.names().filter((name) => name.startsWith(`ducklake_inlined_data_${table}_`));
  }

  /** Ends live inlined rows. */
  deleteInlined(table: bigint, rowIds: readonly bigint[]): void {
    for (const name of this.inlinedNames(table))
      this.end(name, (row) => rowIds.includes(row["row_id"] as bigint) && row["begin_snapshot"] !== this.snapshot);
  }

  /** Writes and registers a data file. `rowIds`: ids that it embeds, for rows that were there before. */
  async insertFile(
    table: bigint,
    rows: readonly PlainRow[],
    rowIds?: readonly bigint[],
    begin = this.snapshot,
    partialMax: bigint | null = null,
  ): Promise<SqlFile> {
    const file = await this.lake.writeFile(table as TableId, rows, rowIds === undefined ? {} : { rowIds });
    const id = this.nextFileId();
    const start =
      rowIds === undefined ? (this.takeRowIds(table, rows.length, BigInt(file.fileSizeBytes))[0] ?? null) : null;
    this.database.insert("ducklake_data_file", [
      id,
      table,
      begin,
      null,
      null,
      file.path,
      true,
      "parquet",
      BigInt(rows.length),
      BigInt(file.fileSizeBytes),
      BigInt(file.footerSize),
      start,
      null,
      null,
      null,
      partialMax,
    ]);
    for (const column of this.live("ducklake_column", (row) => row["table_id"] === table))
      this.database.insert("ducklake_file_column_stats", [
        id,
        table,
        column["column_id"],
        10n,
        null,
        null,
        null,
        null,
        null,
        null,
      ]);
    return { id, path: file.path };
  }

  /** Writes a delete file with all dead positions of a file in place of the one that it has. */
  async deleteInFile(
    table: bigint,
    file: SqlFile,
    positions: readonly number[],
    options: { readonly replace?: "end" | "delete" } = {},
  ): Promise<void> {
    const written = await this.lake.writeDeleteFile(table as TableId, file.id as DataFileId, positions, file.path);
    const isOfFile = (row: NamedRow): boolean => row["data_file_id"] === file.id;
    if (options.replace === "delete") {
      for (const row of this.database.delete(
        "ducklake_delete_file",
        (old) => old["end_snapshot"] === null && isOfFile(old),
      ))
        this.database.insert("ducklake_files_scheduled_for_deletion", [
          row["delete_file_id"],
          row["path"],
          true,
          1_600_000_000_000_000n,
        ]);
    } else this.end("ducklake_delete_file", isOfFile);
    this.database.insert("ducklake_delete_file", [
      this.nextFileId(),
      table,
      this.snapshot,
      null,
      file.id,
      written.path,
      true,
      "parquet",
      BigInt(positions.length),
      BigInt(written.fileSizeBytes),
      BigInt(written.footerSize),
      null,
      null,
    ]);
  }

  /** Deletes rows of a file without a delete file. */
  deleteInFileInlined(table: bigint, file: SqlFile, positions: readonly number[]): void {
    const name = this.database.createInlinedDeletes(table);
    this.database.insert(name, ...positions.map((position) => [file.id, BigInt(position), this.snapshot]));
  }

  async createIndex(table: bigint, columns: readonly string[], options: IndexOptions = {}): Promise<IndexId> {
    const args: CreateIndexArguments = {
      table: table as TableId,
      name: options.name ?? `${columns.join("_")}_${options.unique === true ? "u" : "m"}`,
      columns,
      unique: options.unique ?? false,
    };
    const index = await this.lake.commit((tx) => tx.createIndex({ ...args, backfill: "scoped-read" }));
    await this.load();
    return index;
  }
}

function sorted(rows: readonly (readonly PlainValue[])[]): string[] {
  return rows.map((row) => JSON.stringify(row.map((value) => (typeof value === "bigint" ? `${value}` : value)))).sort();
}
