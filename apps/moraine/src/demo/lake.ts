import { join } from "node:path";
import { mainSchema } from "../catalog.js";
import type { RowId, TableId } from "@moraine/codec";
import { makeFolders } from "@moraine/runtime";
import type { Catalog, RegisteredDataFile } from "../interface.js";
import { type DuckDb, literal, parquetSizes } from "./duckdb.js";
import { demoLimits } from "./limits.js";
import type { ScannedTable } from "./live-rows.js";
import type { DemoIndexes } from "./questions.js";

const flightColumns = {
  flight_id: "BIGINT",
  departs: "TIMESTAMP",
  origin: "VARCHAR",
  destination: "VARCHAR",
  delay: "INTEGER",
  distance: "INTEGER",
} as const;

const airportColumns = {
  iata: "VARCHAR",
  name: "VARCHAR",
  city: "VARCHAR",
  state: "VARCHAR",
  country: "VARCHAR",
  latitude: "DOUBLE",
  longitude: "DOUBLE",
} as const;

/** The lake of the demonstration: its catalog, its tables and the DuckDB that writes their files. */
export interface Lake {
  readonly catalog: Catalog;
  readonly duckDb: DuckDb;
  readonly flights: ScannedTable;
  readonly airports: ScannedTable;
  readonly indexes: DemoIndexes;
}

/** Field ids as `createTable` gives them: from 1, in the order of the columns. */
function fieldIds(columns: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(Object.keys(columns).map((name, at) => [name, at + 1]));
}

/** Reads the data sets of a folder into DuckDB: `flight_source` and `airport_source`. */
export async function loadSources(duckDb: DuckDb, folder: string, flightRows: number): Promise<void> {
  await duckDb.run(
    `CREATE TABLE flight_source AS
     SELECT number AS flight_id, departs, origin, destination,
       CASE WHEN number % ${demoLimits.rowsPerUnknownDelay} <> 0 THEN delay END AS delay, distance
     FROM (
       SELECT row_number() OVER () AS number, date AS departs, origin, destination, delay::INTEGER AS delay, distance::INTEGER AS distance
       FROM read_parquet(${literal(join(folder, "flights-3m.parquet"))}) LIMIT ${flightRows}
     )`,
  );
  await duckDb.run(
    `CREATE TABLE airport_source AS SELECT * FROM read_csv(${literal(join(folder, "airports.csv"))}, header = true, nullstr = 'NA')`,
  );
}

/** Makes the two tables and their four indexes. */
export async function createTables(catalog: Catalog, duckDb: DuckDb, dataFolder: string): Promise<Lake> {
  const { value } = await catalog.commit((tx) => {
    const columnsOf = (columns: Readonly<Record<string, string>>): { name: string; columnType: string }[] =>
      Object.entries(columns).map(([name, columnType]) => ({ name, columnType }));
    const flights = tx.createTable({ schema: mainSchema, name: "flights", columns: columnsOf(flightColumns) });
    const airports = tx.createTable({ schema: mainSchema, name: "airports", columns: columnsOf(airportColumns) });
    const indexes = {
      flightsById: tx.createIndex({ table: flights, name: "flights_id", columns: ["flight_id"], unique: true }),
      flightsByDelay: tx.createIndex({
        table: flights,
        name: "flights_delay",
        columns: ["origin", "delay"],
        orders: [{ direction: "asc" }, { direction: "desc", nulls: "last" }],
      }),
      airportsByCode: tx.createIndex({ table: airports, name: "airports_iata", columns: ["iata"], unique: true }),
      airportsByState: tx.createIndex({ table: airports, name: "airports_state", columns: ["state"] }),
    };
    return { flights, airports, indexes };
  });
  const scanned = (id: TableId, name: string, columns: Readonly<Record<string, string>>): ScannedTable => {
    const folder = join(dataFolder, "main", name);
    makeFolders(folder);
    return { id, name, folder, columns };
  };
  return {
    catalog,
    duckDb,
    flights: scanned(value.flights, "flights", flightColumns),
    airports: scanned(value.airports, "airports", airportColumns),
    indexes: value.indexes,
  };
}

/** Writes flights to a Parquet file in the table's folder. */
export async function writeFlights({ duckDb, flights }: Lake, path: string, query: string): Promise<void> {
  await duckDb.writeParquet(join(flights.folder, path), query, fieldIds(flightColumns));
}

/** Registers a file of flights; moraine reads the indexed columns out of it. */
export async function registerFlights(
  { catalog, flights }: Lake,
  path: string,
  recordCount: number,
): Promise<RegisteredDataFile> {
  const file = { path, recordCount, ...parquetSizes(join(flights.folder, path)) };
  const { value } = await catalog.commit((tx) =>
    tx.registerDataFile({ table: flights.id, file, entries: "scoped-read" }),
  );
  return value;
}

/** Keeps rows of a query inside the catalog. Gives the first row id. */
export async function insertInline({ catalog, duckDb }: Lake, table: ScannedTable, query: string): Promise<RowId> {
  const rows = await duckDb.rows(query);
  const { value } = await catalog.commit((tx) => tx.inlineInsert({ table: table.id, rows }));
  return value;
}

/** Lets rows of one data file die, by a delete file that DuckDB writes. Gives how many. */
export async function deleteFromFile(
  { catalog, duckDb, flights }: Lake,
  file: RegisteredDataFile,
  dataPath: string,
  rowCount: number,
): Promise<number> {
  const path = `deletes-of-${dataPath}`;
  const target = join(flights.folder, dataPath);
  const deleteCount = Math.ceil(rowCount / demoLimits.rowsPerDelete);
  const positions = `SELECT ${literal(target)} AS file_path, ${demoLimits.rowsPerDelete} * range AS pos FROM range(${deleteCount})`;
  await duckDb.writeParquet(join(flights.folder, path), positions, {});
  const deleteFile = { dataFileId: file.dataFileId, path, deleteCount, ...parquetSizes(join(flights.folder, path)) };
  await catalog.commit((tx) => tx.registerDeleteFile({ table: flights.id, file: deleteFile, removals: "scoped-read" }));
  return deleteCount;
}
