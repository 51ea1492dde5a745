import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { ConfigurationError } from "@moraine/codec";
import { type AttachOptions, attachStatement } from "./attach-statements.js";
import { extensionFile } from "./extension-file.js";
import { loadOfficialExtension } from "./official-extension.js";
import { identifier, literal } from "./sql-text.js";

export interface OpenDuckDbOptions extends AttachOptions {
  /** DuckDB's own database. Default `:memory:`. */
  readonly database?: string | undefined;
  /** Settings of DuckDB, for instance `{ threads: "4" }`. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** DuckDB with a lake attached. Close it when done. */
export class OpenedDuckDb implements AsyncDisposable {
  /** A connection of `@duckdb/node-api` whose current catalog is the lake. */
  readonly connection: DuckDBConnection;
  /** Makes further connections. */
  readonly instance: DuckDBInstance;

  constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.instance = instance;
    this.connection = connection;
  }

  close(): void {
    this.connection.closeSync();
    this.instance.closeSync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

/**
 * Opens DuckDB (`@duckdb/node-api`, which has to be installed beside) with DuckLake and moraine loaded and the lake attached and
 * current. The lake is made if it is not there and `dataPath` is given.
 *
 * Errors: `configuration` where a part is missing; whatever DuckDB says of the attachment.
 */
export async function openDuckDB(options: OpenDuckDbOptions): Promise<OpenedDuckDb> {
  const file = extensionFile();
  const { DuckDBInstance: Instance } = await import("@duckdb/node-api").catch((cause: unknown) => {
    throw new ConfigurationError("@duckdb/node-api is not installed", {
      remedy: "Install it: npm install @duckdb/node-api@1.5.5-r.5",
      cause,
    });
  });
  const instance = await Instance.create(options.database ?? ":memory:", {
    ...options.settings,
    allow_unsigned_extensions: "true",
  });
  let connection: DuckDBConnection | undefined;
  try {
    connection = await instance.connect();
    await loadOfficialExtension(connection, "ducklake");
    if ([options.store, options.dataPath ?? ""].some((place) => /^s3:/iu.test(place))) {
      await loadOfficialExtension(connection, "httpfs");
    }
    await connection.run(`LOAD ${literal(file)}`);
    await connection.run(attachStatement(options));
    await connection.run(`USE ${identifier(options.name ?? "lake")}`);
    return new OpenedDuckDb(instance, connection);
  } catch (error) {
    connection?.closeSync();
    instance.closeSync();
    throw error;
  }
}
