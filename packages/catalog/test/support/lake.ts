import type { ColumnId, DataFileId, DeleteFileId, IndexId, RowId, SchemaId, SnapshotId, TableId } from "@moraine/codec";
import {
  type DataStore,
  DataStoreSet,
  dropMemoryDataStore,
  dropMemoryStore,
  openDataStore,
  openStore,
  type WritableStore,
} from "@moraine/store";
import { expect, onTestFinished } from "vitest";
import {
  Catalog,
  type CatalogOptions,
  type CommitClosure,
  type FileEntries,
  type FileRemovals,
  type PlainRow,
  type Transaction,
} from "../../src/index.js";
import { dataFileBytes, deleteFileBytes, rowIdColumn, type WrittenColumn } from "../../src/testing/parquet-files.js";
import type { CatalogSnapshot } from "../../src/model/view.js";
import type { DataFile } from "../../src/verbs/data-files.js";
import type { DeleteFile } from "../../src/verbs/delete-files.js";
import { HookedStore } from "./hooked-store.js";
import { indexContents } from "./index-oracle.js";
import { folderOf, type LakeReads, type LiveRow, liveRows } from "./live-rows.js";

export const main = 0n as SchemaId;

export interface LakeOptions {
  /** Default: a store in memory of its own. */
  readonly location?: string;
  /** Where data files stand; `null` for a catalog without access to any. Default: in memory. */
  readonly dataPath?: string | null;
  readonly catalog?: Partial<CatalogOptions>;
  /** Puts something between the hooks and the store. */
  readonly wrap?: (store: WritableStore) => WritableStore;
}

export interface IndexOptions {
  readonly unique?: boolean;
  readonly name?: string;
  readonly orders?: Parameters<Transaction["createIndex"]>[0]["orders"];
}

export interface FileOptions {
  /** Ids that the file embeds, one for each row. Default: none. */
  readonly rowIds?: readonly bigint[];
  /** Default: the table's, with field ids. */
  readonly columns?: readonly WrittenColumn[];
  /** Default: the table's. */
  readonly folder?: string;
}

let lakes = 0;
/** Counted over all lakes: one that is opened again must not write over its own files. */
let files = 0;

/** A catalog on a store of its own, with what tests do to it all the time. */
export class Lake {
  readonly location: string;
  readonly dataPath: string | undefined;
  readonly store: HookedStore;
  readonly catalog: Catalog;
  /** Snapshots that a test has kept, as their records may expire. */
  readonly remembered = new Map<bigint, CatalogSnapshot>();
  readonly #data: DataStore | undefined;

  private constructor(
    location: string,
    dataPath: string | undefined,
    store: HookedStore,
    catalog: Catalog,
    data: DataStore | undefined,
  ) {
    this.location = location;
    this.dataPath = dataPath;
    this.store = store;
    this.catalog = catalog;
    this.#data = data;
  }

  /** Opens a lake that is closed and forgotten when the test has finished. */
  static async open(options: LakeOptions = {}): Promise<Lake> {
    lakes += 1;
    const name = `catalog-${process.pid}-${lakes}`;
    const location = options.location ?? `memory://${name}`;
    const dataPath = options.dataPath === undefined ? `memory://${name}-data` : (options.dataPath ?? undefined);
    const inner = await openStore(location);
    const store = new HookedStore(options.wrap?.(inner) ?? inner);
    const catalog = await Catalog.open({
      store,
      dataPath,
      ...(dataPath === undefined ? {} : { openDataFiles: (path: string) => new DataStoreSet(path) }),
      ...options.catalog,
    });
    const data = dataPath === undefined ? undefined : await openDataStore(dataPath);
    const lake = new Lake(location, dataPath, store, catalog, data);
    onTestFinished(async () => {
      store.hooks = {};
      await catalog.close().catch(() => undefined);
      await data?.close();
      if (options.location === undefined) dropMemoryStore(location);
      if (options.dataPath === undefined) dropMemoryDataStore(`${name}-data`);
    });
    return lake;
  }

  /** The same lake behind a new handle, which knows nothing but what is stored. */
  async reopen(): Promise<Lake> {
    await this.catalog.close();
    return await Lake.open({ location: this.location, dataPath: this.dataPath ?? null });
  }

  get #reads(): LakeReads {
    const past = async (snapshot: SnapshotId): Promise<CatalogSnapshot> =>
      this.remembered.get(snapshot) ?? (await this.catalog.snapshotAt(snapshot));
    return { store: this.store.inner, data: this.#data, past };
  }

  get data(): DataStore {
    if (this.#data === undefined) throw new Error("this lake has no data files");
    return this.#data;
  }

  async commit<T>(closure: CommitClosure<T>): Promise<T> {
    return (await this.catalog.commit(closure)).value;
  }

  async head(): Promise<bigint> {
    return (await this.catalog.snapshot()).currentSnapshot.id;
  }

  /** A table in `main`: column names with their types. */
  async table(name: string, columns: Readonly<Record<string, string>>): Promise<TableId> {
    return await this.commit((tx) =>
      tx.createTable({
        schema: main,
        name,
        columns: Object.entries(columns).map(([column, columnType]) => ({ name: column, columnType })),
      }),
    );
  }

  async index(table: TableId, columns: readonly string[], options: IndexOptions = {}): Promise<IndexId> {
    return await this.commit((tx) =>
      tx.createIndex({
        table,
        name: options.name ?? `${columns.join("_")}_${options.unique === true ? "u" : "m"}`,
        columns,
        unique: options.unique ?? false,
        ...(options.orders === undefined ? {} : { orders: options.orders }),
      }),
    );
  }

  /** Inlines rows in a commit of their own. */
  async insert(table: TableId, ...rows: readonly PlainRow[]): Promise<RowId> {
    return await this.commit((tx) => tx.inlineInsert({ table, rows }));
  }

  async delete(table: TableId, ...rowIds: readonly bigint[]): Promise<void> {
    await this.commit((tx) => {
      for (const rowId of rowIds) tx.inlineDelete({ table, rowId });
    });
  }

  /** Row ids under one key. */
  async lookup(index: IndexId, ...key: readonly unknown[]): Promise<bigint[]> {
    return await this.catalog.indexLookup({ index, key });
  }

  /** Writes a data file of a table and gives what registers it. */
  async writeFile(table: TableId, rows: readonly PlainRow[], options: FileOptions = {}): Promise<DataFile> {
    const snapshot = await this.catalog.snapshot();
    const live = snapshot.columnsOf(table).map(({ id, name, columnType }) => ({ fieldId: id, name, columnType }));
    const columns: WrittenColumn[] = options.columns?.slice() ?? live;
    const { rowIds } = options;
    if (rowIds !== undefined) columns.push(rowIdColumn);
    const values =
      rowIds === undefined ? rows : rows.map((row, position) => ({ ...row, [rowIdColumn.name]: rowIds[position] }));
    files += 1;
    const path = `data-${files}.parquet`;
    const { bytes, fileSizeBytes, footerSize } = dataFileBytes(columns, values);
    await this.data.put((options.folder ?? folderOf(snapshot, table)) + path, bytes);
    return { path, recordCount: rows.length, fileSizeBytes, footerSize };
  }

  /** Writes a delete file for a data file that is registered, or whose id and path are known, and gives what registers it. */
  async writeDeleteFile(
    table: TableId,
    dataFileId: DataFileId,
    positions: readonly number[],
    targetPath?: string,
  ): Promise<DeleteFile> {
    const snapshot = await this.catalog.snapshot();
    const target = targetPath ?? snapshot.dataFilesOf(table).find(({ id }) => id === dataFileId)?.path;
    if (target === undefined) throw new Error(`data file ${dataFileId} is not there`);
    files += 1;
    const path = `delete-${files}.parquet`;
    const { bytes, fileSizeBytes, footerSize } = deleteFileBytes(
      this.objectPath(folderOf(snapshot, table) + target),
      positions,
    );
    await this.data.put(folderOf(snapshot, table) + path, bytes);
    return { dataFileId, path, deleteCount: positions.length, fileSizeBytes, footerSize };
  }

  /** The path of an object as delete files name it. */
  objectPath(path: string): string {
    return this.dataPath === undefined ? path : `${this.dataPath.replace(/\/$/u, "")}/${path}`;
  }

  /** Writes and registers a data file. */
  async register(
    table: TableId,
    rows: readonly PlainRow[],
    entries: FileEntries = "scoped-read",
  ): Promise<{ readonly dataFileId: DataFileId; readonly rowIdStart: RowId }> {
    const file = await this.writeFile(table, rows);
    return await this.commit((tx) => tx.registerDataFile({ table, file, entries }));
  }

  /** Writes and registers a delete file. */
  async deleteRows(
    table: TableId,
    dataFileId: DataFileId,
    positions: readonly number[],
    removals: FileRemovals = "scoped-read",
  ): Promise<DeleteFileId> {
    const file = await this.writeDeleteFile(table, dataFileId, positions);
    return await this.commit((tx) => tx.registerDeleteFile({ table, file, removals }));
  }

  /** Live rows of a table as a full scan finds them, by row id. */
  async scan(table: TableId): Promise<LiveRow[]> {
    using scope = await this.catalog.reads();
    const rows = await liveRows(scope, this.#reads, table);
    return rows.sort((a, b) => (a.rowId < b.rowId ? -1 : 1));
  }

  /** One column of the live rows, by row id. */
  async column(table: TableId, name: string): Promise<unknown[]> {
    const snapshot = await this.catalog.snapshot();
    const id = snapshot.columnsOf(table).find((column) => column.name === name)!.id;
    return (await this.scan(table)).map(({ values }) => values.get(id));
  }

  async columnId(table: TableId, name: string): Promise<ColumnId> {
    const snapshot = await this.catalog.snapshot();
    return snapshot.columnsOf(table).find((column) => column.name === name)!.id;
  }

  /** Every index of the table holds exactly the entries of its live rows. */
  async expectVerified(table: TableId): Promise<void> {
    using scope = await this.catalog.reads();
    const { stored, expected } = await indexContents(scope, this.#reads, table);
    expectSame(stored, expected);
  }
}

function expectSame(stored: unknown, expected: unknown): void {
  expect(stored).toEqual(expected);
}
