/** A statement that DuckDB, DuckLake or moraine refused, or could not run. The message is DuckDB's. */
export class StatementError extends Error {
  override readonly name = "StatementError";
  /** Which statement of its text it was, from 1 on; 0 where the text could not be read as SQL at all, and nothing ran. */
  readonly statement: number;
  /** Statements of the text. */
  readonly statements: number;

  constructor(cause: unknown, statement: number, statements: number) {
    const message = cause instanceof Error ? cause.message : String(cause);
    super(message.replace(/^Failed to extract statements: /u, ""), { cause });
    this.statement = statement;
    this.statements = statements;
  }
}
