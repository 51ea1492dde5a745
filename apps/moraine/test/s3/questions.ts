import type { ReadOnlyCatalog, RowId } from "moraine";
import { type DuckDb, literal } from "../../src/demo/duckdb.js";
import type { EventIndexes } from "./event-lake.js";

/** One question, put to an index and to a full scan, which must give the same rows in the same order. */
export interface Question {
  readonly text: string;
  readonly ask: (
    catalog: Pick<ReadOnlyCatalog, "indexLookup" | "indexLookupMany" | "indexRange" | "indexNulls">,
  ) => Promise<RowId[]>;
  /** Over DuckDB's table `live`. */
  readonly sql: string;
}

const byNameOrder = "name, score DESC NULLS FIRST, row_id";

/** Questions about the values that are there, and about some that are not. */
export async function questions(duckDb: DuckDb, { byId, byName, byDay }: EventIndexes): Promise<Question[]> {
  const [first = 0n, last = 0n] = (await duckDb.rows("SELECT min(id) AS a, max(id) AS b FROM live")).flatMap(
    ({ a, b }) => [a as bigint | null, b as bigint | null].map((bound) => bound ?? 0n),
  );
  const every = (last - first) / 40n + 1n;
  const ids = Array.from({ length: 44 }, (_, i) => first - 1n + BigInt(i) * every);
  const middle = first + (last - first) / 2n;
  const rows = await duckDb.rows(
    "SELECT name, score, day::VARCHAR AS day FROM live WHERE name IS NOT NULL AND score IS NOT NULL AND day IS NOT NULL ORDER BY hash(id) LIMIT 3",
  );
  const where = (condition: string, order = "row_id"): string =>
    `SELECT row_id FROM live WHERE ${condition} ORDER BY ${order}`;
  return [
    ...ids.slice(0, 12).map((id): Question => ({
      text: `id ${id}`,
      ask: (catalog) => catalog.indexLookup({ index: byId, key: [id] }),
      sql: where(`id = ${id}`),
    })),
    {
      text: "many ids",
      ask: (catalog) => catalog.indexLookupMany({ index: byId, keys: ids.map((id) => [id]) }),
      sql: where(`id IN (${ids.join(", ")})`),
    },
    {
      text: "ids from the middle on, backwards",
      ask: (catalog) => catalog.indexRange({ index: byId, lower: { values: [middle] }, reverse: true, limit: 25 }),
      sql: `${where(`id >= ${middle}`, "id DESC")} LIMIT 25`,
    },
    {
      text: "ids below the middle",
      ask: (catalog) => catalog.indexRange({ index: byId, upper: { values: [middle], inclusive: false } }),
      sql: where(`id < ${middle}`, "id"),
    },
    ...rows.flatMap(({ name, score, day }): Question[] => {
      const [text, date] = [literal(name as string), literal(day as string)];
      return [
        {
          text: "name and score",
          ask: (catalog) => catalog.indexLookup({ index: byName, key: [name, score] }),
          sql: where(`name = ${text} AND score = ${score as number}`),
        },
        {
          text: "higher scores of one name",
          ask: (catalog) =>
            catalog.indexRange({
              index: byName,
              lower: { values: [name, score], inclusive: false },
              upper: { values: [name] },
            }),
          sql: where(`name = ${text} AND score > ${score as number}`, byNameOrder),
        },
        {
          text: "a name without a score",
          ask: (catalog) => catalog.indexNulls({ index: byName, prefix: [name, null] }),
          sql: where(`name = ${text} AND score IS NULL`),
        },
        {
          text: "days up to one",
          ask: (catalog) => catalog.indexRange({ index: byDay, upper: { values: [day] }, limit: 100 }),
          sql: `${where(`day <= ${date}`, "day, row_id")} LIMIT 100`,
        },
        {
          text: "days after one, backwards",
          ask: (catalog) =>
            catalog.indexRange({ index: byDay, lower: { values: [day], inclusive: false }, reverse: true }),
          sql: where(`day > ${date}`, "day DESC, row_id DESC"),
        },
      ];
    }),
    {
      text: "no day",
      ask: (catalog) => catalog.indexNulls({ index: byDay, prefix: [null] }),
      sql: where("day IS NULL"),
    },
    {
      text: "no name",
      ask: (catalog) => catalog.indexNulls({ index: byName, prefix: [null] }),
      sql: where("name IS NULL", "score DESC NULLS FIRST, row_id"),
    },
  ];
}
