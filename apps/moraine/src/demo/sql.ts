import { ConfigurationError } from "@moraine/codec";
import { Catalog } from "../catalog.js";
import { countText } from "../cli/output.js";
import type { OpenedDuckDb } from "../interface.js";
import { openDuckDB } from "../open-duckdb.js";
import { type Comparison, compareAnswers } from "./compare.js";
import type { Lake } from "./lake.js";
import type { Report } from "./report.js";
import { timedRun } from "./timed-run.js";

/** The flight that SQL inserts: no other has its number. */
const insertedFlight = -1;

/**
 * The lake in SQL: what the embedding API wrote is read, indexed and changed by DuckDB, and the other way round. Where DuckDB cannot
 * attach it, because the extension is not built or DuckLake is not to be had, that is told in one line.
 */
export async function tellSql(lake: Lake, store: string, flightRows: number, report: Report): Promise<void> {
  report.section("The same lake in SQL: DuckDB with DuckLake and moraine's extension");
  report.doing("opening DuckDB, starting the service of the store and attaching the lake");
  const opened = await timedRun(() => openDuckDB({ store }).catch(missingPart));
  if (opened.value instanceof ConfigurationError) {
    const { message, remedy } = opened.value.readable;
    report.line(`   left out: ${message}. ${remedy}`);
    return;
  }
  const { stopService } = await import("@moraine/extension");
  try {
    await using duckDb = opened.value;
    report.step("DuckDB opened, the service of the store started, the lake attached", opened.elapsedMs);
    await readInSql(duckDb, lake, store, flightRows, report);
    await indexInSql(duckDb, report);
    await writeInSql(duckDb, lake, store, report);
  } finally {
    // Others would wait a minute for the store; the demonstration has no more use for it.
    await stopService(store);
  }
}

function missingPart(error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  throw error;
}

/** The first column of a query, which must be BIGINT. */
async function bigints({ connection }: OpenedDuckDb, sql: string): Promise<bigint[]> {
  const [values] = (await connection.runAndReadAll(sql)).getColumnsJS();
  return (values ?? []) as bigint[];
}

/** Asks the indexes that the embedding API made, and scans the tables that it filled. */
async function readInSql(
  duckDb: OpenedDuckDb,
  { flights, indexes }: Lake,
  store: string,
  flightRows: number,
  report: Report,
): Promise<void> {
  await using catalog = await Catalog.openReadOnly({ store });
  const all = await catalog.indexRange({ index: indexes.flightsById });
  const [count] = await bigints(duckDb, `SELECT count(*) FROM ${flights.name}`);
  report.fact(
    `SQL sees the ${countText(all.length)} flights that the embedding API wrote`,
    count === BigInt(all.length),
  );
  const middle = Math.floor(flightRows / 2) + 1;
  report.compared([
    await compareInSql(
      duckDb,
      `flight ${middle}`,
      indexFunction("lookup", "flights", "flights_id", `${middle}`),
      `SELECT rowid FROM flights WHERE flight_id = ${middle}`,
    ),
    await compareInSql(
      duckDb,
      "flights 1,001 to 1,100",
      `${indexFunction("range", "flights", "flights_id", "1001, 1100, true, true")} ORDER BY row_id`,
      "SELECT rowid FROM flights WHERE flight_id BETWEEN 1001 AND 1100 ORDER BY rowid",
    ),
  ]);
}

/** A table and a unique index over two of its columns, made by SQL alone. */
async function indexInSql(duckDb: OpenedDuckDb, report: Report): Promise<void> {
  report.doing("CREATE TABLE routes");
  const created = await timedRun(() =>
    duckDb.connection.run(
      "CREATE TABLE routes AS SELECT origin, destination, count(*) AS flights, avg(delay) AS delay FROM flights WHERE destination IS NOT NULL GROUP BY ALL",
    ),
  );
  const [routes] = await bigints(duckDb, "SELECT count(*) FROM routes");
  report.step(`CREATE TABLE routes AS SELECT ... FROM flights: ${countText(routes ?? 0n)} rows`, created.elapsedMs);
  const indexed = await timedRun(() =>
    duckDb.connection.run("CREATE UNIQUE INDEX routes_pair ON routes(origin, destination)"),
  );
  report.step("CREATE UNIQUE INDEX routes_pair ON routes(origin, destination)", indexed.elapsedMs);
  report.compared([
    await compareInSql(
      duckDb,
      "the route from SEA to LAX",
      indexFunction("lookup", "routes", "routes_pair", "'SEA', 'LAX'"),
      "SELECT rowid FROM routes WHERE origin = 'SEA' AND destination = 'LAX'",
    ),
  ]);
}

/** Inserts, refused and taken, and what the embedding API sees of them. */
async function writeInSql(duckDb: OpenedDuckDb, lake: Lake, store: string, report: Report): Promise<void> {
  const { connection } = duckDb;
  const route = "INSERT INTO routes SELECT * FROM routes WHERE origin = 'SEA' AND destination = 'LAX'";
  const routeRefusal = await refusalOf(duckDb, route);
  report.fact(`a second route from SEA to LAX is refused: ${routeRefusal}`, isRefusal(routeRefusal));
  const flight = "INSERT INTO flights(flight_id, origin) VALUES (4711, 'OSL')";
  const flightRefusal = await refusalOf(duckDb, flight);
  report.fact("so is a second flight 4711, by the index that the embedding API made", isRefusal(flightRefusal));
  const inserted = await timedRun(() =>
    connection.run(`INSERT INTO flights(flight_id, origin, destination) VALUES (${insertedFlight}, 'OSL', 'BGO')`),
  );
  report.step("INSERT of one flight, with its entries in both indexes of the table", inserted.elapsedMs);
  await using catalog = await Catalog.openReadOnly({ store });
  const held = await catalog.indexLookup({ index: lake.indexes.flightsById, key: [insertedFlight] });
  report.fact("the embedding API finds it at once", held.length === 1);
  const deleted = await timedRun(() => connection.run(`DELETE FROM flights WHERE flight_id = ${insertedFlight}`));
  report.step("DELETE of that flight", deleted.elapsedMs);
  await using later = await Catalog.openReadOnly({ store });
  const left = await later.indexLookup({ index: lake.indexes.flightsById, key: [insertedFlight] });
  report.fact("and finds it no more", left.length === 0);
}

async function refusalOf({ connection }: OpenedDuckDb, sql: string): Promise<string> {
  const error = await connection.run(sql).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof Error)) return "it was taken";
  return /constraint violation: [^.\n]*/u.exec(error.message)?.[0] ?? error.message;
}

function isRefusal(text: string): boolean {
  return text.startsWith("constraint violation: ");
}

function indexFunction(kind: "lookup" | "range", table: string, index: string, values: string): string {
  return `SELECT row_id FROM moraine_index_${kind}('lake', 'main', '${table}', '${index}', ${values})`;
}

async function compareInSql(duckDb: OpenedDuckDb, question: string, ask: string, scan: string): Promise<Comparison> {
  return await compareAnswers(
    question,
    () => bigints(duckDb, ask),
    () => bigints(duckDb, scan),
  );
}
