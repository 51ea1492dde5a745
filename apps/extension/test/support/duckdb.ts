import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { extensionFile } from "../../src/duckdb/extension-file.js";
import { officialExtensionFile } from "../../src/duckdb/official-extension.js";
import { literal } from "../../src/duckdb/sql-text.js";
import { stopServices } from "../../../../packages/duckdb-ext/test/services.js";

/** A DuckDB for tests, with a folder of its own in which its services meet. */
export class TestDuckDb implements AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly instance: DuckDBInstance;
  readonly folder: string;

  constructor(instance: DuckDBInstance, connection: DuckDBConnection, folder: string) {
    this.instance = instance;
    this.connection = connection;
    this.folder = folder;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async run(sql: string): Promise<void> {
    await this.connection.run(sql);
  }

  /** Rows of a query, values as DuckDB writes them. */
  async rows(sql: string): Promise<string[][]> {
    const result = await this.connection.runAndReadAll(sql);
    return result.getRows().map((row) => row.map((value) => (value === null ? "NULL" : String(value))));
  }

  /** The first column of a query. */
  async column(sql: string): Promise<string[]> {
    return (await this.rows(sql)).map(([value]) => value ?? "");
  }

  /** The message with which a statement fails. */
  async failure(sql: string): Promise<string> {
    try {
      await this.connection.run(sql);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    throw new Error(`succeeded: ${sql}`);
  }

  /** Attaches a lake of this folder, on a store of that name. */
  async attach(name = "lake", store = "store", options: readonly string[] = []): Promise<void> {
    const all = [`DATA_PATH ${literal(`${this.path(`${store}-data`)}/`)}`, ...options].join(", ");
    await this.run(`ATTACH ${literal(`ducklake:moraine:${this.path(store)}`)} AS ${name} (${all})`);
  }

  /** A further connection to the same database. */
  async connect(): Promise<TestDuckDb> {
    return new TestDuckDb(this.instance, await this.instance.connect(), this.folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async close(): Promise<void> {
    this.connection.closeSync();
    this.instance.closeSync();
    await stopServices(this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Opens DuckDB in memory with DuckLake and moraine loaded. */
export async function openTestDuckDb(settings: Readonly<Record<string, string>> = {}): Promise<TestDuckDb> {
  const folder = mkdtempSync(join(tmpdir(), "moraine-duckdb-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  const instance = await DuckDBInstance.create(":memory:", { ...settings, allow_unsigned_extensions: "true" });
  const connection = await instance.connect();
  await connection.run(`LOAD ${literal(await officialExtensionFile("ducklake"))}`);
  await connection.run(`LOAD ${literal(extensionFile())}`);
  return new TestDuckDb(instance, connection, folder);
}

/** The same with a lake attached as `lake` and made current. */
export async function openTestLake(): Promise<TestDuckDb> {
  const db = await openTestDuckDb();
  await db.attach();
  await db.run("USE lake");
  return db;
}
