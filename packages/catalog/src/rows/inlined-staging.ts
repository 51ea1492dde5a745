import { ConstraintError, CorruptionError } from "@moraine/codec";
import { IndexUpkeep } from "../index/upkeep.js";
import { findLiveRow, type InlineChunk, readTombstones, sameChunk, scanChunks } from "../inline/chunks.js";
import { type ChunkColumn, decodeChunk, denseRowIds } from "../inline/decode.js";
import type { InlineRegistry, RegisteredSchema } from "../inline/registry.js";
import type { RowReader } from "../inline/row-reader.js";
import { ChunkSequence, stageChunk, stageDrain, stageTombstone } from "../inline/staging.js";
import { encodeChunkColumns } from "./inline-columns.js";
import type { InlinedCatalog } from "./inlined-catalog.js";
import { drainRows, isAlive } from "./inlined-drain.js";
import { inlinedDataTable } from "./inlined-names.js";
import { type EndedRow, type InlinedRows, readInlinedChanges } from "./inlined-rows.js";
import { RowSet } from "./row-set.js";
import type { RowStaging } from "./row-staging.js";
import type { TableChanges } from "./row-changes.js";
import { sliceColumn } from "./slice-columns.js";

/** Ended rows of one table that are looked up one by one. More of them are found by a scan of the table's chunks. */
const lookedUpRows = 64;

export interface InlinedContext {
  readonly staging: RowStaging;
  readonly catalog: InlinedCatalog;
  readonly registry: InlineRegistry;
  readonly upkeep: IndexUpkeep;
  readonly rows: RowReader;
}

interface Place {
  readonly tableId: bigint;
  readonly schemaVersion: bigint;
  readonly schema: RegisteredSchema;
}

/** Turns rows of inlined tables into chunks and tombstones, and into index entries. */
export class InlinedStaging {
  readonly #context: InlinedContext;
  readonly #sequence = new ChunkSequence();
  readonly #drained: { readonly tableId: bigint; readonly chunk: InlineChunk }[] = [];

  constructor(context: InlinedContext) {
    this.#context = context;
  }

  /** Stages what happened to one inlined table of a lake table that lives on. */
  async stage(tableId: bigint, schemaVersion: bigint, changes: TableChanges): Promise<void> {
    const schema = await this.#schemaOf(tableId, schemaVersion);
    const place = { tableId, schemaVersion, schema };
    const { inserted, ended, deleted } = readInlinedChanges(changes, schema.parsed);
    if (deleted.length > 0) await this.#drain(place, deleted);
    if (ended.length > 0) await this.#end(place, ended);
    for (const rows of inserted) this.#insert(place, rows);
  }

  /** What is left in inlined tables that the commit drops goes with them, whatever else the transaction said of its rows. */
  async drainDropped(tableIds: Iterable<bigint>): Promise<void> {
    const { staging, catalog } = this.#context;
    for (const tableId of tableIds) {
      if (staging.draft.get("table", tableId) === undefined) continue;
      const tombstones = await readTombstones(staging.view, tableId);
      for await (const chunk of scanChunks(staging.view, tableId)) {
        if (!catalog.isDropped(inlinedDataTable(tableId, chunk.schemaVersion))) continue;
        if (this.#drained.some((other) => other.tableId === tableId && sameChunk(other.chunk, chunk))) continue;
        stageDrain(tableId, chunk, tombstones, staging.writes);
        const offsets = Array.from({ length: chunk.rowCount }, (_, offset) => offset);
        await this.#removeEntries(
          tableId,
          chunk,
          offsets.filter((offset) => isAlive(tombstones, chunk, offset)),
        );
      }
    }
  }

  async #schemaOf(tableId: bigint, schemaVersion: bigint): Promise<RegisteredSchema> {
    const { catalog, registry, staging } = this.#context;
    const name = inlinedDataTable(tableId, schemaVersion);
    const schema = catalog.created.get(name) ?? (await registry.schema(staging.view, tableId, schemaVersion));
    if (schema !== null) return schema;
    throw new ConstraintError(`rows of ${name} are changed, and the lake has no such table`, {
      remedy: "Read the metadata tables again.",
    });
  }

  #insert({ tableId, schemaVersion, schema }: Place, rows: InlinedRows): void {
    const { staging, upkeep } = this.#context;
    const { snapshotId, writes } = staging;
    const isOver = Array.from(rows.begins, (_, row) => rows.endAt(row)).some((end) => end !== undefined);
    if (snapshotId === undefined || isOver || rows.begins.some((begin) => begin !== snapshotId)) {
      throw new ConstraintError(
        `rows of ${inlinedDataTable(tableId, schemaVersion)} begin at another snapshot than the one that is made, or have ended`,
        { remedy: "Insert rows through the lake's table." },
      );
    }
    const builders = upkeep.of(tableId);
    for (const { first, end } of runsOf(rows)) {
      const rowCount = end - first;
      const { parts, body } = encodeChunkColumns(
        rows.columns.map((column) => sliceColumn(column, first, end)),
        rowCount,
      );
      const rowIdStart = rows.rowIds[first] ?? 0n;
      const chunkSeq = this.#sequence.take(tableId, schemaVersion);
      stageChunk(tableId, { schemaVersion, beginSnapshot: snapshotId, chunkSeq, rowIdStart, rowCount, body }, writes);
      if (builders.length === 0) continue;
      const vectors = decodeChunk(schema.parsed, parts, this.#indexedColumns(tableId, schema));
      const rowIds = denseRowIds(rowIdStart, rowCount);
      for (const builder of builders) builder.addRows(vectors, rowIds);
    }
  }

  #indexedColumns(tableId: bigint, schema: RegisteredSchema): ChunkColumn[] {
    const { staging, upkeep } = this.#context;
    return IndexUpkeep.columnsOf(upkeep.of(tableId)).map((columnId) => {
      const column = staging.draft.get("column", tableId, columnId);
      if (column === undefined || !schema.parsed.fields.some(({ name }) => name === column.columnName)) {
        throw new ConstraintError(`rows are inlined into table ${tableId} without an indexed column`, {
          remedy: "Insert after the table's columns were changed, in a transaction of its own.",
        });
      }
      const { columnName: name, columnType, initialDefault } = column;
      return { columnId, name, columnType, initialDefault };
    });
  }

  /** Ends rows: each gets a tombstone, and its entries go. */
  async #end(place: Place, ended: readonly EndedRow[]): Promise<void> {
    const { staging, upkeep } = this.#context;
    const { snapshotId, view, writes } = staging;
    const { tableId, schemaVersion } = place;
    if (ended.some(({ end }) => end !== snapshotId)) {
      throw new ConstraintError(
        `rows of ${inlinedDataTable(tableId, schemaVersion)} end at another snapshot than the one that is made`,
        { remedy: "Delete rows through the lake's table." },
      );
    }
    for (const { rowId, end } of ended) stageTombstone(tableId, rowId, end, writes);
    if (upkeep.of(tableId).length === 0) return;
    if (ended.length <= lookedUpRows) {
      for (const { rowId, begin } of ended) {
        const live = await findLiveRow(view, tableId, rowId);
        if (live?.chunk.schemaVersion !== schemaVersion || live.chunk.beginSnapshot !== begin)
          throw notInlined(place, 1);
        await this.#removeEntries(tableId, live.chunk, [live.offset]);
      }
      return;
    }
    const wanted = new RowSet();
    for (const { rowId, begin } of ended) wanted.add(begin, rowId);
    const tombstones = await readTombstones(view, tableId);
    for await (const chunk of scanChunks(view, tableId)) {
      if (chunk.schemaVersion !== schemaVersion) continue;
      const offsets = wanted.takeFrom(chunk);
      if (offsets.some((offset) => !isAlive(tombstones, chunk, offset))) throw notInlined(place, 1);
      await this.#removeEntries(tableId, chunk, offsets);
    }
    if (wanted.size > 0) throw notInlined(place, wanted.size);
  }

  /**
   * Rows that are deleted, not ended, have been written to files. The entries of those that were live go, and come back with the
   * files that hold them now.
   */
  async #drain(place: Place, deleted: readonly InlinedRows[]): Promise<void> {
    const { staging } = this.#context;
    const wanted = new RowSet();
    for (const rows of deleted) rows.rowIds.forEach((rowId, row) => wanted.add(rows.begins[row] ?? 0n, rowId));
    const table = { ...place, schema: place.schema.parsed };
    for (const { chunk, alive } of await drainRows(staging.view, table, wanted, staging.writes)) {
      this.#drained.push({ tableId: place.tableId, chunk });
      await this.#removeEntries(place.tableId, chunk, alive);
    }
    if (wanted.size > 0) throw notInlined(place, wanted.size);
  }

  async #removeEntries(tableId: bigint, chunk: InlineChunk, offsets: readonly number[]): Promise<void> {
    const builders = this.#context.upkeep.of(tableId);
    if (builders.length === 0 || offsets.length === 0) return;
    const vectors = await this.#context.rows.columns(tableId, chunk, IndexUpkeep.columnsOf(builders));
    const rowIds = denseRowIds(chunk.rowIdStart, chunk.rowCount);
    for (const builder of builders) builder.removeRows(vectors, rowIds, Uint32Array.from(offsets));
  }
}

/** Rows of consecutive ids. A row that is not in order begins a run of its own. */
function* runsOf(rows: InlinedRows): IterableIterator<{ readonly first: number; readonly end: number }> {
  let first = 0;
  while (first < rows.count) {
    let end = first + 1;
    while (end < rows.count && rows.rowIds[end] === (rows.rowIds[first] ?? 0n) + BigInt(end - first)) end += 1;
    yield { first, end };
    first = end;
  }
}

function notInlined({ tableId, schemaVersion }: Place, rows: number): CorruptionError {
  return new CorruptionError(
    `${rows} rows of ${inlinedDataTable(tableId, schemaVersion)} are to end or to go that the store does not hold`,
    { remedy: "Detach the lake and attach it again, so that its metadata is read anew." },
  );
}
