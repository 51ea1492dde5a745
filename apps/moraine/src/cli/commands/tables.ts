import type { Command } from "commander";
import type { CatalogSnapshot, ReadOnlyCatalog } from "../../interface.js";
import {
  type Context,
  type JsonOption,
  printJson,
  printLine,
  printTable,
  reading,
  storeHelp,
  withCommonOptions,
} from "../context.js";
import { allTables, type FoundTable } from "../find.js";
import { countText } from "../output.js";

interface TableRow extends FoundTable {
  readonly columns: readonly {
    readonly id: bigint;
    readonly name: string;
    readonly type: string;
    readonly nullsAllowed: boolean;
  }[];
  readonly dataFiles: number;
  readonly deleteFiles: number;
  /** Rows of data files that no delete file names. */
  readonly fileRows: bigint;
  readonly inlineRows: number;
  readonly indexes: number;
}

export function addTables(program: Command, context: Context): void {
  const command = program
    .command("tables")
    .summary("list the tables of a catalog")
    .description("Lists the tables of a catalog at its head, with their files, rows and indexes.")
    .argument("<store>", storeHelp)
    .action(async (store: string, options: JsonOption) => {
      await reading(store, async (catalog) => {
        const snapshot = await catalog.snapshot();
        const rows: TableRow[] = [];
        for (const found of allTables(snapshot)) rows.push(await describe(catalog, snapshot, found));
        if (options.json === true) printAsJson(context, snapshot, rows);
        else printAsTable(context, rows);
      });
    });
  withCommonOptions(command, "moraine tables .moraine/demo/store");
}

async function describe(catalog: ReadOnlyCatalog, snapshot: CatalogSnapshot, found: FoundTable): Promise<TableRow> {
  const { id } = found.table;
  const dataFiles = snapshot.dataFilesOf(id);
  const deleteFiles = snapshot.deleteFilesOf(id);
  return {
    ...found,
    columns: snapshot
      .columnsOf(id)
      .filter((column) => column.parentColumn === undefined)
      .map((column) => ({
        id: column.id,
        name: column.name,
        type: column.columnType,
        nullsAllowed: column.nullsAllowed,
      })),
    dataFiles: dataFiles.length,
    deleteFiles: deleteFiles.length,
    fileRows:
      dataFiles.reduce((sum, file) => sum + file.recordCount, 0n) -
      deleteFiles.reduce((sum, file) => sum + file.deleteCount, 0n),
    inlineRows: (await catalog.recentRows({ table: id })).length,
    indexes: snapshot.indexesOf(id).length,
  };
}

function printAsJson(context: Context, snapshot: CatalogSnapshot, rows: readonly TableRow[]): void {
  printJson(context, {
    snapshot: snapshot.currentSnapshot.id,
    dataPath: snapshot.dataPath() ?? null,
    tables: rows.map(({ schema, table, ...row }) => ({ schema: schema.name, table: table.name, id: table.id, ...row })),
  });
}

function printAsTable(context: Context, rows: readonly TableRow[]): void {
  if (rows.length === 0) return printLine(context, "The catalog has no tables.");
  printTable(
    context,
    [
      { title: "schema", text: (row) => row.schema.name },
      { title: "table", text: (row) => row.table.name },
      { title: "id", text: (row) => row.table.id.toString(), right: true },
      { title: "files", text: (row) => countText(row.dataFiles), right: true },
      { title: "rows in files", text: (row) => countText(row.fileRows), right: true },
      { title: "inline rows", text: (row) => countText(row.inlineRows), right: true },
      { title: "indexes", text: (row) => countText(row.indexes), right: true },
      { title: "columns", text: (row) => row.columns.map(({ name, type }) => `${name} ${type}`).join(", ") },
    ],
    rows,
  );
}
