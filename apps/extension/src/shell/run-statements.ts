import type { DuckDBConnection } from "@duckdb/node-api";

/** What one statement gave. */
export interface StatementResult {
  readonly columns: readonly string[];
  /** Rows by column, values as JSON has them: 64-bit integers, decimals and times as text. */
  readonly rows: readonly (readonly unknown[])[];
  /** Rows that the statement changed; `undefined` where it returns rows of its own. */
  readonly changed: number | undefined;
  readonly elapsedMs: number;
}

/** Runs the statements of a text one by one, and hands over what each gave. The first that fails ends it. */
export async function runStatements(
  connection: DuckDBConnection,
  sql: string,
  each: (result: StatementResult) => void,
): Promise<void> {
  const statements = await connection.extractStatements(sql);
  for (let at = 0; at < statements.count; at++) {
    const beganMs = performance.now();
    const prepared = await statements.prepare(at);
    try {
      const reader = await prepared.runAndReadAll();
      const columns = reader.deduplicatedColumnNames();
      const objects = reader.getRowObjectsJson();
      const rows = objects.map((row) => columns.map((column) => row[column] ?? null));
      const changes = columns.length === 1 && columns[0] === "Count" && reader.rowsChanged > 0;
      each({
        columns,
        rows,
        changed: changes ? reader.rowsChanged : undefined,
        elapsedMs: performance.now() - beganMs,
      });
    } finally {
      prepared.destroySync();
    }
  }
}
