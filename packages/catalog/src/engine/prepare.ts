import { CommitConflictError, ConstraintError, InvalidArgumentError, NotFoundError } from "@moraine/codec";
import { checkCommitSize } from "@moraine/index-core";
import type { ReadView } from "@moraine/store";
import type { EntryBuilder } from "../index/entry-builder.js";
import { FileUpkeep } from "../index/file-upkeep.js";
import type { TableFiles } from "../index/table-files.js";
import { IndexUpkeep } from "../index/upkeep.js";
import { decodeBody } from "../inline/arrow-body.js";
import { endOf, findLiveRow, type InlineChunk, type LiveRow, readTombstones, scanChunks, type Tombstones } from "../inline/chunks.js";
import { ColumnNames, readColumnHistory } from "../inline/column-names.js";
import { type ChunkColumn, decodeChunk, denseRowIds } from "../inline/decode.js";
import { type InlineFacts, type InlineRegistry, noFacts, type RegisteredSchema } from "../inline/registry.js";
import { ChunkSequence, type SettledInsert, stageDrain, stageInsert, stageSchema, stageTombstone } from "../inline/staging.js";
import { type CommitInfo, stageCatalogRecords } from "../model/snapshot-record.js";
import type { CommitDraft, CreateIndexOp, DeleteRowOp, FlushOp, InsertOp } from "../operations.js";
import type { StagedCommit } from "./committer.js";
import { type PendingWrites, WriteSet } from "./pending-writes.js";
import { Tip } from "./tip.js";

/** What preparing a commit may use. */
export interface PrepareContext {
  readonly store: ReadView;
  readonly pending: PendingWrites;
  readonly registry: InlineRegistry;
  /** `undefined` where the catalog was opened without access to data files. */
  readonly files: TableFiles | undefined;
}

/**
 * Turns the draft that a closure left into records and index entries. Returns at once where nothing has to be read, which is
 * the case for small inserts into a table that has been written before: such a commit never waits for anything but its
 * durable write.
 */
export function prepareCommit(
  context: PrepareContext,
  draft: CommitDraft,
  base: Tip,
  info: CommitInfo,
): StagedCommit | Promise<StagedCommit> {
  if (draft.isEmpty) return { after: base, changes: draft.changes, indexChanges: [], writes: new WriteSet(), facts: noFacts };
  const preparation = new Preparation(context, draft, base, info);
  return preparation.isReady ? preparation.finish() : preparation.read().then(() => preparation.finish());
}

interface Drain {
  readonly chunks: readonly InlineChunk[];
  readonly tombstones: Tombstones;
}

class Preparation {
  readonly #context: PrepareContext;
  readonly #draft: CommitDraft;
  readonly #base: Tip;
  readonly #info: CommitInfo;
  readonly #upkeep: IndexUpkeep;
  readonly #inserts: InsertOp[] = [];
  readonly #deletes: DeleteRowOp[] = [];
  readonly #flushes: FlushOp[] = [];
  /** Positions of a chunk's rows that the same commit deleted. */
  readonly #deadOffsets = new Map<InsertOp, Set<number>>();
  readonly #liveRows = new Map<DeleteRowOp, LiveRow | undefined>();
  readonly #drains = new Map<FlushOp, Drain>();
  readonly #columnNames = new Map<bigint, ColumnNames>();
  readonly #recordedSchemas: (readonly [bigint, bigint, RegisteredSchema])[] = [];
  #overlay: ReadView | undefined;

  constructor(context: PrepareContext, draft: CommitDraft, base: Tip, info: CommitInfo) {
    this.#context = context;
    this.#draft = draft;
    this.#base = base;
    this.#info = info;
    this.#upkeep = new IndexUpkeep(draft);
    this.#sortOut();
  }

  /** The store as the commits staged below this one will leave it. Made at the first read: most commits read nothing. */
  get #view(): ReadView {
    this.#overlay ??= this.#context.pending.over(this.#context.store);
    return this.#overlay;
  }

  /** Sorts the inline operations: those of dropped tables go, and a delete of a row of this commit cuts it out of its insert. */
  #sortOut(): void {
    const seen = new Set<string>();
    for (const op of this.#draft.inlineOps) {
      if (this.#draft.get("table", op.tableId) === undefined) continue;
      if (op.kind === "insert") {
        this.#inserts.push(op);
        this.#deadOffsets.set(op, new Set());
      } else if (op.kind === "flush") {
        this.#flushes.push(op);
      } else if (!seen.has(`${op.tableId}/${op.rowId}`)) {
        seen.add(`${op.tableId}/${op.rowId}`);
        const insert = this.#insertOf(op);
        if (insert === undefined) this.#deletes.push(op);
        else this.#deadOffsets.get(insert)?.add(Number(op.rowId - insert.rowIdStart));
      }
    }
  }

  #insertOf(op: DeleteRowOp): InsertOp | undefined {
    return this.#inserts.find(
      (insert) =>
        insert.tableId === op.tableId && op.rowId >= insert.rowIdStart && op.rowId < insert.rowIdStart + BigInt(insert.rowCount),
    );
  }

  /** Whether everything that `finish` needs is at hand. */
  get isReady(): boolean {
    return (
      this.#deletes.length === 0 &&
      this.#flushes.length === 0 &&
      this.#draft.indexOps.length === 0 &&
      this.#inserts.every((op) => {
        const version = this.#knownVersion(op);
        return version !== undefined && this.#context.registry.knownSchema(op.tableId, version) !== undefined;
      })
    );
  }

  #knownVersion(op: InsertOp): bigint | undefined {
    if (op.schemaVersion !== undefined) return op.schemaVersion;
    const { changes, base } = this.#draft;
    if (changes.schemaChangedIds.includes(op.tableId)) return base.head.schemaVersion + 1n;
    return this.#context.registry.knownVersion(op.tableId);
  }

  async read(): Promise<void> {
    const { registry } = this.#context;
    for (const op of this.#inserts) {
      const version = this.#knownVersion(op) ?? (await registry.version(this.#view, op.tableId, this.#draft.base.head.schemaVersion));
      await registry.schema(this.#view, op.tableId, version);
    }
    for (const op of this.#deletes) await this.#readDelete(op);
    for (const op of this.#flushes) this.#drains.set(op, await this.#readDrain(op));
    for (const op of this.#draft.indexOps) {
      if (op.kind === "create_index") await this.#backfillInline(op);
    }
    await new FileUpkeep(this.#draft, this.#upkeep, this.#context.files, this.#view).run();
  }

  async #readDelete(op: DeleteRowOp): Promise<void> {
    const live = await findLiveRow(this.#view, op.tableId, op.rowId);
    this.#liveRows.set(op, live);
    const builders = this.#upkeep.of(op.tableId).filter((builder) => !builder.isNew);
    if (live === undefined) {
      this.#supplyRemovals(op, builders);
      return;
    }
    if (builders.length === 0) return;
    const vectors = await this.#decode(op.tableId, live.chunk, IndexUpkeep.columnsOf(builders));
    const rowIds = denseRowIds(live.chunk.rowIdStart, live.chunk.rowCount);
    const rows = Uint32Array.of(live.offset);
    for (const builder of builders) builder.removeRows(vectors, rowIds, rows);
  }

  /** A row that is not inline: only the writer knows its values. */
  #supplyRemovals(op: DeleteRowOp, builders: readonly EntryBuilder[]): void {
    if (op.removals.length === 0) {
      throw new NotFoundError(`row ${op.rowId} of table ${op.tableId} is not among its live inline rows`, {
        remedy: "Delete rows of a data file by registering a delete file for it.",
      });
    }
    for (const builder of builders) {
      const ofIndex = op.removals.filter((removal) => removal.index === builder.indexId);
      const removal = ofIndex[0];
      if (removal === undefined || ofIndex.length > 1) {
        throw new ConstraintError(
          `the delete of row ${op.rowId} names ${ofIndex.length} entries of index ${JSON.stringify(builder.context.definition.indexName)}, 1 is needed`,
          { remedy: "Give one removal for every index of the table." },
        );
      }
      builder.removeValues(removal.values, op.rowId);
    }
  }

  async #readDrain(op: FlushOp): Promise<Drain> {
    const tombstones = await readTombstones(this.#view, op.tableId);
    const through = op.throughSnapshot ?? this.#draft.base.head.snapshotId;
    const chunks: InlineChunk[] = [];
    for await (const chunk of scanChunks(this.#view, op.tableId)) {
      if (chunk.schemaVersion !== op.schemaVersion || chunk.beginSnapshot > through) continue;
      chunks.push(chunk);
      for (let offset = 0; offset < chunk.rowCount; offset++) {
        const end = endOf(tombstones, chunk.rowIdStart + BigInt(offset), chunk.beginSnapshot);
        if (end !== undefined && end > through) {
          throw new CommitConflictError(`rows of table ${op.tableId} were deleted after snapshot ${through}, at which they were read to be flushed`);
        }
      }
    }
    return { chunks, tombstones };
  }

  /** Entries of a new index for the inline rows that were live before this commit and that it does not delete. */
  async #backfillInline(op: CreateIndexOp): Promise<void> {
    const builder = this.#upkeep.of(op.tableId).find(({ indexId }) => indexId === op.indexId);
    if (builder === undefined) return;
    const deleted = new Set(this.#deletes.filter(({ tableId }) => tableId === op.tableId).map(({ rowId }) => rowId));
    const tombstones = await readTombstones(this.#view, op.tableId);
    for await (const chunk of scanChunks(this.#view, op.tableId)) {
      const rows: number[] = [];
      for (let offset = 0; offset < chunk.rowCount; offset++) {
        const rowId = chunk.rowIdStart + BigInt(offset);
        if (!deleted.has(rowId) && endOf(tombstones, rowId, chunk.beginSnapshot) === undefined) rows.push(offset);
      }
      if (rows.length === 0) continue;
      const vectors = await this.#decode(op.tableId, chunk, IndexUpkeep.columnsOf([builder]));
      builder.addRows(vectors, denseRowIds(chunk.rowIdStart, chunk.rowCount), Uint32Array.from(rows));
    }
  }

  async #decode(tableId: bigint, chunk: InlineChunk, columnIds: readonly bigint[]): Promise<ReturnType<typeof decodeChunk>> {
    const schema = await this.#context.registry.schema(this.#view, tableId, chunk.schemaVersion);
    if (schema === null) throw new ConstraintError(`inline rows of table ${tableId} have no schema record`, { remedy: "Restore the store." });
    const names = await this.#namesOf(tableId);
    const columns = columnIds.map((columnId) => this.#chunkColumn(tableId, columnId, names.nameAt(columnId, chunk.beginSnapshot)));
    return decodeChunk(schema.parsed, decodeBody(chunk.body), columns);
  }

  async #namesOf(tableId: bigint): Promise<ColumnNames> {
    const known = this.#columnNames.get(tableId);
    if (known !== undefined) return known;
    const names = new ColumnNames(this.#draft.base.list("column", tableId), await readColumnHistory(this.#view, tableId));
    this.#columnNames.set(tableId, names);
    return names;
  }

  #chunkColumn(tableId: bigint, columnId: bigint, name: string | undefined): ChunkColumn {
    const column = this.#draft.get("column", tableId, columnId);
    if (column === undefined) throw new NotFoundError(`column ${columnId} of table ${tableId} does not exist`);
    return { columnId, name, columnType: column.columnType, initialDefault: column.initialDefault };
  }

  /** Encodes the commit. Nothing is read any more, so that a small commit is staged in one go. */
  finish(): StagedCommit {
    const writes = new WriteSet();
    const sequence = new ChunkSequence();
    for (const op of this.#inserts) {
      const insert = this.#settle(op, writes);
      stageInsert(insert, this.#draft.snapshotId, sequence, writes);
      this.#indexInsert(insert);
    }
    for (const [op, drain] of this.#drains) {
      for (const chunk of drain.chunks) stageDrain(op.tableId, chunk, drain.tombstones, writes);
    }
    for (const op of this.#deletes) {
      this.#refuseDrained(op);
      stageTombstone(op.tableId, op.rowId, this.#draft.snapshotId, writes);
    }
    const indexChanges = this.#upkeep.changes();
    checkCommitSize(indexChanges);
    const { changes } = this.#draft;
    const state = stageCatalogRecords(this.#draft, this.#info, writes);
    const versions = changes.schemaChangedIds.map((tableId) => [tableId, state.head.schemaVersion] as const);
    const facts: InlineFacts = { versions, schemas: this.#recordedSchemas };
    return { after: new Tip(state, this.#base, changes), changes, indexChanges, writes, facts };
  }

  #settle(op: InsertOp, writes: WriteSet): SettledInsert {
    const { registry } = this.#context;
    const schemaVersion = this.#knownVersion(op);
    const recorded = schemaVersion === undefined ? undefined : registry.knownSchema(op.tableId, schemaVersion);
    if (schemaVersion === undefined || recorded === undefined) throw new Error("an insert was staged before its schema was read");
    stageSchema(op.tableId, schemaVersion, recorded, op.schema, writes);
    if (recorded === null) this.#recordedSchemas.push([op.tableId, schemaVersion, op.schema]);
    return { op, schemaVersion, schema: recorded ?? op.schema, dead: this.#deadOffsets.get(op) ?? new Set() };
  }

  #indexInsert({ op, schema, dead }: SettledInsert): void {
    const builders = this.#upkeep.of(op.tableId);
    if (builders.length === 0 || dead.size === op.rowCount) return;
    const columns = IndexUpkeep.columnsOf(builders).map((columnId) => {
      const name = this.#draft.get("column", op.tableId, columnId)?.columnName;
      if (name === undefined || !schema.parsed.fields.some((field) => field.name === name)) {
        throw new InvalidArgumentError(`the inlined rows lack an indexed column of table ${op.tableId}`, {
          remedy: "Insert rows after the table's columns were changed, not before, and name every indexed column.",
        });
      }
      return this.#chunkColumn(op.tableId, columnId, name);
    });
    const vectors = decodeChunk(schema.parsed, op.parts ?? decodeBody(op.body), columns);
    const rowIds = denseRowIds(op.rowIdStart, op.rowCount);
    const rows = dead.size === 0 ? undefined : Uint32Array.from({ length: op.rowCount }, (_, i) => i).filter((i) => !dead.has(i));
    for (const builder of builders) builder.addRows(vectors, rowIds, rows);
  }

  #refuseDrained(op: DeleteRowOp): void {
    const live = this.#liveRows.get(op);
    if (live === undefined) return;
    for (const [flush, drain] of this.#drains) {
      if (flush.tableId === op.tableId && drain.chunks.some((chunk) => chunk.chunkSeq === live.chunk.chunkSeq && chunk.beginSnapshot === live.chunk.beginSnapshot && chunk.schemaVersion === live.chunk.schemaVersion)) {
        throw new ConstraintError(`row ${op.rowId} is deleted by the commit that flushes it`, {
          remedy: "Delete the row in a commit of its own, before or after the flush.",
        });
      }
    }
  }
}
