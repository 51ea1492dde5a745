import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { type DataStore, type ByteRange, openDataStore } from "@moraine/store";
import type { ColumnRequest, FileSource } from "../../src/index.js";

/** A temporary folder with real DuckDB to write and read its files, and a data store over it that counts what is read. */
export class TestLake {
  readonly folder: string;
  readonly sql: DuckDBConnection;
  readonly store: CountingStore;
  readonly #instance: DuckDBInstance;

  private constructor(folder: string, instance: DuckDBInstance, sql: DuckDBConnection, store: CountingStore) {
    this.folder = folder;
    this.#instance = instance;
    this.sql = sql;
    this.store = store;
  }

  static async create(): Promise<TestLake> {
    const folder = await mkdtemp(join(tmpdir(), "moraine-scoped-reader-"));
    const instance = await DuckDBInstance.create(":memory:", { threads: "2" });
    const sql = await instance.connect();
    return new TestLake(folder, instance, sql, new CountingStore(await openDataStore(folder)));
  }

  async close(): Promise<void> {
    await this.store.close();
    this.sql.closeSync();
    this.#instance.closeSync();
    await rm(this.folder, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes the rows of a query; `options` is what follows `FORMAT parquet` in COPY. */
  async write(name: string, query: string, options = ""): Promise<FileSource> {
    const suffix = options === "" ? "" : `, ${options}`;
    await this.sql.run(`COPY (${query}) TO '${this.path(name)}' (FORMAT parquet${suffix})`);
    return await this.source(name);
  }

  async writeBytes(name: string, bytes: Uint8Array, recordCount: bigint): Promise<FileSource> {
    await writeFile(this.path(name), bytes);
    return sourceOf(this.store, name, bytes.length, recordCount);
  }

  async source(name: string): Promise<FileSource> {
    const { sizeBytes } = await this.store.head(name);
    const [row] = await this.rows(`SELECT num_rows FROM parquet_file_metadata('${this.path(name)}')`);
    const [length] = await this.store.readRanges(name, [{ offset: sizeBytes - 8, length: 4 }]);
    const footerSizeBytes = Buffer.from(length ?? []).readUInt32LE();
    return { ...sourceOf(this.store, name, sizeBytes, BigInt(String(row?.[0]))), footerSizeBytes };
  }

  async bytes(name: string): Promise<Uint8Array> {
    return new Uint8Array(await readFile(this.path(name)));
  }

  async rows(query: string): Promise<unknown[][]> {
    return (await this.sql.runAndReadAll(query)).getRows();
  }
}

export function sourceOf(store: DataStore, path: string, sizeBytes: number, recordCount: bigint): FileSource {
  return { store, path, sizeBytes, encrypted: false, recordCount, rowIdStart: 0n };
}

/** A request for the column `name`, found by field id, else by that name. */
export function request(
  name: string,
  columnType: string,
  fieldId = 1n,
  more: Partial<ColumnRequest> = {},
): ColumnRequest {
  return { fieldId, name, columnType, initialDefault: undefined, historicalNames: [name], ...more };
}

/** Passes everything on and remembers each range that was asked for. */
export class CountingStore implements DataStore {
  readonly #inner: DataStore;
  ranges: ByteRange[] = [];
  calls = 0;

  constructor(inner: DataStore) {
    this.#inner = inner;
  }

  get location(): string {
    return this.#inner.location;
  }

  get bytesRead(): number {
    return this.ranges.reduce((sum, range) => sum + range.length, 0);
  }

  reset(): void {
    this.ranges = [];
    this.calls = 0;
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    this.calls++;
    this.ranges.push(...ranges);
    return await this.#inner.readRanges(path, ranges);
  }

  head(path: string): ReturnType<DataStore["head"]> {
    return this.#inner.head(path);
  }

  put(path: string, bytes: Uint8Array): Promise<void> {
    return this.#inner.put(path, bytes);
  }

  delete(path: string): Promise<void> {
    return this.#inner.delete(path);
  }

  list(prefix: string): ReturnType<DataStore["list"]> {
    return this.#inner.list(prefix);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
