import type { IndexId } from "@moraine/codec";
import type { Question } from "./compare.js";
import { literal } from "./duckdb.js";
import { demoLimits } from "./limits.js";

export interface DemoIndexes {
  readonly flightsById: IndexId;
  readonly flightsByDelay: IndexId;
  readonly airportsByCode: IndexId;
  readonly airportsByState: IndexId;
}

/** Questions about flights and airports, with the SQL that gives the same row ids by a full scan. */
export function questions(indexes: DemoIndexes, flightRows: number): Question[] {
  const middle = Math.floor(flightRows / 2) + 1;
  // Steps through the whole table; some of the keys belong to deleted flights, and the last few to none.
  const many = Array.from(
    { length: demoLimits.manyKeys },
    (_, at) => 1 + at * Math.ceil(flightRows / (demoLimits.manyKeys - 10)),
  );
  return [
    {
      text: `flight ${middle}`,
      ask: (catalog) => catalog.indexLookup({ index: indexes.flightsById, key: [middle] }),
      sql: `SELECT row_id FROM flights WHERE flight_id = ${middle} ORDER BY row_id`,
    },
    {
      text: "a flight that does not exist",
      ask: (catalog) => catalog.indexLookup({ index: indexes.flightsById, key: [-1] }),
      sql: "SELECT row_id FROM flights WHERE flight_id = -1 ORDER BY row_id",
    },
    {
      text: `flight IN (${demoLimits.manyKeys} ids)`,
      ask: (catalog) => catalog.indexLookupMany({ index: indexes.flightsById, keys: many.map((id) => [id]) }),
      sql: `SELECT row_id FROM flights WHERE flight_id IN (${many.join(", ")}) ORDER BY row_id`,
    },
    {
      text: "flights 1,001 to 1,100, by id",
      ask: (catalog) =>
        catalog.indexRange({ index: indexes.flightsById, lower: { values: [1001] }, upper: { values: [1100] } }),
      sql: "SELECT row_id FROM flights WHERE flight_id BETWEEN 1001 AND 1100 ORDER BY flight_id",
    },
    {
      text: "from ORD, more than 3 hours late, worst first",
      ask: (catalog) =>
        catalog.indexRange({
          index: indexes.flightsByDelay,
          lower: { values: ["ORD", 180], inclusive: false },
          upper: { values: ["ORD"] },
        }),
      sql: "SELECT row_id FROM flights WHERE origin = 'ORD' AND delay > 180 ORDER BY delay DESC, row_id",
    },
    {
      text: "from SFO, the ten that were earliest",
      ask: (catalog) =>
        catalog.indexRange({
          index: indexes.flightsByDelay,
          lower: { values: ["SFO"] },
          upper: { values: ["SFO"] },
          reverse: true,
          limit: 10,
        }),
      // The index's order is (origin, delay DESC NULLS LAST, row id), and NULLs take part where only the origin is bounded.
      sql: "SELECT row_id FROM flights WHERE origin = 'SFO' ORDER BY delay ASC NULLS FIRST, row_id DESC LIMIT 10",
    },
    {
      text: "from ATL, exactly 60 minutes late",
      ask: (catalog) => catalog.indexLookup({ index: indexes.flightsByDelay, key: ["ATL", 60] }),
      sql: "SELECT row_id FROM flights WHERE origin = 'ATL' AND delay = 60 ORDER BY row_id",
    },
    {
      text: "from DFW, delay IS NULL",
      ask: (catalog) => catalog.indexNulls({ index: indexes.flightsByDelay, prefix: ["DFW", null] }),
      sql: "SELECT row_id FROM flights WHERE origin = 'DFW' AND delay IS NULL ORDER BY row_id",
    },
    airport(indexes, "SEA"),
    {
      text: "airports in Alaska or Hawaii",
      ask: (catalog) => catalog.indexLookupMany({ index: indexes.airportsByState, keys: [["AK"], ["HI"]] }),
      sql: "SELECT row_id FROM airports WHERE state IN ('AK', 'HI') ORDER BY row_id",
    },
    {
      text: "airports, state IS NULL",
      ask: (catalog) => catalog.indexNulls({ index: indexes.airportsByState, prefix: [null] }),
      sql: "SELECT row_id FROM airports WHERE state IS NULL ORDER BY row_id",
    },
  ];
}

function airport({ airportsByCode }: DemoIndexes, code: string): Question {
  return {
    text: `airport ${code}`,
    ask: (catalog) => catalog.indexLookup({ index: airportsByCode, key: [code] }),
    sql: `SELECT row_id FROM airports WHERE iata = ${literal(code)} ORDER BY row_id`,
  };
}
