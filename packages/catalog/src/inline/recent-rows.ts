import { CorruptionError, type RowId, type SnapshotId, type TableId } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { decodeBody } from "./arrow-body.js";
import { readField } from "./arrow-read.js";
import { endOf, findLiveRow, type InlineChunk, readTombstones, scanChunks } from "./chunks.js";
import { plainValues } from "./plain-values.js";
import type { InlineRegistry } from "./registry.js";

/** One inline row. */
export interface RecentRow {
  readonly rowId: RowId;
  /** The snapshot at which this version of the row began. */
  readonly beginSnapshot: SnapshotId;
  /** The snapshot at which it ended; `undefined` while it lives. */
  readonly endSnapshot: SnapshotId | undefined;
  readonly schemaVersion: bigint;
  /** Values by the column names of that schema version, in the form in which `fromIndexValue` shows them. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Which versions of inline rows a scan gives (format.md 6.3). `table`: live at a snapshot. `insertions` and `deletions`: begun
 * or ended in a window, both ends included. `flush`: begun by a snapshot, ended or not.
 */
export type InlineScan =
  | { readonly kind: "table" | "flush"; readonly at: bigint }
  | { readonly kind: "insertions" | "deletions"; readonly start: bigint; readonly at: bigint };

function takes(scan: InlineScan, begin: bigint, end: bigint | undefined): boolean {
  switch (scan.kind) {
    case "table":
      return begin <= scan.at && (end === undefined || end > scan.at);
    case "flush":
      return begin <= scan.at;
    case "insertions":
      return scan.start <= begin && begin <= scan.at;
    case "deletions":
      return end !== undefined && scan.start <= end && end <= scan.at;
  }
}

/** Inline row versions that a scan takes, by row id, then by their begin. Bodies of chunks without such rows are not decoded. */
export async function scanInlineRows(
  view: ReadView,
  registry: InlineRegistry,
  tableId: TableId,
  scan: InlineScan,
): Promise<RecentRow[]> {
  const tombstones = await readTombstones(view, tableId);
  const rows: RecentRow[] = [];
  for await (const chunk of scanChunks(view, tableId)) {
    const taken: { readonly offset: number; readonly end: bigint | undefined }[] = [];
    for (let offset = 0; offset < chunk.rowCount; offset++) {
      const end = endOf(tombstones, chunk.rowIdStart + BigInt(offset), chunk.beginSnapshot);
      if (takes(scan, chunk.beginSnapshot, end)) taken.push({ offset, end });
    }
    if (taken.length === 0) continue;
    const values = await chunkValues(view, registry, tableId, chunk, 0, chunk.rowCount);
    for (const { offset, end } of taken) rows.push(recentRow(chunk, offset, end, values(offset)));
  }
  return rows.sort((a, b) => compare(a.rowId, b.rowId) || compare(a.beginSnapshot, b.beginSnapshot));
}

/** The live version of one inline row. */
export async function findRecentRow(
  view: ReadView,
  registry: InlineRegistry,
  tableId: TableId,
  rowId: bigint,
): Promise<RecentRow | undefined> {
  const live = await findLiveRow(view, tableId, rowId);
  if (live === undefined) return undefined;
  const values = await chunkValues(view, registry, tableId, live.chunk, live.offset, 1);
  return recentRow(live.chunk, live.offset, undefined, values(0));
}

/** Values of a run of a chunk's rows, which are counted from its first one. */
async function chunkValues(
  view: ReadView,
  registry: InlineRegistry,
  tableId: TableId,
  { schemaVersion, body, rowCount }: InlineChunk,
  first: number,
  count: number,
): Promise<(row: number) => Record<string, unknown>> {
  const schema = await registry.schema(view, tableId, schemaVersion);
  if (schema === null) throw new CorruptionError(`inline rows of table ${tableId} have no schema record`);
  const parts = decodeBody(body, rowCount);
  const columns = schema.parsed.fields.map((field, position) => ({
    name: field.name,
    valueAt: plainValues(field, readField(schema.parsed, parts, position).slice(first, count)),
  }));
  return (row) => Object.fromEntries(columns.map(({ name, valueAt }) => [name, valueAt(row)]));
}

function recentRow(
  chunk: InlineChunk,
  offset: number,
  end: bigint | undefined,
  values: Record<string, unknown>,
): RecentRow {
  return {
    rowId: (chunk.rowIdStart + BigInt(offset)) as RowId,
    beginSnapshot: chunk.beginSnapshot as SnapshotId,
    endSnapshot: end as SnapshotId | undefined,
    schemaVersion: chunk.schemaVersion,
    values,
  };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
