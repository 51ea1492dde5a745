import { expect } from "vitest";
import type { TestDuckDb } from "./duckdb.js";

/** A lookup's row ids, in order. */
export async function rowIds(db: TestDuckDb, call: string): Promise<string[]> {
  return await db.column(`SELECT row_id FROM moraine_index_${call} ORDER BY row_id`);
}

/**
 * That an index holds what a scan of its table finds, no more and no less: every value looked up, every row that is not NULL in the
 * leading column, and those that are.
 */
export async function expectIndex(
  db: TestDuckDb,
  index: string,
  table: string,
  columns: readonly string[],
  schema = "main",
): Promise<void> {
  const target = `'lake', '${schema}', '${table}', '${index}'`;
  const scan = `SELECT rowid FROM lake."${schema}"."${table}"`;
  const key = columns.length === 1 ? columns[0] : `row(${columns.join(", ")})`;
  const present = columns.map((column) => `${column} IS NOT NULL`).join(" AND ");
  await db.run(
    `SET VARIABLE keys = (SELECT coalesce(list(DISTINCT ${key}), []) FROM lake."${schema}"."${table}" WHERE ${present})`,
  );
  const stored = [
    await rowIds(db, `in(${target}, getvariable('keys'))`),
    await rowIds(db, `range(${target}, NULL, NULL, true, true)`),
    await rowIds(db, `nulls(${target}, NULL)`),
  ];
  const scanned = [
    await db.column(`${scan} WHERE ${present} ORDER BY rowid`),
    await db.column(`${scan} WHERE ${columns[0]} IS NOT NULL ORDER BY rowid`),
    await db.column(`${scan} WHERE ${columns[0]} IS NULL ORDER BY rowid`),
  ];
  expect({ index, stored }).toEqual({ index, stored: scanned });
}
