import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { ConfigurationError, StoreError } from "@moraine/codec";
import { readManifest } from "../manifest.js";

const require = createRequire(import.meta.url);

/** DuckDB in memory: it writes the lake's files and answers by full scans what the indexes are asked. */
export class DuckDb implements AsyncDisposable {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.#connection = connection;
  }

  static async open(): Promise<DuckDb> {
    const { DuckDBInstance: Instance } = await import("@duckdb/node-api").catch((cause: unknown) => {
      throw missing("@duckdb/node-api", cause);
    });
    const instance = await Instance.create(":memory:");
    return new DuckDb(instance, await instance.connect());
  }

  async run(sql: string): Promise<void> {
    await named(this.#connection.run(sql));
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    return (await named(this.#connection.runAndReadAll(sql))).getRowObjectsJS();
  }

  /** The first column of a query, which must be BIGINT. */
  async bigints(sql: string): Promise<bigint[]> {
    const [values] = (await named(this.#connection.runAndReadAll(sql))).getColumnsJS();
    return (values ?? []) as bigint[];
  }

  /** Writes a query's rows to a Parquet file whose columns carry the field ids given. */
  async writeParquet(path: string, query: string, fieldIds: Readonly<Record<string, number>>): Promise<void> {
    const ids = Object.entries(fieldIds).map(([name, id]) => `${name}: ${id}`);
    const option = ids.length === 0 ? "" : `, FIELD_IDS {${ids.join(", ")}}`;
    await this.run(`COPY (${query}) TO ${literal(path)} (FORMAT parquet${option})`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
    return Promise.resolve();
  }
}

/** DuckDB's failures to read and write files, which have their reason outside of moraine, as errors that say so. */
async function named<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof Error) || !cause.message.startsWith("IO Error")) throw cause;
    const remedy = "Check the demonstration's folder, the rights on it and the space on its disk.";
    throw new StoreError(`DuckDB: ${cause.message}`, { remedy, cause });
  }
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Size of a Parquet file and of the metadata in its footer. */
export function parquetSizes(path: string): { readonly fileSizeBytes: number; readonly footerSize: number } {
  const bytes = readFileSync(path);
  return { fileSizeBytes: bytes.length, footerSize: bytes.readUInt32LE(bytes.length - 8) };
}

/** The folder with the data sets of `vega-datasets`. */
export function dataSetFolder(): string {
  try {
    return join(dirname(require.resolve("vega-datasets")), "..", "data");
  } catch (cause) {
    throw missing("vega-datasets", cause);
  }
}

function missing(name: string, cause: unknown): ConfigurationError {
  const wanted = Object.entries(readManifest().peerDependencies).map(([peer, version]) => `${peer}@${version}`);
  return new ConfigurationError(`the demonstration needs the package ${name}, which is not installed`, {
    remedy: `Install it beside moraine: npm install ${wanted.join(" ")}`,
    cause,
  });
}
