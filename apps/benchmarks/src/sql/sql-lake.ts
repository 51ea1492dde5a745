import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { extensionFile, identifier, literal, loadOfficialExtension, stopService } from "@moraine/extension";
import type { PostgresServer } from "./postgres.js";

/** What keeps the catalog of a lake: a moraine store, or one of DuckLake's own kinds. */
export type CatalogKind = "moraine" | "DuckDB file" | "Postgres";

/** DuckDB in memory with a lake attached and current. */
export class SqlLake implements AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly name = "lake";
  readonly #instance: DuckDBInstance;
  readonly #attach: string;
  /** The moraine store that the catalog lies in, if it does. */
  readonly #store: string | undefined;

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    attach: string,
    store: string | undefined,
  ) {
    this.#instance = instance;
    this.connection = connection;
    this.#attach = attach;
    this.#store = store;
  }

  /** Makes or opens the lake of that kind in a folder. */
  static async open(kind: CatalogKind, folder: string, postgres?: PostgresServer): Promise<SqlLake> {
    const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
    const connection = await instance.connect();
    await loadOfficialExtension(connection, "ducklake");
    if (kind === "Postgres") await loadOfficialExtension(connection, "postgres_scanner");
    if (kind === "moraine") await connection.run(`LOAD ${literal(extensionFile())}`);
    const store = join(folder, "store");
    const catalog = {
      moraine: `moraine:${store}`,
      "DuckDB file": join(folder, "catalog.db"),
      Postgres: `postgres:${postgres?.connectionString ?? ""}`,
    }[kind];
    const data = join(folder, "data");
    const attach = `ATTACH ${literal(`ducklake:${catalog}`)} AS lake (DATA_PATH ${literal(`${data}/`)})`;
    const lake = new SqlLake(instance, connection, attach, kind === "moraine" ? store : undefined);
    await lake.attach();
    return lake;
  }

  async attach(): Promise<void> {
    await this.connection.run(this.#attach);
    await this.connection.run(`USE ${identifier(this.name)}`);
  }

  async detach(): Promise<void> {
    await this.connection.run("USE memory");
    await this.connection.run(`DETACH ${identifier(this.name)}`);
  }

  async run(sql: string): Promise<void> {
    await this.connection.run(sql);
  }

  /** The single number that a query gives. */
  async number(sql: string): Promise<number> {
    const reader = await this.connection.runAndReadAll(sql);
    return Number(reader.getRows()[0]?.[0]);
  }

  /** Ends the service too: nothing of it may run beside the next figure, nor write in a folder that is being removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.closeSync();
    this.#instance.closeSync();
    if (this.#store !== undefined) await stopService(this.#store);
  }
}

/**
 * Registers so many data files of one table, with the statistics of its columns, by rows in DuckLake's metadata tables: nothing
 * reads the files, so none is written.
 */
export async function registerFiles(lake: SqlLake, table: string, files: number): Promise<void> {
  const meta = `__ducklake_metadata_${lake.name}`;
  const id = await lake.number(`SELECT table_id FROM ${meta}.ducklake_table WHERE table_name = ${literal(table)}`);
  const snapshot = await lake.number(`SELECT max(snapshot_id) FROM ${meta}.ducklake_snapshot`);
  const next = `(SELECT next_file_id FROM ${meta}.ducklake_snapshot WHERE snapshot_id = ${snapshot})`;
  await lake.run("BEGIN");
  await lake.run(
    `INSERT INTO ${meta}.ducklake_data_file SELECT ${next} + i, ${id}, ${snapshot + 1}, NULL, NULL, 'f' || i || '.parquet', true, ` +
      `'parquet', 1000, 10000, 400, i * 1000, NULL, NULL, NULL, NULL FROM range(${files}) r(i)`,
  );
  await lake.run(
    `INSERT INTO ${meta}.ducklake_file_column_stats SELECT ${next} + i, ${id}, c, 4000, 1000, 0, i * 1000, i * 1000 + 999, NULL, NULL ` +
      `FROM range(${files}) r(i), (SELECT column_id FROM ${meta}.ducklake_column WHERE table_id = ${id}) columns(c)`,
  );
  await lake.run(
    `UPDATE ${meta}.ducklake_table_stats SET record_count = ${files * 1000}, next_row_id = ${files * 1000} WHERE table_id = ${id}`,
  );
  await lake.run(
    `INSERT INTO ${meta}.ducklake_snapshot SELECT ${snapshot + 1}, now(), schema_version, next_catalog_id, next_file_id + ${files} ` +
      `FROM ${meta}.ducklake_snapshot WHERE snapshot_id = ${snapshot}`,
  );
  await lake.run(
    `INSERT INTO ${meta}.ducklake_snapshot_changes VALUES (${snapshot + 1}, 'inserted_into_table:${id}', NULL, NULL, NULL)`,
  );
  await lake.run("COMMIT");
}
