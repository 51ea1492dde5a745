import { type ColumnId, CorruptionError, type EntityValue, type IndexLayout, parseColumnType } from "@moraine/codec";
import type { CatalogReader } from "../model/state.js";

/** An index definition with everything that its keys depend on. */
export interface IndexContext {
  readonly definition: EntityValue["index"];
  readonly layout: IndexLayout;
  readonly columnIds: readonly ColumnId[];
  /** DuckLake type of each indexed column, for converting plain values. */
  readonly columnTypes: readonly string[];
}

/**
 * Resolves a definition against the table's columns. An indexed column cannot be dropped or change its type, so one that is
 * missing is damage.
 */
export function indexContext(reader: CatalogReader, definition: EntityValue["index"]): IndexContext {
  const columnTypes = definition.columnIds.map((columnId) => {
    const column = reader.get("column", definition.tableId, columnId);
    if (column === undefined) {
      throw new CorruptionError(
        `index ${definition.indexId} covers column ${columnId}, which table ${definition.tableId} does not have`,
      );
    }
    return column.columnType;
  });
  const layout: IndexLayout = {
    indexId: definition.indexId,
    unique: definition.unique,
    columns: columnTypes.map((columnType, position) => ({
      valueType: parseColumnType(columnType).valueType,
      descending: definition.columnDescending[position] ?? false,
      nullsFirst: definition.columnNullsFirst[position] ?? false,
    })),
  };
  return { definition, layout, columnIds: definition.columnIds as readonly ColumnId[], columnTypes };
}
