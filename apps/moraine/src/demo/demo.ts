import { rmSync } from "node:fs";
import { join } from "node:path";
import { ConstraintError, MoraineError, type RowId } from "@moraine/codec";
import { loopsInUse } from "@moraine/store";
import { Catalog } from "../catalog.js";
import { countText, durationText } from "../cli/output.js";
import type { ReadOnlyCatalog, RegisteredDataFile } from "../interface.js";
import { compare } from "./compare.js";
import { dataSetFolder, DuckDb } from "./duckdb.js";
import { DemoFolder } from "./folder.js";
import {
  createTables,
  deleteFromFile,
  insertInline,
  type Lake,
  loadSources,
  registerFlights,
  writeFlights,
} from "./lake.js";
import { demoLimits } from "./limits.js";
import { defineLiveRows } from "./live-rows.js";
import { questions } from "./questions.js";
import type { Report } from "./report.js";
import { tellSql } from "./sql.js";
import { timedRun } from "./timed-run.js";

export interface DemoOptions {
  /** Where the lake is made; that of an earlier demonstration is deleted first. */
  readonly folder: string;
  /** From `demoLimits.leastFlightRows` to `demoLimits.mostFlightRows`. */
  readonly flightRows: number;
}

/**
 * Builds a lake on the local disk, puts questions to its indexes and by full scans, breaks its rules, changes it, reopens it,
 * asks again, and does the like in SQL. What has to hold is in the report.
 */
export async function runDemo({ folder, flightRows }: DemoOptions, report: Report): Promise<void> {
  const startedMs = performance.now();
  // What is missing or set wrongly is noticed before an earlier lake is deleted.
  const sources = dataSetFolder();
  const { name: loops } = loopsInUse();
  await using duckDb = await DuckDb.open();
  using places = DemoFolder.claim(folder);
  const speed = loops === "native" ? "" : "; without the store's native loops, which is several times slower";
  report.line(`moraine demo: a lake in ${folder}, made anew${speed}`);
  let lake: Lake;
  {
    await using catalog = await Catalog.open({ store: places.store, dataPath: places.data });
    const filled = await fillLake(catalog, duckDb, { sources, data: places.data }, flightRows, report);
    lake = filled.lake;
    await askAll(
      lake,
      catalog,
      flightRows,
      report,
      "Questions, to the indexes and by full scans of the live rows with DuckDB",
    );
    await breakRules(lake, flightRows, report);
    await changeRows(lake, filled.files, flightRows, report);
    await askAll(lake, catalog, flightRows, report, "The same questions after the changes");
    await flush(lake, report);
    report.doing("closing and opening again");
  }
  await reopen(lake, places.store, flightRows, report);
  await tellSql(lake, places.store, flightRows, report);
  const seconds = (performance.now() - startedMs) / 1000;
  report.line();
  const { comparisons, facts } = report;
  const wrong = comparisons.filter(({ isEqual }) => !isEqual).length + facts.filter(({ holds }) => !holds).length;
  report.line(
    wrong === 0
      ? `All ${comparisons.length} answers equal those of the scans, all ${facts.length} expectations hold. ${seconds.toFixed(1)} s.`
      : `${wrong} of ${comparisons.length + facts.length} comparisons and expectations FAILED. ${seconds.toFixed(1)} s.`,
  );
  const store = join(folder, "store");
  report.line("Look around:");
  for (const command of [`tables ${store}`, `lookup ${store} flights_id 4711`, `sql ${store}`, "--help"])
    report.line(`  npx moraine ${command}`);
}

interface FlightFile extends RegisteredDataFile {
  readonly path: string;
  readonly rowCount: number;
  /** The flights of the file have consecutive ids from this one on. */
  readonly firstFlight: number;
}

async function fillLake(
  catalog: Catalog,
  duckDb: DuckDb,
  folders: { readonly sources: string; readonly data: string },
  flightRows: number,
  report: Report,
): Promise<{ readonly lake: Lake; readonly files: readonly FlightFile[] }> {
  report.section(
    "Real data: US flights of 2001 (Bureau of Transportation Statistics) and airports, from the npm package vega-datasets",
  );
  report.doing("reading the data sets");
  const loaded = await timedRun(() => loadSources(duckDb, folders.sources, flightRows));
  report.step(`${countText(flightRows)} flights and the airports read by DuckDB`, loaded.elapsedMs);
  const created = await timedRun(() => createTables(catalog, duckDb, folders.data));
  report.step(
    "2 tables; unique indexes on flight_id and iata, others on (origin, delay DESC) and state",
    created.elapsedMs,
  );
  const lake = created.value;

  const perFile = Math.ceil(flightRows / demoLimits.flightFiles);
  const files: FlightFile[] = [];
  let writeMs = 0;
  let registerMs = 0;
  for (let at = 0; at < demoLimits.flightFiles; at++) {
    const path = `flights-${at + 1}.parquet`;
    const firstFlight = at * perFile + 1;
    const rowCount = Math.min(perFile, flightRows - firstFlight + 1);
    const range = `flight_id BETWEEN ${firstFlight} AND ${firstFlight + rowCount - 1}`;
    report.doing(`writing Parquet file ${at + 1} of ${demoLimits.flightFiles}`);
    const written = await timedRun(() =>
      writeFlights(lake, path, `SELECT * FROM flight_source WHERE ${range} ORDER BY flight_id`),
    );
    report.doing(
      `registering Parquet file ${at + 1} of ${demoLimits.flightFiles}, with ${countText(2 * rowCount)} index entries`,
    );
    const registered = await timedRun(() => registerFlights(lake, path, rowCount));
    files.push({ ...registered.value, path, rowCount, firstFlight });
    writeMs += written.elapsedMs;
    registerMs += registered.elapsedMs;
  }
  report.step(`${files.length} Parquet files written by DuckDB`, writeMs);
  const entries = Math.round((2 * flightRows * 1000) / registerMs);
  report.step(
    `registered: moraine read them and committed ${countText(2 * flightRows)} index entries (${countText(entries)}/s)`,
    registerMs,
  );
  report.doing("inserting the airports");
  const airports = await timedRun(() => insertInline(lake, lake.airports, "SELECT * FROM airport_source"));
  report.step("airports kept inline, inside the catalog, without a data file", airports.elapsedMs);
  const late = `SELECT * REPLACE (flight_id + ${flightRows} AS flight_id) FROM flight_source ORDER BY flight_id LIMIT ${demoLimits.inlineFlights}`;
  const inlined = await timedRun(() => insertInline(lake, lake.flights, late));
  report.step(
    `${demoLimits.inlineFlights} more flights inline: one table in files and inside the catalog`,
    inlined.elapsedMs,
  );
  return { lake, files };
}

async function askAll(
  lake: Lake,
  catalog: ReadOnlyCatalog,
  flightRows: number,
  report: Report,
  title: string,
): Promise<void> {
  report.section(title);
  for (const table of [lake.flights, lake.airports]) await defineLiveRows(lake.duckDb, catalog, table);
  const comparisons = [];
  const all = questions(lake.indexes, flightRows);
  for (const [at, question] of all.entries()) {
    report.doing(`question ${at + 1} of ${all.length}: ${question.text}`);
    comparisons.push(await compare(catalog, lake.duckDb, question));
  }
  report.compared(comparisons);
}

/** A duplicate in a file, one in inline rows, and two commits that race for one value. */
async function breakRules(lake: Lake, flightRows: number, report: Report): Promise<void> {
  const { catalog, flights, indexes } = lake;
  report.section("Duplicates: the unique index on flight_id refuses them, whoever writes");
  const before = (await catalog.snapshot()).currentSnapshot.id;

  await writeFlights(
    lake,
    "duplicate.parquet",
    `SELECT * REPLACE (CASE WHEN flight_id = 3 THEN 1234 ELSE flight_id + 10000000 END AS flight_id) FROM flight_source WHERE flight_id <= 1000`,
  );
  const fromFile = await refusal(registerFlights(lake, "duplicate.parquet", 1000));
  report.fact(
    `a file of 1,000 flights with one duplicate is refused: ${textOf(fromFile)}`,
    fromFile instanceof ConstraintError,
  );
  // Nobody knows of the refused file but who wrote it.
  rmSync(join(flights.folder, "duplicate.parquet"));
  const inline = await refusal(
    catalog.commit((tx) => tx.inlineInsert({ table: flights.id, rows: [{ flight_id: 1234, origin: "OSL" }] })),
  );
  report.fact(`so is an inline row: ${textOf(inline)}`, inline instanceof ConstraintError);
  const after = (await catalog.snapshot()).currentSnapshot.id;
  report.fact("neither left anything behind: the catalog is at the same snapshot", after === before);

  const contested = 2 * flightRows + 1;
  const racing = await Promise.allSettled(
    ["AMS", "CDG"].map((origin) =>
      catalog.commit((tx) =>
        tx.inlineInsert({ table: flights.id, rows: [{ flight_id: contested, origin, delay: 0 }] }),
      ),
    ),
  );
  const landed = racing.filter(({ status }) => status === "fulfilled").length;
  const loser = racing.find((result) => result.status === "rejected")?.reason as unknown;
  const held = await catalog.indexLookup({ index: indexes.flightsById, key: [contested] });
  report.fact(
    `of two commits that race for flight ${contested} one lands, the other gets ${loser instanceof MoraineError ? loser.code : "nothing"}`,
    landed === 1 && loser instanceof ConstraintError && held.length === 1,
  );
}

/** What a commit was refused with, or why that is not what happened. */
async function refusal(work: Promise<unknown>): Promise<Error> {
  return await work.then(
    () => new Error("it was taken"),
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

function textOf(error: Error): string {
  return error instanceof MoraineError ? error.readable.message : error.message;
}

/** Deletes in a file and inline, and flights that come back under their ids. */
async function changeRows(lake: Lake, files: readonly FlightFile[], flightRows: number, report: Report): Promise<void> {
  const { catalog, flights, airports, indexes } = lake;
  report.section("Deletes, and reinsertion of what was deleted");
  const file = files[1] ?? files[0];
  if (file === undefined) return;
  const deleted = await timedRun(() => deleteFromFile(lake, file, file.path, file.rowCount));
  report.step(
    `${countText(deleted.value)} flights of ${file.path} deleted by a delete file that DuckDB wrote`,
    deleted.elapsedMs,
  );
  const gone = await catalog.indexLookup({ index: indexes.flightsById, key: [file.firstFlight] });
  report.fact(`flight ${file.firstFlight} is found no more`, gone.length === 0);

  const dead = Array.from(
    { length: demoLimits.reinsertedFlights },
    (_, at) => file.firstFlight + at * demoLimits.rowsPerDelete,
  );
  const back = await timedRun(() =>
    insertInline(
      lake,
      flights,
      `SELECT * REPLACE (0 AS delay) FROM flight_source WHERE flight_id IN (${dead.join(", ")}) ORDER BY flight_id`,
    ),
  );
  report.step(`${dead.length} of them are inserted again, inline, under the same ids`, back.elapsedMs);
  const [again] = await catalog.indexLookup({ index: indexes.flightsById, key: [file.firstFlight] });
  report.fact(`flight ${file.firstFlight} is found again, as another row`, again === back.value);

  const every = await catalog.recentRows({ table: flights.id });
  const victims: RowId[] = every.filter((_, at) => at % 7 === 3).map(({ rowId }) => rowId);
  const [seattle] = await catalog.indexLookup({ index: indexes.airportsByCode, key: ["SEA"] });
  const inlineDeletes = await timedRun(() =>
    catalog.commit((tx) => {
      for (const rowId of victims) tx.inlineDelete({ table: flights.id, rowId });
      if (seattle === undefined) return;
      tx.inlineDelete({ table: airports.id, rowId: seattle });
      tx.inlineInsert({
        table: airports.id,
        rows: [{ iata: "SEA", name: "Seattle-Tacoma International", city: "Seattle", state: "WA", country: "USA" }],
      });
    }),
  );
  report.step(
    `${victims.length} inline flights deleted, and airport SEA deleted and inserted again, in one commit`,
    inlineDeletes.elapsedMs,
  );
  const replaced = await catalog.indexLookup({ index: indexes.airportsByCode, key: ["SEA"] });
  report.fact("airport SEA is there once, as the new row", replaced.length === 1 && replaced[0] !== seattle);
  const total = flightRows + demoLimits.inlineFlights + 1 - deleted.value + dead.length - victims.length;
  const { length } = await catalog.indexRange({ index: indexes.flightsById });
  report.fact(`the index on flight_id has exactly the ${countText(total)} live flights`, length === total);
}

/** Moves the inline rows to Parquet files that moraine writes. */
async function flush(lake: Lake, report: Report): Promise<void> {
  report.section(
    "Flush: inline rows move to Parquet files that moraine writes; row ids stay, so no index entry changes",
  );
  for (const table of [lake.flights, lake.airports]) {
    report.doing(`flushing ${table.name}`);
    const flushed = await timedRun(() => lake.catalog.flushInlined({ table: table.id }));
    report.step(`${countText(flushed.value.rowCount)} rows of ${table.name}`, flushed.elapsedMs);
    const left = await lake.catalog.recentRows({ table: table.id });
    report.fact(`${table.name} has no inline rows left`, left.length === 0);
  }
}

/** Reads what is on the disk, by a new handle. */
async function reopen(lake: Lake, store: string, flightRows: number, report: Report): Promise<void> {
  const opened = await timedRun(() => Catalog.openReadOnly({ store }));
  await using catalog = opened.value;
  const first = await timedRun(() => catalog.indexLookup({ index: lake.indexes.flightsById, key: [4711] }));
  await askAll(
    lake,
    catalog,
    flightRows,
    report,
    `Closed and opened again, read-only, in ${durationText(opened.elapsedMs)}; first lookup ${durationText(first.elapsedMs)}`,
  );
}
