import { CorruptionError, type LooseRowValue } from "@moraine/codec";
import type { CatalogState } from "../model/state.js";
import { encodeBatches } from "./encode-batch.js";
import type { Cell } from "./encode-column.js";
import type { FollowOutput } from "./follow-output.js";
import type { FollowStep } from "./follow-step.js";
import { type LooseTable, rowText } from "./loose-rows.js";
import { metadataTables } from "./metadata-tables.js";

const looseTables: readonly LooseTable[] = ["ducklake_column_tag", "ducklake_snapshot_changes"];

/** Rows that belong to no other record, as they are. Fails with `corruption` for a table that has none. */
export function* looseSteps(rows: readonly LooseRowValue[]): IterableIterator<FollowStep> {
  for (const row of rows) tableOf(row);
  for (const table of looseTables) {
    const ofTable = rows.filter((row) => row.table === table);
    const columns = metadataTables[table];
    const cells = columns.map(
      (_, at) =>
        (row: LooseRowValue): Cell =>
          cellOf(row, at) ?? undefined,
    );
    for (const batch of encodeBatches(columns, cells, ofTable)) yield { kind: "rows", table, batch };
  }
}

/** Comes after everything else: what takes rows of a record out takes loose ones out that look alike, and they come back. */
export function followLoose(before: CatalogState, after: CatalogState, out: FollowOutput): void {
  if (before.looseRows.length + after.looseRows.length === 0) return;
  const left = after.looseRows.map(rowText);
  const known = before.looseRows.map(rowText);
  for (const row of before.looseRows) {
    const text = rowText(row);
    if (count(left, text) === count(known, text) || out.takesOut(tableOf(row), new Map(whereOf(row)))) continue;
    out.delete(tableOf(row), whereOf(row));
  }
  const back: LooseRowValue[] = [];
  for (const row of after.looseRows) {
    const text = rowText(row);
    const at = known.indexOf(text);
    if (at < 0 || out.takesOut(tableOf(row), new Map(whereOf(row)))) back.push(row);
    else known.splice(at, 1);
  }
  for (const step of looseSteps(back)) out.addRows(step);
}

function count(texts: readonly string[], text: string): number {
  return texts.filter((one) => one === text).length;
}

function whereOf(row: LooseRowValue): [column: string, value: bigint | string | null][] {
  return metadataTables[tableOf(row)].map(({ name }, at) => [name, cellOf(row, at)]);
}

function cellOf(row: LooseRowValue, at: number): bigint | string | null {
  const text = row.cells[at]?.text;
  if (text === undefined) return null;
  return metadataTables[tableOf(row)][at]?.type === "BIGINT" ? BigInt(text) : text;
}

function tableOf({ table, cells }: LooseRowValue): LooseTable {
  const found = looseTables.find((name) => name === table);
  if (found !== undefined && cells.length === metadataTables[found].length) return found;
  throw new CorruptionError(`the record of loose rows holds a row of ${cells.length} cells of another table`);
}
