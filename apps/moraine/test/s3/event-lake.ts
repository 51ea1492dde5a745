import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  encodeIndexEntry,
  type IndexLayout,
  indexPrefix,
  parseColumnType,
  prefixEnd,
  toIndexValue,
} from "@moraine/codec";
import { type DataStore, openDataStore, openStoreReader, type ReadView, rowKey, rowValue } from "@moraine/store";
import {
  Catalog,
  type CatalogSnapshot,
  type DataFile,
  type DataFileId,
  type DeleteFile,
  type IndexId,
  type IndexInfo,
  mainSchema,
  type OpenOptions,
  type ReadOnlyCatalog,
  type TableId,
} from "moraine";
import { expect, onTestFinished } from "vitest";
import { DuckDb, literal, parquetSizes } from "../../src/demo/duckdb.js";
import { questions } from "./questions.js";

const columnTypes = { id: "BIGINT", name: "VARCHAR", score: "INTEGER", day: "DATE" } as const;
const columnNames = Object.keys(columnTypes).join(", ");
const tableFolder = "main/events";
const rowIdColumn = "_ducklake_internal_row_id";

/** Where the two parts of a lake lie. */
export interface Place {
  readonly store: string;
  readonly dataPath: string;
}

export interface EventIndexes {
  readonly byId: IndexId;
  readonly byName: IndexId;
  readonly byDay: IndexId;
}

/**
 * A lake with one table `events`, whose files DuckDB writes and which DuckDB reads in full to check every answer of an index.
 * The files go to their place and come back from it as objects, as any other writer and reader of the lake would do it.
 */
export class EventLake {
  readonly place: Place;
  readonly duckDb: DuckDb;
  readonly data: DataStore;
  readonly #folder: string;
  #catalog: Catalog | undefined;

  private constructor(place: Place, duckDb: DuckDb, data: DataStore, folder: string) {
    this.place = place;
    this.duckDb = duckDb;
    this.data = data;
    this.#folder = folder;
  }

  /** A lake without a catalog that is open; everything of it is closed when the test has finished. */
  static async at(place: Place): Promise<EventLake> {
    const folder = mkdtempSync(join(tmpdir(), "moraine-events-"));
    mkdirSync(join(folder, tableFolder), { recursive: true });
    const lake = new EventLake(place, await DuckDb.open(), await openDataStore(place.dataPath), folder);
    onTestFinished(async () => {
      await lake.close();
      await lake.data.close();
      await lake.duckDb[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });
    return lake;
  }

  /** Makes the table and its indexes in a catalog that stays open. */
  static async create(place: Place): Promise<EventLake> {
    const lake = await EventLake.at(place);
    const catalog = await lake.open();
    await catalog.commit((tx) => {
      const columns = Object.entries(columnTypes).map(([name, columnType]) => ({
        name,
        columnType,
        nullsAllowed: name !== "id",
      }));
      const table = tx.createTable({ schema: mainSchema, name: "events", columns });
      tx.createIndex({ table, name: "events_id", columns: ["id"], unique: true });
      const orders = [{}, { direction: "desc", nulls: "first" }] as const;
      tx.createIndex({ table, name: "events_name", columns: ["name", "score"], orders });
      tx.createIndex({ table, name: "events_day", columns: ["day"] });
    });
    return lake;
  }

  get catalog(): Catalog {
    if (this.#catalog === undefined) throw new Error("the catalog is not open");
    return this.#catalog;
  }

  /** Opens the catalog, in place of the handle that was open. */
  async open(options: Partial<OpenOptions> = {}): Promise<Catalog> {
    await this.close();
    this.#catalog = await Catalog.open({ ...this.place, ...options });
    return this.#catalog;
  }

  /** A failed handle may fail to close as well. */
  async close(): Promise<void> {
    await this.#catalog?.close().catch(() => undefined);
    this.#catalog = undefined;
  }

  async table(catalog: ReadOnlyCatalog = this.catalog): Promise<TableId> {
    const table = (await catalog.snapshot()).tableByName(mainSchema, "events");
    if (table === undefined) throw new Error("the table is not there");
    return table.id;
  }

  async indexes(catalog: ReadOnlyCatalog = this.catalog): Promise<EventIndexes> {
    const snapshot = await catalog.snapshot();
    const id = (name: string): IndexId => {
      const index = snapshot.indexBySchemaName(mainSchema, name);
      if (index === undefined) throw new Error(`${name} is not there`);
      return index.id;
    };
    return { byId: id("events_id"), byName: id("events_name"), byDay: id("events_day") };
  }

  /** Lets DuckDB write a query's rows as a data file and puts it to its place. */
  async putFile(path: string, query: string): Promise<DataFile> {
    const local = join(this.#folder, `new-${path}`);
    const fieldIds = Object.fromEntries(Object.keys(columnTypes).map((name, at) => [name, at + 1]));
    const typed = Object.entries(columnTypes).map(([name, type]) => `${name}::${type} AS ${name}`);
    await this.duckDb.writeParquet(local, `SELECT ${typed.join(", ")} FROM (${query})`, fieldIds);
    await this.data.put(`${tableFolder}/${path}`, readFileSync(local));
    const [recordCount] = await this.duckDb.bigints(`SELECT count(*) FROM read_parquet(${literal(local)})`);
    return { path, recordCount: recordCount ?? 0n, ...parquetSizes(local) };
  }

  /** The same for the rows of a data file that are to die, by their positions. */
  async putDeleteFile(path: string, dataFileId: DataFileId, dataFile: string, positions: string): Promise<DeleteFile> {
    const local = join(this.#folder, `new-${path}`);
    const target = `${this.place.dataPath}/${tableFolder}/${dataFile}`;
    const query = `SELECT ${literal(target)} AS file_path, pos::BIGINT AS pos FROM (${positions}) ORDER BY pos`;
    await this.duckDb.writeParquet(local, query, {});
    await this.data.put(`${tableFolder}/${path}`, readFileSync(local));
    const [deleteCount] = await this.duckDb.bigints(`SELECT count(*) FROM read_parquet(${literal(local)})`);
    return { dataFileId, path, deleteCount: deleteCount ?? 0n, ...parquetSizes(local) };
  }

  /** Makes DuckDB's table `live` of the live rows, from the objects and the inline rows alone. */
  async loadLiveRows(catalog: ReadOnlyCatalog = this.catalog): Promise<void> {
    const table = await this.table(catalog);
    const snapshot = await catalog.snapshot();
    const typed = Object.entries(columnTypes).map(([name, type]) => `${name} ${type}`);
    await this.duckDb.run(`CREATE OR REPLACE TABLE live (row_id BIGINT, ${typed.join(", ")})`);
    const deleted = await catalog.deletedFileRows({ table });
    for (const file of snapshot.dataFilesOf(table)) {
      const path = await this.#fetch(file.path);
      const names = await this.duckDb.rows(`SELECT name FROM parquet_schema(${literal(path)})`);
      const rowId = names.some(({ name }) => name === rowIdColumn)
        ? rowIdColumn
        : `${file.rowIdStart} + file_row_number`;
      const dead = deleted.filter(({ dataFileId }) => dataFileId === file.id).map(({ position }) => `${position}`);
      for (const { path: deletes } of snapshot.deleteFilesOf(table).filter(({ dataFileId }) => dataFileId === file.id))
        dead.push(`(SELECT unnest(list(pos)) FROM read_parquet(${literal(await this.#fetch(deletes))}))`);
      const where = dead.map((which) => ` AND file_row_number NOT IN ${which.startsWith("(") ? which : `(${which})`}`);
      await this.duckDb.run(
        `INSERT INTO live SELECT ${rowId}, ${columnNames} FROM read_parquet(${literal(path)}, file_row_number = true) WHERE true${where.join("")}`,
      );
    }
    const inline = (await catalog.recentRows({ table })).map(
      ({ rowId, values }) =>
        `(${rowId}, ${["id", "name", "score", "day"].map((name) => sqlOf(values[name])).join(", ")})`,
    );
    if (inline.length > 0) await this.duckDb.run(`INSERT INTO live VALUES ${inline.join(", ")}`);
  }

  /** Every index answers as a full computation does and holds exactly the entries of the live rows. */
  async expectVerified(catalog: ReadOnlyCatalog = this.catalog): Promise<void> {
    await this.loadLiveRows(catalog);
    const indexes = await this.indexes(catalog);
    for (const { text, ask, sql } of await questions(this.duckDb, indexes)) {
      expect(await ask(catalog), text).toEqual(await this.duckDb.bigints(sql));
    }
    const snapshot = await catalog.snapshot();
    const view = await openStoreReader(this.place.store);
    try {
      for (const index of snapshot.indexesOf(await this.table(catalog))) {
        const stored = await storedEntries(view, index.id);
        expect(stored, index.name).toEqual(await this.#expectedEntries(snapshot, index));
      }
    } finally {
      await view.close();
    }
  }

  async #expectedEntries(snapshot: CatalogSnapshot, index: IndexInfo): Promise<string[]> {
    const columns = index.columns.map((id) => snapshot.columnsOf(index.tableId).find((column) => column.id === id)!);
    const layout: IndexLayout = {
      indexId: index.id,
      unique: index.unique,
      columns: columns.map(({ columnType }, at) => ({
        valueType: parseColumnType(columnType).valueType,
        descending: index.directions[at] === "desc",
        nullsFirst: index.nulls[at] === "first",
      })),
    };
    const rows = await this.duckDb.rows(`SELECT row_id, id, name, score, day::VARCHAR AS day FROM live`);
    const entries = rows.map((row) => {
      const values = columns.map(({ name, columnType }) => toIndexValue(columnType, row[name]));
      const { key, value } = encodeIndexEntry(layout, values, row["row_id"] as bigint);
      return `${hex(key)}=${hex(value)}`;
    });
    return entries.sort();
  }

  /** Brings an object of the table to this machine. */
  async #fetch(path: string): Promise<string> {
    const local = join(this.#folder, tableFolder, path);
    const { sizeBytes } = await this.data.head(`${tableFolder}/${path}`);
    const [bytes] = await this.data.readRanges(`${tableFolder}/${path}`, [{ offset: 0, length: sizeBytes }]);
    mkdirSync(dirname(local), { recursive: true });
    writeFileSync(local, bytes!);
    return local;
  }
}

async function storedEntries(view: ReadView, index: IndexId): Promise<string[]> {
  const entries: string[] = [];
  for (const shape of ["unique", "multi"] as const) {
    const start = indexPrefix(shape, index);
    for await (const block of view.scan({ start, end: prefixEnd(start) })) {
      for (let i = 0; i < block.count; i++) entries.push(`${hex(rowKey(block, i))}=${hex(rowValue(block, i))}`);
    }
  }
  return entries.sort();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** A value of an inline row in SQL. Dates come as milliseconds. */
function sqlOf(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string") return literal(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "number") throw new TypeError(`an inline value of type ${typeof value}`);
  return Number.isInteger(value / 86_400_000) && value !== 0
    ? literal(new Date(value).toISOString().slice(0, 10))
    : `${value}`;
}

/** A query that gives `count` events from number `first` on; some have no name, score or day, several share each of them. */
export function events(first: number, count: number): string {
  return `SELECT i AS id,
      CASE WHEN i % 17 <> 0 THEN 'name ' || (i % 23) END AS name,
      CASE WHEN i % 5 <> 0 THEN (i * 7919 % 1000) - 500 END AS score,
      CASE WHEN i % 11 <> 0 THEN DATE '2024-01-01' + (i % 90)::INTEGER END AS day
    FROM range(${first}, ${first + count}) t(i)`;
}

/** The same events as plain rows. */
export function eventRow(id: number): { id: number; name: string | null; score: number | null; day: string | null } {
  return {
    id,
    name: id % 17 === 0 ? null : `name ${id % 23}`,
    score: id % 5 === 0 ? null : ((id * 7919) % 1000) - 500,
    day: id % 11 === 0 ? null : new Date(Date.UTC(2024, 0, 1 + (id % 90))).toISOString().slice(0, 10),
  };
}
