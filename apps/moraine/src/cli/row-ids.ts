import type { RowId } from "@moraine/codec";
import type { ReadOnlyCatalog } from "../interface.js";
import { type Context, printJson, printLine, reading } from "./context.js";
import { findIndex, type FoundIndex, qualifiedIndexName } from "./find.js";
import { countText, durationText } from "./output.js";

/** What a read of an index found, with how long the read itself took. */
interface Answer {
  readonly found: FoundIndex;
  readonly rowIds: readonly RowId[];
  readonly elapsedMs: number;
}

/** Reads an index and prints the row ids: alone on their lines, so that other programs can take them, and a summary on stderr. */
export async function printRowIds(
  context: Context,
  store: string,
  indexName: string,
  options: { readonly json?: true },
  read: (catalog: ReadOnlyCatalog, found: FoundIndex) => Promise<readonly RowId[]>,
): Promise<void> {
  const answer = await reading(store, async (catalog): Promise<Answer> => {
    const found = findIndex(await catalog.snapshot(), indexName);
    const startedMs = performance.now();
    const rowIds = await read(catalog, found);
    return { found, rowIds, elapsedMs: performance.now() - startedMs };
  });
  const { found, rowIds, elapsedMs } = answer;
  if (options.json === true) {
    printJson(context, { index: qualifiedIndexName(found), table: `${found.schema.name}.${found.table.name}`, rowIds });
    return;
  }
  if (rowIds.length > 0) printLine(context, rowIds.join("\n"));
  const count = `${countText(rowIds.length)} ${rowIds.length === 1 ? "row" : "rows"}`;
  context.output.stderr.write(`${count} of ${found.schema.name}.${found.table.name} in ${durationText(elapsedMs)}\n`);
}
