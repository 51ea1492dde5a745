import {
  encodeIndexEntry,
  type IndexId,
  type IndexLayout,
  indexPrefix,
  parseColumnType,
  prefixEnd,
  type TableId,
} from "@moraine/codec";
import { type ReadView, rowKey, rowValue } from "@moraine/store";
import type { CatalogSnapshot } from "../../src/model/view.js";
import type { IndexInfo } from "../../src/model/view-types.js";
import type { ReadScope } from "../../src/index.js";
import { hex } from "./hooked-store.js";
import { type LakeReads, liveRows } from "./live-rows.js";

/** Entries of one index, `key=value` in hex, in key order. */
export async function storedEntries(view: ReadView, index: IndexId | bigint): Promise<string[]> {
  const entries: string[] = [];
  for (const shape of ["unique", "multi"] as const) {
    const prefix = indexPrefix(shape, index);
    for await (const block of view.scan({ start: prefix, end: prefixEnd(prefix) })) {
      for (let i = 0; i < block.count; i++) entries.push(`${hex(rowKey(block, i))}=${hex(rowValue(block, i))}`);
    }
  }
  return entries;
}

/** What the indexes of a table hold, and what its live rows ask for. The two must be equal. */
export interface IndexContents {
  readonly stored: Readonly<Record<string, readonly string[]>>;
  readonly expected: Readonly<Record<string, readonly string[]>>;
}

/** Recomputes the entries of a table's indexes from its live rows with the plain encoder. */
export async function indexContents(scope: ReadScope, reads: LakeReads, table: TableId): Promise<IndexContents> {
  const { snapshot } = scope;
  const stored: Record<string, readonly string[]> = {};
  const expected: Record<string, readonly string[]> = {};
  const indexes = snapshot.indexesOf(table);
  if (indexes.length === 0) return { stored, expected };
  const rows = await liveRows(scope, reads, table);
  for (const index of indexes) {
    const layout = layoutOf(snapshot, index);
    const entries = rows.map(({ rowId, values }) => {
      const { key, value } = encodeIndexEntry(
        layout,
        index.columns.map((column) => values.get(column) ?? null),
        rowId,
      );
      return `${hex(key)}=${hex(value)}`;
    });
    stored[index.name] = await storedEntries(reads.store, index.id);
    expected[index.name] = counted(entries.sort());
  }
  return { stored, expected };
}

/** Rows of one value and one provisional row id have one entry, which holds their number. */
function counted(entries: readonly string[]): string[] {
  const rows = new Map<string, number>();
  for (const entry of entries) rows.set(entry, (rows.get(entry) ?? 0) + 1);
  return [...rows].map(([entry, times]) => (times === 1 ? entry : entry + times.toString(16).padStart(16, "0")));
}

export function layoutOf(snapshot: CatalogSnapshot, index: IndexInfo): IndexLayout {
  const columns = snapshot.columnsOf(index.tableId);
  return {
    indexId: index.id,
    unique: index.unique,
    columns: index.columns.map((id, at) => ({
      valueType: parseColumnType(columns.find((column) => column.id === id)!.columnType).valueType,
      descending: index.directions[at] === "desc",
      nullsFirst: index.nulls[at] === "first",
    })),
  };
}
