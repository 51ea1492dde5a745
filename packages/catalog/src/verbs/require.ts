import { type EntityValue, AlreadyExistsError, NotFoundError } from "@moraine/codec";
import { quoted } from "../model/error-text.js";
import type { CatalogReader } from "../model/state.js";

export function requireSchema(reader: CatalogReader, schemaId: bigint): EntityValue["schema"] {
  const schema = reader.get("schema", schemaId);
  if (schema === undefined) throw new NotFoundError(`schema ${schemaId}`);
  return schema;
}

export function requireTable(reader: CatalogReader, tableId: bigint): EntityValue["table"] {
  const table = reader.get("table", tableId);
  if (table === undefined) throw new NotFoundError(`table ${tableId}`);
  return table;
}

export function requireView(reader: CatalogReader, viewId: bigint): EntityValue["view"] {
  const view = reader.get("view", viewId);
  if (view === undefined) throw new NotFoundError(`view ${viewId}`);
  return view;
}

export function requireColumn(reader: CatalogReader, tableId: bigint, columnId: bigint): EntityValue["column"] {
  const column = reader.get("column", tableId, columnId);
  if (column === undefined) throw new NotFoundError(`column ${columnId} of table ${tableId}`);
  return column;
}

export function requireDataFile(reader: CatalogReader, tableId: bigint, dataFileId: bigint): EntityValue["data_file"] {
  const file = reader.get("data_file", tableId, dataFileId);
  if (file === undefined) throw new NotFoundError(`data file ${dataFileId} of table ${tableId}`);
  return file;
}

/**
 * Tables and views of a schema share one namespace, in which case does not count. `renamed` is a table that gives up its name
 * for the new one: it may change the case of it.
 */
export function requireFreeRelationName(
  reader: CatalogReader,
  schemaId: bigint,
  name: string,
  renamed?: EntityValue["table"],
): void {
  const table = reader
    .tablesLike(schemaId, name)
    .find(({ tableId, tableName }) => tableId !== renamed?.tableId || tableName === name);
  if (table !== undefined) throw new AlreadyExistsError(`a table ${quoted(table.tableName)} in schema ${schemaId}`);
  const view = reader.viewsLike(schemaId, name)[0];
  if (view !== undefined) throw new AlreadyExistsError(`a view ${quoted(view.viewName)} in schema ${schemaId}`);
}
