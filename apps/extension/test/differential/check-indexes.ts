import type { LakeModel, ModelTable } from "./lake-model.js";
import { type LakePair, ours } from "./lake-pair.js";

/** Compares every index of our lake with what a full scan of its table makes of it. Gives what differs. */
export async function indexDifferences(pair: LakePair, model: LakeModel): Promise<string[]> {
  const differences: string[] = [];
  for (const table of model.tables) {
    for (const index of table.indexes) {
      for (const [what, stored, expected] of await readings(pair, table, index.name, index.columns)) {
        if (stored.join() === expected.join()) continue;
        const [extra, missing] = [without(stored, expected), without(expected, stored)];
        differences.push(
          `${table.name}.${index.name}: ${what}: only stored: ${extra.join()}; only in the table: ${missing.join()}`,
        );
      }
    }
  }
  return differences;
}

/** What a list has more of than another one. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return list.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
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
  // DuckLake gives a row id twice when two transactions change rows that they have inserted themselves: an index has one entry for a
  // value and a row id. NULLs are told apart here, as DuckLake takes a column that a file lacks to have none.
  const scanned = await pair.connection.runAndReadAll(`SELECT DISTINCT rowid, ${columns.join(", ")} FROM ${from}`);
  const entries = scanned.getRows().map(([rowId, ...values]) => ({ rowId: String(rowId), values }));
  const present = entries.filter(({ values }) => !values.includes(null));
  const stored = async (sql: string): Promise<string[]> => (await pair.rows(sql)).sort();
  const expected = (list: typeof entries): string[] => list.map(({ rowId }) => rowId).sort();
  const result: Reading[] = [
    [
      "all values",
      // A range that names no column leaves out NULLs of the leading one only.
      await stored(`SELECT row_id FROM moraine_index_range(${target}, NULL, NULL, true, true)`),
      expected(entries.filter(({ values }) => values[0] !== null)),
    ],
    [
      "leading NULLs",
      await stored(`SELECT row_id FROM moraine_index_nulls(${target}, NULL)`),
      expected(entries.filter(({ values }) => values[0] === null)),
    ],
  ];
  if (present.length === 0) return result;
  const [key, isPresent] =
    columns.length === 1
      ? [columns[0], "k IS NOT NULL"]
      : [`row(${columns.join(", ")})`, columns.map((_, at) => `k[${at + 1}] IS NOT NULL`).join(" AND ")];
  await pair.connection.run(
    `SET VARIABLE keys = (SELECT list_filter(list(DISTINCT ${key}), lambda k: ${isPresent}) FROM ${from})`,
  );
  result.push([
    "every value looked up",
    await stored(`SELECT row_id FROM moraine_index_in(${target}, getvariable('keys'))`),
    [...new Set(expected(present))],
  ]);
  return result;
}
