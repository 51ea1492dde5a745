import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";
import { loadExtensions } from "../extensions.js";
import { ScriptedService } from "./scripted-service.js";

/** A DuckDB of its own with the extension and an empty lake `lake`, whose service is a script. */
export class ScriptedLake {
  readonly folder: string;
  readonly service: ScriptedService;
  readonly connection: DuckDBConnection;
  readonly #instance: DuckDBInstance;

  private constructor(
    folder: string,
    service: ScriptedService,
    instance: DuckDBInstance,
    connection: DuckDBConnection,
  ) {
    this.folder = folder;
    this.service = service;
    this.connection = connection;
    this.#instance = instance;
  }

  static async open(): Promise<ScriptedLake> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "moraine-sql-")));
    const runtimeFolder = join(folder, "run");
    process.env["MORAINE_RUNTIME_DIR"] = runtimeFolder;
    const service = await ScriptedService.start(runtimeFolder, join(folder, "store"));
    const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
    const connection = await instance.connect();
    await connection.run(loadExtensions());
    await connection.run(`ATTACH 'ducklake:moraine:${folder}/store' AS lake (DATA_PATH '${folder}/data/')`);
    return new ScriptedLake(folder, service, instance, connection);
  }

  connect(): Promise<DuckDBConnection> {
    return this.#instance.connect();
  }

  async rows(sql: string, values?: DuckDBValue[]): Promise<unknown[][]> {
    return (await this.connection.runAndReadAll(sql, values)).getRows();
  }

  /** The first line of what a statement fails with. */
  async failure(sql: string): Promise<string> {
    try {
      await this.connection.runAndReadAll(sql);
    } catch (error) {
      if (error instanceof Error) return error.message.split("\n")[0] ?? "";
    }
    throw new Error(`did not fail: ${sql}`);
  }

  async close(): Promise<void> {
    this.connection.closeSync();
    this.#instance.closeSync();
    await this.service.stop();
    rmSync(this.folder, { recursive: true });
  }
}
