import type Database from "better-sqlite3";
import type { Figure } from "../figure.js";
import { SqliteTable, type Synchronous } from "./sqlite-table.js";

/** Name of an area's benchmark of the peer. */
export const peerName = "better-sqlite3";

/** How rows of the peer begin, with its settings. */
export const peerLabel = (synchronous: Synchronous): string => `better-sqlite3 (WAL, ${synchronous})`;

export const bothSynchronous: readonly Synchronous[] = ["NORMAL", "FULL"];

type Loaded = { readonly constructor: typeof Database } | { readonly problem: string };

let loaded: Promise<Loaded> | undefined;

/** The native part is compiled on the first `npm run bench`, which not every machine can do. */
async function load(): Promise<Loaded> {
  try {
    const { default: constructor } = await import("better-sqlite3");
    new constructor(":memory:").close();
    return { constructor };
  } catch (error) {
    const [line = "no reason given"] = String(error instanceof Error ? error.message : error).split("\n");
    return { problem: line };
  }
}

/**
 * Measures the peer on a database file. Where it cannot be loaded, each figure comes without a value and says why.
 */
export async function withSqlite(
  path: string,
  synchronous: Synchronous,
  names: readonly string[],
  measure: (table: SqliteTable, reopen: () => SqliteTable) => Figure[] | Promise<Figure[]>,
): Promise<Figure[]> {
  loaded ??= load();
  const module = await loaded;
  if ("problem" in module) {
    const note = `better-sqlite3 cannot be loaded: ${module.problem}`;
    return names.map((name) => ({ name, value: null, unit: "", note }));
  }
  const open = (): SqliteTable => new SqliteTable(new module.constructor(path), synchronous);
  let table = open();
  try {
    return await measure(table, () => {
      table.close();
      table = open();
      return table;
    });
  } finally {
    table.close();
  }
}
