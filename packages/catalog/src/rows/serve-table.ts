import { compareIds } from "../model/entities.js";
import { type CellOf, encodeBatches } from "./encode-batch.js";
import type { FollowStep } from "./follow-step.js";
import { type MetadataTable, metadataTables } from "./metadata-tables.js";
import { cells, type RowSources } from "./serve-cells.js";

export const metadataTableNames = Object.keys(metadataTables) as readonly MetadataTable[];

/** The rows of one metadata table that are made from these sources, in their order. */
export function* tableRows<T extends MetadataTable>(
  table: T,
  sources: readonly RowSources[T][],
): IterableIterator<FollowStep> {
  const columns = metadataTables[table];
  const ofTable = cells[table] as Readonly<Record<string, CellOf<RowSources[T]>>>;
  const inOrder = columns.map(({ name }) => ofTable[name] as CellOf<RowSources[T]>);
  for (const batch of encodeBatches(columns, inOrder, sources)) yield { kind: "rows", table, batch };
}

type IdsOf<S> = (source: S) => readonly bigint[];

/**
 * What the rows of a table are ordered by, so that they come as DuckLake would have written them: readers that ask for no order
 * see this one. Tables that are missing have their rows in the order in which their records are kept.
 */
const orders: { readonly [T in MetadataTable]?: IdsOf<RowSources[T]> } = {
  ducklake_schema: (row) => [row.beginSnapshot, row.schemaId],
  ducklake_table: (row) => [row.beginSnapshot, row.tableId],
  ducklake_view: (row) => [row.beginSnapshot, row.viewId],
  ducklake_tag: (row) => [row.part.beginSnapshot, row.of.objectId],
  ducklake_column_tag: (row) => [row.part.beginSnapshot, row.of.tableId, row.of.columnOrder],
  ducklake_data_file: (row) => [row.dataFileId],
  ducklake_delete_file: (row) => [row.deleteFileId],
  ducklake_column: (row) => [row.beginSnapshot, row.tableId, row.columnOrder],
  ducklake_partition_info: (row) => [row.partitionId],
  ducklake_partition_column: (row) => [row.of.partitionId],
  ducklake_file_partition_value: (row) => [row.of.dataFileId],
  ducklake_column_mapping: (row) => [row.mappingId],
  ducklake_name_mapping: (row) => [row.of.mappingId],
  ducklake_schema_versions: (row) => [row.beginSnapshot, row.tableId],
  ducklake_sort_info: (row) => [row.sortId],
  ducklake_sort_expression: (row) => [row.of.sortId],
};

/** Sorts sources of one table in place. Rows of one record stay in the order of its parts. */
function sortSources<T extends MetadataTable>(table: T, sources: RowSources[T][]): void {
  const idsOf = orders[table];
  if (idsOf === undefined || sources.length < 2) return;
  const keyed = sources.map((source) => ({ source, ids: idsOf(source) }));
  keyed.sort((a, b) => compareIds(a.ids, b.ids));
  keyed.forEach(({ source }, at) => {
    sources[at] = source;
  });
}

/** Sources of rows of several tables, collected before they are sorted and encoded. */
export class RowLists {
  readonly #lists = new Map<MetadataTable, RowSources[MetadataTable][]>();

  add<T extends MetadataTable>(table: T, source: RowSources[T]): void {
    const list = this.#lists.get(table);
    if (list === undefined) this.#lists.set(table, [source]);
    else list.push(source);
  }

  /** The rows of every table, and none left here. */
  *take(): IterableIterator<FollowStep> {
    for (const [table, sources] of this.#lists) {
      sortSources(table, sources);
      yield* tableRows(table, sources);
    }
    this.#lists.clear();
  }
}
