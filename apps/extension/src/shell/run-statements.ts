import type { DuckDBConnection, DuckDBMaterializedResult } from "@duckdb/node-api";
import { isBlank } from "./split-input.js";
import { StatementError } from "./statement-error.js";

/** What one statement gave. */
export interface StatementResult {
  readonly columns: readonly string[];
  /** Which columns hold numbers. */
  readonly numeric: readonly boolean[];
  /** Rows by column, in the form that was asked for; at most as many as were asked for. */
  readonly rows: readonly (readonly unknown[])[];
  /** Rows that the statement gave. */
  readonly rowCount: number;
  /** Rows that the statement changed; `undefined` where it returns rows of its own, or none at all. */
  readonly changed: number | undefined;
  readonly elapsedMs: number;
}

export interface StatementOptions {
  /**
   * `json`: values as JSON has them, 64-bit integers, decimals and times as text. `text`: each value as DuckDB writes it, SQL NULL
   * as `null`.
   */
  readonly form: "json" | "text";
  /** How many rows of a statement are wanted. Default: all. */
  readonly rowLimit?: number | undefined;
}

/**
 * Runs the statements of a text one by one, and hands over what each gave. The first that fails ends it; where one cannot be read
 * as SQL, none runs. Errors: `StatementError`.
 */
export async function runStatements(
  connection: DuckDBConnection,
  sql: string,
  options: StatementOptions,
  each: (result: StatementResult) => void,
): Promise<void> {
  // DuckDB has no text of its own to say that there is nothing to do.
  if (isBlank(sql)) return;
  const statements = await connection.extractStatements(sql).catch((cause: unknown) => {
    throw new StatementError(cause, 0, 0);
  });
  for (let at = 0; at < statements.count; at++) {
    const beganMs = performance.now();
    try {
      const prepared = await statements.prepare(at);
      try {
        each(await read(await prepared.run(), options, beganMs));
      } finally {
        prepared.destroySync();
      }
    } catch (cause) {
      throw new StatementError(cause, at + 1, statements.count);
    }
  }
}

async function read(
  result: DuckDBMaterializedResult,
  { form, rowLimit }: StatementOptions,
  beganMs: number,
): Promise<StatementResult> {
  // Loaded here: who only asks for a service needs no DuckDB.
  const { DuckDBResultReader, JsonDuckDBValueConverter, ResultReturnType } = await import("@duckdb/node-api");
  const elapsedMs = performance.now() - beganMs;
  const { returnType, rowCount, rowsChanged } = result;
  const numbers = await numericTypes();
  const reader = new DuckDBResultReader(result);
  await reader.readUntil(rowLimit ?? rowCount);
  const all =
    form === "json"
      ? reader.convertRows(JsonDuckDBValueConverter)
      : reader.convertRows((value) => (value === null ? null : String(value)));
  const gives = returnType !== ResultReturnType.NOTHING;
  return {
    columns: gives ? result.deduplicatedColumnNames() : [],
    numeric: gives ? result.columnTypes().map(({ typeId }) => numbers.has(typeId)) : [],
    rows: gives ? all.slice(0, rowLimit) : [],
    rowCount: gives ? rowCount : 0,
    changed: returnType === ResultReturnType.CHANGED_ROWS ? rowsChanged : undefined,
    elapsedMs,
  };
}

async function numericTypes(): Promise<ReadonlySet<number>> {
  const { DuckDBTypeId: id } = await import("@duckdb/node-api");
  const integers = [id.TINYINT, id.SMALLINT, id.INTEGER, id.BIGINT, id.HUGEINT, id.BIGNUM];
  const unsigned = [id.UTINYINT, id.USMALLINT, id.UINTEGER, id.UBIGINT, id.UHUGEINT];
  return new Set([...integers, ...unsigned, id.FLOAT, id.DOUBLE, id.DECIMAL]);
}
