import type { ColumnValue } from "@moraine/codec";
import type { CatalogReader } from "../model/state.js";
import { encodeSchema, parseSchema } from "./arrow-schema.js";
import type { WritableColumn } from "./encode-rows.js";
import type { RegisteredSchema } from "./registry.js";

/** A table's top-level columns in column order, each with its nested fields. */
export function topLevelColumns(reader: CatalogReader, tableId: bigint): WritableColumn[] {
  return columnTree(reader.list("column", tableId));
}

/** The same from records of one table's columns, all of one moment. */
export function columnTree(records: readonly ColumnValue[]): WritableColumn[] {
  const columns = records.toSorted(byOrder);
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

/** What a table's columns make of its inline rows: the columns as a tree, and the Arrow schema that rows of plain values have. */
export interface InlineShape {
  readonly columns: readonly WritableColumn[];
  readonly schema: RegisteredSchema;
}

/** Shapes by the record of the table's first column: records are shared between states until they change. */
const shapes = new WeakMap<ColumnValue, { readonly of: readonly ColumnValue[]; readonly shape: InlineShape }>();

/** The shape of a table's inline rows. Worked out once for as long as no column changes. */
export function inlineShape(reader: CatalogReader, tableId: bigint): InlineShape {
  const records = reader.list("column", tableId);
  const first = records[0];
  const known = first === undefined ? undefined : shapes.get(first);
  if (known !== undefined && known.of.length === records.length && known.of.every((record, i) => record === records[i]))
    return known.shape;
  const columns = topLevelColumns(reader, tableId);
  const bytes = encodeSchema(columns);
  const shape = { columns, schema: { bytes, parsed: parseSchema(bytes) } };
  if (first !== undefined) shapes.set(first, { of: records, shape });
  return shape;
}
