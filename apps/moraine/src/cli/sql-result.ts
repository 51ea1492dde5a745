import type { StatementResult } from "@moraine/extension";
import { sqlCellWidth, sqlRowsShown } from "../limits.js";
import { type Context, printLine, printTable } from "./context.js";
import { countText, durationText, type TableColumn } from "./output.js";

/** Rows of a statement that are shown: at a terminal as many as a screen has, else all. */
export function rowsShown({ output }: Context): number | undefined {
  return output.stdout.isTTY === true ? sqlRowsShown : undefined;
}

/**
 * Prints what a statement gave: its rows as a table, or how many rows it changed; and how long it took. At a terminal only what has
 * room there, and it says what has not.
 */
export function printResult(context: Context, result: StatementResult): void {
  const { columns, rows, rowCount, changed, elapsedMs } = result;
  const time = durationText(elapsedMs);
  if (changed !== undefined || columns.length === 0) {
    printLine(context, `${changed === undefined ? "done" : `${rowsText(changed)} changed`} (${time})`);
    return;
  }
  const { isTTY, columns: width } = context.output.stdout;
  const all = columns.map((title, at): TableColumn<readonly unknown[]> => {
    const right = result.numeric[at] === true;
    return { title, text: (row) => cellText(row[at], isTTY === true), ...(right ? { right } : {}) };
  });
  const shown = isTTY === true && width !== undefined ? fitting(all, rows, width) : all;
  printTable(context, shown, rows);
  const parts = [rowsText(rowCount)];
  if (rows.length < rowCount) parts.push(`${countText(rowCount - rows.length)} more than shown`);
  if (shown.length < all.length) parts.push(`${countText(all.length - shown.length)} more columns than fit`);
  printLine(context, `${parts.join(", ")} (${time})`);
}

function rowsText(count: number): string {
  return `${countText(count)} ${count === 1 ? "row" : "rows"}`;
}

/** The first columns that have room in a line, and at least one. */
function fitting(
  columns: readonly TableColumn<readonly unknown[]>[],
  rows: readonly (readonly unknown[])[],
  width: number,
): TableColumn<readonly unknown[]>[] {
  let used = -2;
  const fit = columns.findIndex(({ title, text }) => {
    used += 2 + Math.max(title.length, ...rows.map((row) => text(row).length));
    return used > width;
  });
  return columns.slice(0, fit < 0 ? undefined : Math.max(fit, 1));
}

function cellText(value: unknown, isCut: boolean): string {
  const text = value === null ? "NULL" : typeof value === "string" ? value : JSON.stringify(value);
  return isCut && text.length > sqlCellWidth ? `${text.slice(0, sqlCellWidth - 1)}…` : text;
}
