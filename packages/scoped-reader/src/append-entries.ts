import { type ColumnVector, InvalidArgumentError } from "@moraine/codec";
import type { ColumnRequest, FileSource, Positions } from "./interface.js";
import { sortedPositions } from "./positions.js";
import { scanFile } from "./scan-file.js";

/** What takes the entries of one index: an `IndexKeyBuilder` of the codec is one. */
export interface EntrySink {
  /** Appends one entry a row, or only those of `rows` when it is given. */
  appendColumns(columns: readonly ColumnVector[], rowIds: BigUint64Array, rows?: Uint32Array): void;
}

/** One index whose entries are wanted, and its columns in key order. */
export interface EntryTarget {
  readonly sink: EntrySink;
  readonly columns: readonly ColumnRequest[];
}

export interface AppendEntriesOptions {
  readonly targets: readonly EntryTarget[];
  readonly rowIds: "lineage" | "ordinal";
  /** Only these rows. Default: all rows. */
  readonly positions?: Positions | undefined;
  /** Rows to leave out, for instance those named by delete files. */
  readonly dead?: Positions | undefined;
  readonly batchRows?: number | undefined;
  /** Called after each batch with the rows appended so far; a promise is awaited, an error ends the read. */
  readonly onProgress?: ((rows: number) => void | Promise<void>) | undefined;
}

/**
 * Reads a file once for all its indexes and appends the entries of its live rows to each index's sink, in file order and
 * batch by batch. Resolves to the number of rows. Errors as of `scanFile`, and those of the sinks.
 */
export async function appendFileEntries(source: FileSource, options: AppendEntriesOptions): Promise<number> {
  const { targets, rowIds, positions, batchRows } = options;
  if (targets.length === 0) return 0;
  const dead = sortedPositions(options.dead ?? [], source.recordCount, source.path, "dead");
  const { columns, places } = distinctColumns(targets);
  let appended = 0;
  let nextDead = 0;
  for await (const batch of scanFile(source, { columns, rowIds, positions, batchRows })) {
    const ids = batch.rowIds ?? new BigUint64Array(0);
    const live = new Uint32Array(batch.length);
    let count = 0;
    for (let i = 0; i < batch.length; i++) {
      const position = batch.positions[i] ?? 0;
      while (nextDead < dead.length && (dead[nextDead] ?? 0) < position) nextDead++;
      if (dead[nextDead] !== position) live[count++] = i;
    }
    const rows = count === batch.length ? undefined : live.subarray(0, count);
    targets.forEach(({ sink }, t) => {
      const own = (places[t] ?? []).flatMap((place) => batch.columns[place] ?? []);
      if (rows === undefined) sink.appendColumns(own, ids);
      else if (rows.length > 0) sink.appendColumns(own, ids, rows);
    });
    appended += count;
    await options.onProgress?.(appended);
  }
  return appended;
}

/** Each column once, and for each target where its columns are among them. */
function distinctColumns(targets: readonly EntryTarget[]): { columns: ColumnRequest[]; places: number[][] } {
  const columns: ColumnRequest[] = [];
  const placeOf = new Map<bigint, number>();
  const places = targets.map((target) =>
    target.columns.map((column) => {
      const known = placeOf.get(column.fieldId);
      if (known !== undefined) {
        if (columns[known]?.columnType !== column.columnType) {
          throw new InvalidArgumentError(`column ${column.name} is requested with two types`, {
            remedy: "Request each column with its current type.",
          });
        }
        return known;
      }
      placeOf.set(column.fieldId, columns.length);
      return columns.push(column) - 1;
    }),
  );
  return { columns, places };
}
