import type { ColumnValue } from "@moraine/codec";
import type { CatalogReader } from "../model/state.js";
import type { WritableColumn } from "./encode-rows.js";

/** A table's top-level columns in column order, each with its nested fields. */
export function columnTree(reader: CatalogReader, tableId: bigint): WritableColumn[] {
  const columns = reader.list("column", tableId).sort(byOrder);
  const byParent = new Map<bigint | undefined, ColumnValue[]>();
  for (const column of columns) {
    const siblings = byParent.get(column.parentColumn);
    if (siblings === undefined) byParent.set(column.parentColumn, [column]);
    else siblings.push(column);
  }
  const build = (parent: bigint | undefined): WritableColumn[] =>
    (byParent.get(parent) ?? []).map((column) => ({
      name: column.columnName,
      columnType: column.columnType,
      nullsAllowed: column.nullsAllowed,
      children: build(column.columnId),
    }));
  return build(undefined);
}

function byOrder(a: ColumnValue, b: ColumnValue): number {
  return a.columnOrder < b.columnOrder ? -1 : a.columnOrder > b.columnOrder ? 1 : 0;
}
