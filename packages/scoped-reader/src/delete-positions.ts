import { ConstraintError, CorruptionError, DataFileError, parseColumnType } from "@moraine/codec";
import { ColumnCursor, type StoredColumn } from "./column-cursor.js";
import type { FileSource } from "./interface.js";
import { inFile } from "./malformed.js";
import type { ParquetFooter } from "./parquet/footer.js";
import { readFooter } from "./read-footer.js";
import { fetchWindow, planRowGroups, planWindows } from "./row-groups.js";

/** A delete file, as the catalog describes it: `recordCount` is its `delete_count`. It has no row ids of its own. */
export type DeleteFileSource = Omit<FileSource, "rowIdStart" | "nameMap">;

export interface DeleteTarget {
  /** Rows of the data file that the delete file belongs to. */
  readonly recordCount: bigint;
  /**
   * Only positions deleted at or before this snapshot, for a file whose rows carry the snapshot that deleted them
   * (`_ducklake_internal_snapshot_id`). Default: all of them, as at the head.
   */
  readonly atSnapshot?: bigint | undefined;
}

const positionColumn = "pos";
const snapshotColumn = "_ducklake_internal_snapshot_id";

/**
 * Positions that a delete file removes from its data file, ascending and each once. A DuckLake delete file belongs to one
 * data file, so `file_path` is not read.
 *
 * Errors: `corruption` for a NULL or negative position (or snapshot), `constraint` for a position beyond the data file,
 * `data_file` for a file that is damaged or has no `pos` column, `unsupported` for encrypted files and Puffin files.
 */
export async function readDeletePositions(source: DeleteFileSource, target: DeleteTarget): Promise<Float64Array> {
  const file: FileSource = { ...source, rowIdStart: undefined };
  const footer = await readFooter(file);
  const hasSnapshots =
    target.atSnapshot !== undefined && footer.schema.fields.some(({ name }) => name === snapshotColumn);
  const columns = [bigintColumn(file, footer, positionColumn)];
  if (hasSnapshots) columns.push(bigintColumn(file, footer, snapshotColumn));
  const positions = new Float64Array(footer.rowCount);
  let count = 0;
  for await (const [pos, snapshot] of readBigints(file, footer, columns)) {
    if (pos === undefined) continue;
    for (let i = 0; i < pos.length; i++) {
      const position = pos[i] ?? 0n;
      if (position < 0n) throw new CorruptionError(`delete file ${file.path} holds a negative position`);
      if (position >= target.recordCount) {
        throw new ConstraintError(
          `delete file ${file.path} names position ${position} of a data file with ${target.recordCount} rows`,
          { remedy: "Write the delete file for the data file that it is registered with." },
        );
      }
      if (target.atSnapshot !== undefined && snapshot !== undefined && (snapshot[i] ?? 0n) > target.atSnapshot)
        continue;
      positions[count++] = Number(position);
    }
  }
  return distinct(positions.subarray(0, count));
}

function bigintColumn(source: FileSource, footer: ParquetFooter, name: string): StoredColumn {
  const field = footer.schema.fields.find((candidate) => candidate.name === name);
  if (field?.leaf === undefined || field.leaf === null) {
    throw new DataFileError(`delete file ${source.path} has no column ${name}`, {
      remedy: "Write the delete file with the columns file_path (VARCHAR) and pos (BIGINT).",
    });
  }
  return { field, type: parseColumnType("BIGINT") };
}

/** The columns' values, some rows at a time. */
async function* readBigints(
  source: FileSource,
  footer: ParquetFooter,
  columns: readonly StoredColumn[],
): AsyncIterableIterator<BigInt64Array[]> {
  const { path, sizeBytes } = source;
  try {
    const leaves = columns.map(({ field }) => field.leaf ?? 0);
    for (const window of planWindows(footer, planRowGroups(footer, null), leaves, sizeBytes)) {
      const pages = await fetchWindow(source, window);
      for (const [t, { rows }] of window.tasks.entries()) {
        const everyRow = Float64Array.from({ length: rows }, (_, i) => i);
        yield columns.map((column, c) => {
          const chunk = pages[t]?.[c] ?? { dictionary: new Uint8Array(0), pages: [] };
          const vector = new ColumnCursor(column, chunk, window.chunks[t]?.[c]?.codec ?? 0).gather(everyRow);
          if (vector.validity !== null) {
            throw new CorruptionError(`delete file ${path} holds a NULL in column ${column.field.name}`);
          }
          return vector.values as BigInt64Array;
        });
      }
    }
  } catch (error) {
    throw inFile(path, error);
  }
}

function distinct(positions: Float64Array): Float64Array {
  if (positions.every((position, i) => i === 0 || position > (positions[i - 1] ?? -1))) return positions;
  return Float64Array.from(new Set(positions.sort()));
}
