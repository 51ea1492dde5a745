/** What the benchmarks use of better-sqlite3, which comes without types. */
declare module "better-sqlite3" {
  class Database {
    constructor(path: string);
    exec(sql: string): this;
    pragma(pragma: string): unknown;
    prepare(sql: string): Database.Statement;
    close(): this;
  }
  namespace Database {
    interface Statement {
      run(...values: unknown[]): unknown;
      get(...values: unknown[]): unknown;
      all(...values: unknown[]): unknown[];
      /** Rows become the value of their first column. */
      pluck(): this;
    }
  }
  export = Database;
}
