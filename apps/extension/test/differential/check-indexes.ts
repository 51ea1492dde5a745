import type { LakeModel, ModelTable } from "./lake-model.js";
import { type LakePair, ours } from "./lake-pair.js";

/** Compares every index of our lake with what a full scan of its table makes of it. Gives what differs. */
export async function indexDifferences(pair: LakePair, model: LakeModel): Promise<string[]> {
  const differences: string[] = [];
  for (const table of model.tables) {
    for (const index of table.indexes) {
      for (const [what, stored, expected] of await readings(pair, table, index.name, index.columns)) {
        if (stored.join() !== expected.join()) {
          differences.push(
            `${table.name}.${index.name}: ${what}: stored ${stored.join()}, expected ${expected.join()}`,
          );
        }
      }
    }
  }
  return differences;
}

type Reading = readonly [what: string, stored: readonly string[], expected: readonly string[]];

async function readings(
  pair: LakePair,
  table: ModelTable,
  index: string,
  columns: readonly string[],
): Promise<Reading[]> {
  const target = `'${ours}', '${table.schema}', '${table.name}', '${index}'`;
  const from = `${ours}.${table.schema}.${table.name}`;
  const present = columns.map((column) => `${column} IS NOT NULL`).join(" AND ");
  const ids = async (sql: string): Promise<string[]> => (await pair.rows(sql)).sort();
  const result: Reading[] = [
    [
      "all values",
      // A range that names no column leaves out NULLs of the leading one only.
      await ids(`SELECT row_id FROM moraine_index_range(${target}, NULL, NULL, true, true)`),
      await ids(`SELECT rowid FROM ${from} WHERE ${columns[0]} IS NOT NULL`),
    ],
    [
      "leading NULLs",
      await ids(`SELECT row_id FROM moraine_index_nulls(${target}, NULL)`),
      await ids(`SELECT rowid FROM ${from} WHERE ${columns[0]} IS NULL`),
    ],
  ];
  const keys = columns.length === 1 ? columns[0] : `row(${columns.join(", ")})`;
  const list = await pair.connection.runAndReadAll(
    `SELECT list(DISTINCT ${keys})::VARCHAR FROM ${from} WHERE ${present}`,
  );
  if (list.getRows()[0]?.[0] === null) return result;
  await pair.connection.run(`SET VARIABLE keys = (SELECT list(DISTINCT ${keys}) FROM ${from} WHERE ${present})`);
  result.push([
    "every value looked up",
    await ids(`SELECT row_id FROM moraine_index_in(${target}, getvariable('keys'))`),
    await ids(`SELECT rowid FROM ${from} WHERE ${present}`),
  ]);
  return result;
}
