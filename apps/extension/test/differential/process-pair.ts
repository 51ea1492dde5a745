import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { literal } from "../../src/duckdb/sql-text.js";
import type { SqlProcess } from "../support/sql-process.js";
import { LakePair, type Outcome, ours } from "./lake-pair.js";
import type { Random } from "./random.js";

/**
 * A pair of lakes of which `ours` is written to by two processes in turns, a transaction or a statement each. This process looks at
 * it as a third one.
 */
export class ProcessPair extends LakePair {
  readonly writers: readonly SqlProcess[];
  readonly #random: Random;
  readonly #folder: string;
  #turn = 0;
  #isInTransaction = false;

  constructor(connection: DuckDBConnection, folder: string, writers: readonly SqlProcess[], random: Random) {
    super(connection, folder);
    this.writers = writers;
    this.#random = random;
    this.#folder = folder;
  }

  override async attach(): Promise<void> {
    await super.attach();
    for (const writer of this.writers) {
      // With several threads DuckLake gives row ids in an order that differs from run to run.
      await writer.rows("SET threads = 1");
      await writer.rows(`ATTACH ${literal(`ducklake:moraine:${join(this.#folder, "store")}`)} AS ${ours}`);
    }
  }

  override async detach(): Promise<void> {
    for (const writer of this.writers) await writer.rows(`DETACH ${ours}`);
    await super.detach();
  }

  override async run(lake: string, sql: string): Promise<Outcome> {
    if (lake !== ours) return await super.run(lake, sql);
    if (!this.#isInTransaction && this.#random.chance(0.6)) this.#turn = 1 - this.#turn;
    if (sql === "BEGIN") this.#isInTransaction = true;
    if (sql === "COMMIT" || sql === "ROLLBACK") this.#isInTransaction = false;
    const outcome = await outcomeIn(this.writers[this.#turn], this.textFor(lake, sql));
    // DuckLake reads options when it attaches, and not again: what one process sets, the others have to be told.
    if (sql.includes("set_option")) await outcomeIn(this.writers[1 - this.#turn], this.textFor(lake, sql));
    return outcome;
  }
}

/** Runs a statement in a process, as `LakePair` does in this one. */
export async function outcomeIn(process: SqlProcess | undefined, sql: string): Promise<Outcome> {
  if (process === undefined) throw new Error("no such process");
  const outcome = await process.run(sql);
  if ("killed" in outcome) throw new Error(`the process ended: ${sql}`);
  if ("rows" in outcome) return { rows: outcome.rows.map((row) => row.join("|")) };
  return { errorClass: /^[A-Za-z ]*Error/u.exec(outcome.error)?.[0] ?? "unknown", error: outcome.error };
}
