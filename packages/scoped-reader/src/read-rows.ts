import type { FileSource, Positions, ScanOptions, ScopedBatch } from "./interface.js";
import { parseColumnType } from "@moraine/codec";
import { lowerBound } from "./positions.js";
import { scanFile } from "./scan-file.js";
import { concatVectors, gatherVector } from "./values/vector.js";

export interface ReadRowsOptions extends Omit<ScanOptions, "positions" | "batchRows"> {
  readonly positions: Positions;
}

/**
 * The rows at the given positions as one batch, in the order asked for; a position named twice gives its row twice.
 * For sets of rows that fit in memory; errors as of `scanFile`.
 */
export async function readRows(source: FileSource, options: ReadRowsOptions): Promise<ScopedBatch> {
  const batches: ScopedBatch[] = [];
  for await (const batch of scanFile(source, options)) batches.push(batch);
  const found = concatNumbers(batches.map((batch) => batch.positions));
  const { positions } = options;
  const order = new Uint32Array(positions.length);
  const ordered = new Float64Array(positions.length);
  for (let i = 0; i < positions.length; i++) {
    const position = Number(positions[i] ?? 0);
    ordered[i] = position;
    order[i] = lowerBound(found, position);
  }
  const columns = options.columns.map((column, i) => {
    const parts = batches.flatMap((batch) => batch.columns[i] ?? []);
    return gatherVector(concatVectors(parts, parseColumnType(column.columnType).valueType), order);
  });
  let rowIds: BigUint64Array | null = null;
  if (options.rowIds !== "none") {
    const all = batches.flatMap((batch) => batch.rowIds ?? []);
    const flat = new BigUint64Array(found.length);
    let at = 0;
    for (const ids of all) {
      flat.set(ids, at);
      at += ids.length;
    }
    rowIds = BigUint64Array.from(order, (row) => flat[row] ?? 0n);
  }
  return { length: ordered.length, columns, rowIds, positions: ordered };
}

function concatNumbers(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
