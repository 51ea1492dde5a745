import type { FileSource } from "./interface.js";
import { limits } from "./limits.js";
import type { ColumnChunk, ParquetFooter } from "./parquet/footer.js";
import {
  type ChunkPages,
  type PageLocation,
  checkedDictionary,
  checkedPage,
  parseOffsetIndex,
  splitPages,
} from "./parquet/pages.js";
import { lowerBound } from "./positions.js";
import { readExactly } from "./read-exactly.js";

/** A row group to read: where its rows begin in the file and which of them are wanted, counted from its own start. */
export interface RowGroupTask {
  readonly rowGroup: number;
  readonly firstRow: number;
  readonly rows: number;
  /** Ascending; `null`: all. */
  readonly wanted: Float64Array | null;
}

/** Row groups with wanted rows, in file order. The others are never touched. */
export function planRowGroups(footer: ParquetFooter, positions: Float64Array | null): RowGroupTask[] {
  const tasks: RowGroupTask[] = [];
  let firstRow = 0;
  let at = 0;
  footer.rowGroupRows.forEach((rows, rowGroup) => {
    const start = firstRow;
    firstRow += rows;
    if (positions === null) {
      if (rows > 0) tasks.push({ rowGroup, firstRow: start, rows, wanted: null });
      return;
    }
    const from = at;
    at = lowerBound(positions, firstRow);
    if (at === from) return;
    const wanted = positions.slice(from, at).map((position) => position - start);
    tasks.push({ rowGroup, firstRow: start, rows, wanted: wanted.length === rows ? null : wanted });
  });
  return tasks;
}

/** What is read together: row groups up to the window's size, with the chunks of the leaves that a scan needs. */
export interface Window {
  readonly tasks: readonly RowGroupTask[];
  /** `chunks[task][leaf]`. */
  readonly chunks: readonly (readonly ColumnChunk[])[];
}

export function planWindows(
  footer: ParquetFooter,
  tasks: readonly RowGroupTask[],
  leaves: readonly number[],
  fileSizeBytes: number,
): Window[] {
  const windows: Window[] = [];
  let current: { tasks: RowGroupTask[]; chunks: ColumnChunk[][] } | null = null;
  let bytes = 0;
  for (const task of tasks) {
    const chunks = leaves.map((leaf) => footer.chunk(task.rowGroup, leaf, fileSizeBytes));
    const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (current === null || bytes + size > limits.fetchWindowBytes) {
      current = { tasks: [], chunks: [] };
      windows.push(current);
      bytes = 0;
    }
    current.tasks.push(task);
    current.chunks.push(chunks);
    bytes += size;
  }
  return windows;
}

/**
 * Fetches a window: `pages[task][leaf]`. At most two calls of the store: one for the page indexes of chunks that are
 * large and only partly wanted, and one for the data, in which the store joins near ranges.
 */
export async function fetchWindow(source: FileSource, window: Window): Promise<ChunkPages[][]> {
  const locations = await fetchPageLocations(source, window);
  const ranges: { offset: number; length: number }[] = [];
  const add = (offset: number, length: number): void => void ranges.push({ offset, length });
  window.chunks.forEach((chunks, task) =>
    chunks.forEach((chunk, leaf) => {
      const pages = locations[task]?.[leaf];
      if (pages === null || pages === undefined) {
        add(chunk.offset, chunk.length);
        return;
      }
      add(chunk.offset, pages.dictionaryBytes);
      for (const page of pages.wanted) add(page.offset, page.length);
    }),
  );
  const fetched = await readExactly(source, ranges);
  let next = 0;
  const take = (): Uint8Array => fetched[next++] ?? new Uint8Array(0);
  return window.chunks.map((chunks, task) =>
    chunks.map((chunk, leaf) => {
      const pages = locations[task]?.[leaf];
      if (pages === null || pages === undefined) {
        return wantedPages(splitPages(take(), chunk), window.tasks[task]?.wanted ?? null);
      }
      const dictionary = checkedDictionary(take());
      return { dictionary, pages: pages.wanted.map((page) => checkedPage(take(), page)) };
    }),
  );
}

interface SelectedPages {
  readonly dictionaryBytes: number;
  readonly wanted: readonly PageLocation[];
}

/** `null` for a chunk that is read whole. */
async function fetchPageLocations(source: FileSource, window: Window): Promise<(SelectedPages | null)[][]> {
  const indexed: { task: number; leaf: number; chunk: ColumnChunk; offset: number; length: number }[] = [];
  window.chunks.forEach((chunks, task) => {
    if (window.tasks[task]?.wanted === null) return;
    chunks.forEach((chunk, leaf) => {
      if (chunk.offsetIndex === null || chunk.length <= limits.pageIndexMinChunkBytes) return;
      indexed.push({ task, leaf, chunk, ...chunk.offsetIndex });
    });
  });
  const selected: (SelectedPages | null)[][] = window.chunks.map((chunks) => chunks.map(() => null));
  if (indexed.length === 0) return selected;
  const fetched = await readExactly(
    source,
    indexed.map(({ offset, length }) => ({ offset, length })),
  );
  indexed.forEach(({ task, leaf, chunk }, i) => {
    const locations = parseOffsetIndex(fetched[i] ?? new Uint8Array(0), chunk);
    const first = locations[0];
    const wanted = window.tasks[task]?.wanted ?? null;
    const row = selected[task];
    if (first === undefined || wanted === null || row === undefined) return;
    row[leaf] = {
      dictionaryBytes: first.offset - chunk.offset,
      wanted: locations.filter((page) => holdsWanted(page, wanted)),
    };
  });
  return selected;
}

function wantedPages(chunk: ChunkPages, wanted: Float64Array | null): ChunkPages {
  const pages = chunk.pages.filter((page) => (wanted === null ? page.rows > 0 : holdsWanted(page, wanted)));
  return { dictionary: chunk.dictionary, pages };
}

function holdsWanted(page: { readonly firstRow: number; readonly rows: number }, wanted: Float64Array): boolean {
  return (wanted[lowerBound(wanted, page.firstRow)] ?? Infinity) < page.firstRow + page.rows;
}
