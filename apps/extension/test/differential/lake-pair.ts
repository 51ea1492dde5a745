import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";

/** What a statement came to: rows in DuckDB's own text, or the class and text of its error. */
export type Outcome = { readonly rows: readonly string[] } | { readonly errorClass: string; readonly error: string };

export const ours = "ours";
export const stock = "stock";

/** Two lakes in one DuckDB: `ours` on a moraine store, `stock` on a DuckDB file. */
export class LakePair {
  readonly connection: DuckDBConnection;
  readonly #folder: string;

  constructor(connection: DuckDBConnection, folder: string) {
    this.connection = connection;
    this.#folder = folder;
  }

  async attach(): Promise<void> {
    await this.attachOurs();
    const folder = this.#folder;
    await this.connection.run(
      `ATTACH 'ducklake:${join(folder, "stock.db")}' AS ${stock} (DATA_PATH '${join(folder, "stock-data")}/')`,
    );
  }

  async attachOurs(): Promise<void> {
    const folder = this.#folder;
    await this.connection.run(
      `ATTACH 'ducklake:moraine:${join(folder, "store")}' AS ${ours} (DATA_PATH '${join(folder, "our-data")}/')`,
    );
  }

  /** Attaches our lake anew, so that its metadata come from the store and not from what this process did. */
  async reattachOurs(): Promise<void> {
    await this.connection.run(`DETACH ${ours}`);
    await this.attachOurs();
  }

  /** Ends the transaction that a failed workload left open. */
  async rollBack(): Promise<void> {
    await this.run(ours, "ROLLBACK");
  }

  async detach(): Promise<void> {
    await this.connection.run(`DETACH ${ours}`);
    await this.connection.run(`DETACH ${stock}`);
  }

  /** A statement for one of the two lakes, with what stands in braces replaced. */
  textFor(lake: string, sql: string): string {
    return sql.replaceAll("{lake}", lake).replaceAll("{files}", this.#folder);
  }

  async run(lake: string, sql: string): Promise<Outcome> {
    try {
      return { rows: await this.rows(this.textFor(lake, sql)) };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { errorClass: /^[A-Za-z ]*Error/u.exec(text)?.[0] ?? "unknown", error: text };
    }
  }

  /** Rows of a query, each as DuckDB writes it as text. */
  async rows(sql: string): Promise<string[]> {
    const result = await this.connection.runAndReadAll(sql);
    return result.getRows().map((row) => row.map((value) => (value === null ? "NULL" : String(value))).join("|"));
  }

  /** Whether the tables of a query are there. */
  async has(sql: string): Promise<boolean> {
    try {
      (await this.connection.prepare(sql)).destroySync();
      return true;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("Catalog Error")) return false;
      throw error;
    }
  }

  async number(sql: string): Promise<number> {
    const [row] = await this.rows(sql);
    if (row === undefined) throw new Error(`no row: ${sql}`);
    return Number(row);
  }
}

export function failed(outcome: Outcome): outcome is { readonly errorClass: string; readonly error: string } {
  return "error" in outcome;
}
