import type Database from "better-sqlite3";
import type { ValueRun } from "../lake.js";

/** How often SQLite waits for the disk: NORMAL in checkpoints only, FULL at every commit. */
export type Synchronous = "NORMAL" | "FULL";

/** A row as it is inserted: `v`, `g`, `name`. */
export type SqliteRow = readonly [value: number, group: number, name: string | null];

/** The table of the benchmarks in SQLite: the same columns and indexes, in WAL mode. */
export class SqliteTable {
  readonly #database: Database;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #insert: Database.Statement;
  readonly #byValue: Database.Statement;
  readonly #byGroup: Database.Statement;
  readonly #range: Database.Statement;

  constructor(database: Database, synchronous: Synchronous) {
    this.#database = database;
    database.pragma("journal_mode = WAL");
    database.pragma(`synchronous = ${synchronous}`);
    database.exec(`
      CREATE TABLE IF NOT EXISTS events (v INTEGER, g INTEGER, name TEXT);
      CREATE UNIQUE INDEX IF NOT EXISTS by_value ON events (v);
      CREATE INDEX IF NOT EXISTS by_group ON events (g);`);
    this.#begin = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
    this.#insert = database.prepare("INSERT INTO events VALUES (?, ?, ?)");
    this.#byValue = database.prepare("SELECT rowid FROM events WHERE v = ?").pluck();
    this.#byGroup = database.prepare("SELECT rowid FROM events WHERE g = ?").pluck();
    this.#range = database.prepare("SELECT rowid FROM events WHERE v >= ? ORDER BY v LIMIT ?").pluck();
  }

  /** One transaction. */
  insert(rows: Iterable<SqliteRow>): void {
    this.#begin.run();
    for (const row of rows) this.#insert.run(...row);
    this.#commit.run();
  }

  /** One transaction of rows without a name, as `registerRows` registers them. */
  insertRun({ first, step, count }: ValueRun, fanOut = 1): void {
    this.#begin.run();
    for (let i = 0; i < count; i++) this.#insert.run(first + i * step, Math.floor((first / step + i) / fanOut), null);
    this.#commit.run();
  }

  /** Row ids of the rows with that value: one or none. */
  byValue(value: number): unknown[] {
    return this.#byValue.all(value);
  }

  byGroup(group: number): unknown[] {
    return this.#byGroup.all(group);
  }

  /** Row ids of so many rows from a value on, in the order of the values. */
  range(from: number, limit: number): unknown[] {
    return this.#range.all(from, limit);
  }

  /** `byValue` for each value, in one read transaction. */
  byValues(values: readonly number[]): unknown[] {
    this.#begin.run();
    const rowIds = values.map((value) => this.#byValue.get(value));
    this.#commit.run();
    return rowIds;
  }

  close(): void {
    this.#database.close();
  }
}
