import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { ConfigurationError } from "@moraine/codec";
import { ServiceThread } from "../client/service-thread.js";
import { type AttachOptions, attachStatement } from "./attach-statements.js";
import { extensionFile } from "./extension-file.js";
import { loadOfficialExtension } from "./official-extension.js";
import { identifier, literal } from "./sql-text.js";

export interface OpenDuckDbOptions extends AttachOptions {
  /** DuckDB's own database. Default `:memory:`. */
  readonly database?: string | undefined;
  /** Settings of DuckDB, for instance `{ threads: "4" }`. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /**
   * Where the store's service runs if none does: in a process that is started for it, or in a thread of this one, for as long as
   * one of those that are opened so is open. Default `"process"`.
   */
  readonly engine?: "process" | "thread" | undefined;
}

/** DuckDB with a lake attached. Close it when done. */
export class OpenedDuckDb implements AsyncDisposable {
  /** A connection of `@duckdb/node-api` whose current catalog is the lake. */
  readonly connection: DuckDBConnection;
  /** Makes further connections. */
  readonly instance: DuckDBInstance;

  readonly #thread: ServiceThread | undefined;
  #isOpen = true;

  constructor(instance: DuckDBInstance, connection: DuckDBConnection, thread?: ServiceThread) {
    this.instance = instance;
    this.connection = connection;
    this.#thread = thread;
  }

  /** A thread that served it alone ends by itself then; `await using` waits for that. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.connection.closeSync();
    this.instance.closeSync();
    this.#thread?.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.#thread?.released();
  }
}

/**
 * Opens DuckDB (`@duckdb/node-api`, which has to be installed beside) with DuckLake and moraine loaded and the lake attached and
 * current. The lake is made if it is not there and `dataPath` is given.
 *
 * Errors: `configuration` where a part is missing; `store_unavailable` where the thread does not serve; whatever DuckDB says of the attachment.
 */
export async function openDuckDB(options: OpenDuckDbOptions): Promise<OpenedDuckDb> {
  const file = extensionFile();
  const { DuckDBInstance: Instance } = await import("@duckdb/node-api").catch((cause: unknown) => {
    throw new ConfigurationError("@duckdb/node-api is not installed", {
      remedy: "Install it: npm install @duckdb/node-api@1.5.5-r.5",
      cause,
    });
  });
  // First, as it loads its code meanwhile.
  const thread = options.engine === "thread" ? await ServiceThread.use(options.store) : undefined;
  let instance: DuckDBInstance | undefined;
  let connection: DuckDBConnection | undefined;
  try {
    instance = await Instance.create(options.database ?? ":memory:", {
      ...options.settings,
      allow_unsigned_extensions: "true",
    });
    connection = await instance.connect();
    await loadOfficialExtension(connection, "ducklake");
    if ([options.store, options.dataPath ?? ""].some((place) => /^s3:/iu.test(place))) {
      await loadOfficialExtension(connection, "httpfs");
    }
    await connection.run(`LOAD ${literal(file)}`);
    await connection.run(attachStatement(options));
    await connection.run(`USE ${identifier(options.name ?? "lake")}`);
    return new OpenedDuckDb(instance, connection, thread);
  } catch (error) {
    connection?.closeSync();
    instance?.closeSync();
    thread?.release();
    throw error;
  }
}
