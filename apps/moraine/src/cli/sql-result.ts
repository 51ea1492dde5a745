import type { StatementResult } from "@moraine/extension";
import { type Context, printLine, printTable } from "./context.js";
import { countText, durationText, type TableColumn } from "./output.js";

/** Prints what a statement gave: its rows as a table, or how many rows it changed; and how long it took. */
export function printResult(context: Context, { columns, rows, changed, elapsedMs }: StatementResult): void {
  const time = durationText(elapsedMs);
  if (changed !== undefined || columns.length === 0) {
    const what = changed === undefined ? "done" : `${countText(changed)} ${changed === 1 ? "row" : "rows"} changed`;
    printLine(context, `${what} (${time})`);
    return;
  }
  const shown = columns.map((title, at): TableColumn<readonly unknown[]> => {
    const right = rows.some((row) => typeof row[at] === "number");
    return { title, text: (row) => cellText(row[at]), ...(right ? { right } : {}) };
  });
  printTable(context, shown, rows);
  printLine(context, `${countText(rows.length)} ${rows.length === 1 ? "row" : "rows"} (${time})`);
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "string" ? value : JSON.stringify(value);
}
