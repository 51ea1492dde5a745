import { metadataTables } from "../../src/rows/metadata-tables.js";
import type { DdlChange, RowChanges, TableChanges } from "../../src/rows/row-changes.js";
import { createInlinedTable, dropTable, type PlainColumns, type PlainValue, tableChanges } from "./row-batches.js";

/** A row by column names. */
export type NamedRow = Readonly<Record<string, PlainValue>>;

interface StoredRow {
  values: PlainValue[];
  /** As the transaction found it; `undefined` for one that it inserted. */
  before: readonly PlainValue[] | undefined;
  /** Which insert brought it: each is a batch of its own. */
  readonly insert: number;
}

interface StoredTable {
  readonly columns: PlainColumns;
  rows: StoredRow[];
  deleted: (readonly PlainValue[])[];
}

const bigints = (...names: string[]): PlainColumns => names.map((name) => ({ name, type: "BIGINT" }));

/**
 * DuckLake's metadata tables in plain rows, as a DuckDB database would hold them. What is done since the last `take` is one
 * transaction; `take` gives it in the form in which the shim would send it.
 */
export class MetadataDatabase {
  readonly #tables = new Map<string, StoredTable>();
  #ddl: DdlChange[] = [];
  readonly #dropped = new Map<string, StoredTable>();
  #inserts = 0;

  constructor() {
    for (const [name, columns] of Object.entries(metadataTables)) this.#create(name, columns);
  }

  #create(name: string, columns: PlainColumns): void {
    this.#tables.set(name, { columns, rows: [], deleted: [] });
  }

  createInlined(table: bigint, version: bigint, columns: PlainColumns): string {
    const name = `ducklake_inlined_data_${table}_${version}`;
    const change = createInlinedTable(table, version, columns);
    this.#ddl.push(change);
    this.#create(name, change.columns);
    this.insert("ducklake_inlined_data_tables", [table, name, version]);
    return name;
  }

  createInlinedDeletes(table: bigint): string {
    const name = `ducklake_inlined_delete_${table}`;
    if (this.#tables.has(name)) return name;
    const columns = bigints("file_id", "row_id", "begin_snapshot");
    this.#ddl.push({ kind: "create_table", schema: "main", name, columns, sql: `CREATE TABLE ${name}` });
    this.#create(name, columns);
    return name;
  }

  dropInlined(name: string): void {
    const table = this.#tables.get(name);
    if (table === undefined) return;
    this.#tables.delete(name);
    this.#dropped.set(name, table);
    this.#ddl.push(dropTable(name));
    this.delete("ducklake_inlined_data_tables", (row) => row["table_name"] === name);
  }

  has(name: string): boolean {
    return this.#tables.has(name);
  }

  names(): string[] {
    return [...this.#tables.keys()];
  }

  /** Missing values at the end are NULL. */
  insert(name: string, ...rows: (readonly PlainValue[])[]): void {
    const table = this.#table(name);
    this.#inserts += 1;
    for (const row of rows) {
      const values = table.columns.map((_, at) => row[at] ?? null);
      table.rows.push({ values, before: undefined, insert: this.#inserts });
    }
  }

  /** Gives how many rows were updated. */
  update(name: string, where: (row: NamedRow) => boolean, patch: NamedRow): number {
    const table = this.#table(name);
    const rows = table.rows.filter(({ values }) => where(named(table, values)));
    for (const row of rows) {
      row.values = row.values.map((value, at) => {
        const column = table.columns[at]!.name;
        return column in patch ? patch[column] : value;
      });
    }
    return rows.length;
  }

  delete(name: string, where: (row: NamedRow) => boolean): NamedRow[] {
    const table = this.#table(name);
    const gone = table.rows.filter(({ values }) => where(named(table, values)));
    for (const row of gone) {
      table.rows.splice(table.rows.indexOf(row), 1);
      if (row.before !== undefined) table.deleted.push(row.before);
    }
    return gone.map(({ values }) => named(table, values));
  }

  rows(name: string): NamedRow[] {
    const table = this.#table(name);
    return table.rows.map(({ values }) => named(table, values));
  }

  /** What was done since the last `take`. */
  changes(): RowChanges {
    const tables: TableChanges[] = [];
    for (const [name, table] of this.#tables) {
      const updated = table.rows.flatMap(({ values, before }): [readonly PlainValue[], readonly PlainValue[]][] =>
        before !== undefined && before.some((value, at) => value !== values[at]) ? [[before, values]] : [],
      );
      const fresh = table.rows.filter(({ before }) => before === undefined);
      const inserts = [...new Set(fresh.map(({ insert }) => insert))].map((insert) =>
        fresh.filter((row) => row.insert === insert).map(({ values }) => values),
      );
      const { deleted } = table;
      if (updated.length + fresh.length + deleted.length === 0) continue;
      tables.push(tableChanges(name, table.columns, { updated, inserts, deleted }));
    }
    return { ddl: this.#ddl, tables };
  }

  /** The same, which is then done. */
  take(): RowChanges {
    const changes = this.changes();
    for (const table of this.#tables.values()) {
      table.deleted = [];
      for (const row of table.rows) row.before = row.values;
    }
    this.#ddl = [];
    this.#dropped.clear();
    return changes;
  }

  /** Undoes what was done since the last time. */
  rollback(): void {
    for (const { kind, name } of this.#ddl) if (kind === "create_table") this.#tables.delete(name);
    for (const [name, table] of this.#dropped) this.#tables.set(name, table);
    for (const table of this.#tables.values()) {
      const kept = table.rows.flatMap(({ before }) => (before === undefined ? [] : [before]));
      table.rows = [...kept, ...table.deleted].map((values) => ({ values: [...values], before: values, insert: 0 }));
      table.deleted = [];
    }
    this.#ddl = [];
    this.#dropped.clear();
  }

  #table(name: string): StoredTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`no table ${name}`);
    return table;
  }
}

function named({ columns }: StoredTable, values: readonly PlainValue[]): NamedRow {
  return Object.fromEntries(columns.map(({ name }, at) => [name, values[at]]));
}
