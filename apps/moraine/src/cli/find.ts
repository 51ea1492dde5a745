import { ConstraintError, NotFoundError } from "@moraine/codec";
import { quoted } from "../describe.js";
import type { CatalogSnapshot, ColumnInfo, IndexInfo, SchemaInfo, TableInfo } from "../interface.js";

export interface FoundTable {
  readonly schema: SchemaInfo;
  readonly table: TableInfo;
}

export interface FoundIndex extends FoundTable {
  readonly index: IndexInfo;
  /** In the index's order. */
  readonly columns: readonly ColumnInfo[];
}

export function allTables(snapshot: CatalogSnapshot): FoundTable[] {
  return snapshot
    .schemas()
    .flatMap((schema) => snapshot.tablesIn(schema.id).map((table): FoundTable => ({ schema, table })));
}

export function allIndexes(
  snapshot: CatalogSnapshot,
  tables: readonly FoundTable[] = allTables(snapshot),
): FoundIndex[] {
  return tables.flatMap(({ schema, table }) => {
    const columns = new Map(snapshot.columnsOf(table.id).map((column) => [column.id, column]));
    return snapshot.indexesOf(table.id).map((index): FoundIndex => ({
      schema,
      table,
      index,
      columns: index.columns.flatMap((id) => columns.get(id) ?? []),
    }));
  });
}

/** The table of a plain or schema-qualified name, or of an id. Case counts only where names differ in nothing else. */
export function findTable(snapshot: CatalogSnapshot, name: string): FoundTable {
  const namesOf = ({ schema, table }: FoundTable): string[] => [
    `${schema.name}.${table.name}`,
    table.name,
    table.id.toString(),
  ];
  return findOne("table", name, allTables(snapshot), namesOf);
}

/** The index of a plain, schema-qualified or schema-and-table-qualified name, or of an id. */
export function findIndex(snapshot: CatalogSnapshot, name: string): FoundIndex {
  return findOne("index", name, allIndexes(snapshot), indexNames);
}

export function qualifiedIndexName({ schema, index }: FoundIndex): string {
  return `${schema.name}.${index.name}`;
}

function indexNames({ schema, table, index }: FoundIndex): string[] {
  return [
    `${schema.name}.${table.name}.${index.name}`,
    `${schema.name}.${index.name}`,
    index.name,
    index.id.toString(),
  ];
}

function findOne<T>(kind: "table" | "index", name: string, all: readonly T[], namesOf: (item: T) => string[]): T {
  const exact = all.filter((item) => namesOf(item).includes(name));
  const folded = name.toLowerCase();
  const found =
    exact.length > 0 ? exact : all.filter((item) => namesOf(item).some((each) => each.toLowerCase() === folded));
  const [first, second] = found;
  if (first === undefined) {
    throw new NotFoundError(`${kind} ${quoted(name)}`, {
      remedy:
        kind === "index"
          ? "List the indexes with `moraine indexes <store>`."
          : "List the tables with `moraine tables <store>`.",
    });
  }
  if (second !== undefined) {
    const candidates = found.map((item) => quoted(namesOf(item)[0] ?? "")).join(", ");
    throw new ConstraintError(
      `${found.length} ${kind === "index" ? "indexes" : "tables"} are called ${quoted(name)}: ${candidates}`,
      {
        remedy: "Write the name in full, or the id.",
      },
    );
  }
  return first;
}
