import { type ColumnVector, ConstraintError, InvalidArgumentError } from "@moraine/codec";
import { checkCommitSize, checkEntryCount } from "@moraine/index-core";
import type { ReadView } from "@moraine/store";
import type { EntryBuilder } from "../index/entry-builder.js";
import { FileUpkeep } from "../index/file-upkeep.js";
import { addOnce } from "../index/large-entries.js";
import { inSlices } from "../index/row-slices.js";
import type { TableFiles } from "../index/table-files.js";
import { IndexUpkeep } from "../index/upkeep.js";
import { decodeBody } from "../inline/arrow-body.js";
import { endOf, readTombstones, scanChunks } from "../inline/chunks.js";
import { inlineShape } from "../inline/columns.js";
import { decodeChunk, denseRowIds } from "../inline/decode.js";
import { type InlineFacts, type InlineRegistry, noFacts, type RegisteredSchema } from "../inline/registry.js";
import { RowReader } from "../inline/row-reader.js";
import { ChunkSequence, type SettledInsert, stageInsert, stageSchema } from "../inline/staging.js";
import { type CommitInfo, stageCatalogRecords } from "../model/snapshot-record.js";
import type { CommitDraft, CreateIndexOp, DeleteRowOp, FlushOp, InsertOp } from "../operations.js";
import type { StagedCommit } from "./attempt.js";
import { always, sameBytes } from "../unchanged.js";
import { widenColumnBounds } from "./column-bounds.js";
import { FlushDrains } from "./flush-drains.js";
import { largeCommitEntries } from "./limits.js";
import { type PendingWrites, WriteSet } from "./pending-writes.js";
import { RowDeletes } from "./row-deletes.js";
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
  if (draft.isEmpty)
    return { after: base, changes: draft.changes, indexChanges: [], writes: new WriteSet(), facts: noFacts };
  const preparation = new Preparation(context, draft, base, info);
  if (preparation.isReady) return preparation.finish();
  if (preparation.readsState) draft.memory?.readsState();
  const staged = preparation.read().then(() => preparation.finish());
  return preparation.waitsForOthers || draft.memory === undefined ? staged : draft.memory.slicing(staged);
}

interface Place {
  readonly version: bigint;
  readonly recorded: RegisteredSchema | null;
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
  readonly #drains: FlushDrains;
  /** The schema version of each insert, and the schema recorded for it. Kept here: what others remember may be forgotten. */
  readonly #places = new Map<InsertOp, Place>();
  readonly #recordedSchemas: (readonly [bigint, bigint, RegisteredSchema])[] = [];
  #overlay: ReadView | undefined;
  #reader: RowReader | undefined;
  #deleter: RowDeletes | undefined;

  constructor(context: PrepareContext, draft: CommitDraft, base: Tip, info: CommitInfo) {
    this.#context = context;
    this.#draft = draft;
    this.#base = base;
    this.#info = info;
    this.#upkeep = new IndexUpkeep(draft);
    this.#drains = new FlushDrains(draft, this.#upkeep, context.files);
    this.#sortOut();
  }

  /** The store as the commits staged below this one will leave it. Made at the first read: most commits read nothing. */
  get #view(): ReadView {
    this.#overlay ??= this.#context.pending.over(this.#context.store);
    return this.#overlay;
  }

  get #rows(): RowReader {
    this.#reader ??= new RowReader({
      view: this.#view,
      registry: this.#context.registry,
      base: this.#draft.base,
      draft: this.#draft,
    });
    return this.#reader;
  }

  get #rowDeletes(): RowDeletes {
    this.#deleter ??= new RowDeletes(this.#draft, this.#upkeep, this.#rows, this.#context.files);
    return this.#deleter;
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
        insert.tableId === op.tableId &&
        op.rowId >= insert.rowIdStart &&
        op.rowId < insert.rowIdStart + BigInt(insert.rowCount),
    );
  }

  /** Whether everything that `finish` needs is at hand. */
  get isReady(): boolean {
    return (
      this.#deletes.length === 0 &&
      this.#flushes.length === 0 &&
      this.#draft.indexOps.length === 0 &&
      this.#inserts.every((op) => !this.#isLarge(op) && this.#placeFromMemory(op))
    );
  }

  /** Whether what is read can change by other commits. Rows that the commit itself brings, in files too, cannot. */
  get readsState(): boolean {
    return (
      this.#deletes.length > 0 ||
      this.#flushes.length > 0 ||
      this.#draft.indexOps.some(({ kind }) => kind !== "add_file") ||
      !this.#inserts.every((op) => this.#placeFromMemory(op))
    );
  }

  /** Whether it waits for the store or for data files, and not only between slices of its own work. */
  get waitsForOthers(): boolean {
    return this.readsState || this.#draft.indexOps.some((op) => op.kind === "add_file" && op.entries === "scoped-read");
  }

  /** Whether its entries are many: they are then made in slices, and once only. */
  #isLarge(op: InsertOp): boolean {
    return op.rowCount >= largeCommitEntries && this.#upkeep.of(op.tableId).length > 0;
  }

  /** Finds out under which schema version an insert goes, and what is recorded for it, if that is remembered. */
  #placeFromMemory(op: InsertOp): boolean {
    const { registry } = this.#context;
    const version = this.#newVersion(op.tableId) ?? registry.knownVersion(op.tableId);
    const recorded = version === undefined ? undefined : registry.knownSchema(op.tableId, version);
    if (version === undefined || recorded === undefined) return false;
    this.#place(op, version, recorded);
    return true;
  }

  async #placeFromStore(op: InsertOp): Promise<void> {
    const { registry } = this.#context;
    const fallback = this.#draft.base.head.schemaVersion;
    const version = this.#newVersion(op.tableId) ?? (await registry.version(this.#view, op.tableId, fallback));
    this.#place(op, version, await registry.schema(this.#view, op.tableId, version));
  }

  #place(op: InsertOp, version: bigint, recorded: RegisteredSchema | null): void {
    if (op.schemaVersion !== undefined && op.schemaVersion !== version) {
      throw new InvalidArgumentError(
        `rows.schemaVersion is ${op.schemaVersion}, and table ${op.tableId} is at version ${version}`,
        { remedy: "Encode the rows with the table's current columns, and name its current schema version." },
      );
    }
    this.#places.set(op, { version, recorded });
  }

  /** The schema version that this commit gives a table, if it changes the table's schema. */
  #newVersion(tableId: bigint): bigint | undefined {
    const { changes, base } = this.#draft;
    return changes.schemaChangedIds.includes(tableId) ? base.head.schemaVersion + 1n : undefined;
  }

  async read(): Promise<void> {
    for (const op of this.#inserts) if (!this.#placeFromMemory(op)) await this.#placeFromStore(op);
    const rows = this.#rows;
    const deletes = this.#rowDeletes;
    for (const op of this.#deletes) await deletes.read(this.#view, op);
    for (const op of this.#flushes) await this.#drains.read(this.#view, op);
    for (const op of this.#draft.indexOps) {
      if (op.kind === "create_index") await this.#backfillInline(op);
    }
    const files = new FileUpkeep({
      draft: this.#draft,
      upkeep: this.#upkeep,
      files: this.#context.files,
      view: this.#view,
      rows,
      deletes,
    });
    await files.run();
    for (const op of this.#inserts) if (this.#isLarge(op)) await this.#indexLargeInsert(op);
    await deletes.removeFileEntries(files);
  }

  /** Entries of a new index for the inline rows that were live before this commit and that it does not delete. */
  async #backfillInline(op: CreateIndexOp): Promise<void> {
    const builder = this.#upkeep.of(op.tableId).find(({ indexId }) => indexId === op.indexId);
    if (builder === undefined) return;
    const deleted = new Set(this.#deletes.filter(({ tableId }) => tableId === op.tableId).map(({ rowId }) => rowId));
    const tombstones = await readTombstones(this.#view, op.tableId);
    let entries = 0;
    for await (const chunk of scanChunks(this.#view, op.tableId)) {
      const rows: number[] = [];
      for (let offset = 0; offset < chunk.rowCount; offset++) {
        const rowId = chunk.rowIdStart + BigInt(offset);
        if (!deleted.has(rowId) && endOf(tombstones, rowId, chunk.beginSnapshot) === undefined) rows.push(offset);
      }
      if (rows.length === 0) continue;
      entries += rows.length;
      checkEntryCount(entries);
      const vectors = await this.#rows.columns(op.tableId, chunk, IndexUpkeep.columnsOf([builder]));
      builder.addRows(vectors, denseRowIds(chunk.rowIdStart, chunk.rowCount), Uint32Array.from(rows));
    }
  }

  /** Encodes the commit. Nothing is read any more, so that a small commit is staged in one go. */
  finish(): StagedCommit {
    const writes = new WriteSet();
    const sequence = new ChunkSequence();
    for (const op of this.#inserts) {
      const insert = this.#settle(op, writes);
      stageInsert(insert, this.#draft.snapshotId, sequence, writes);
      if (!this.#isLarge(op)) this.#indexInsert(insert);
    }
    this.#drains.stage(this.#deleter, writes);
    this.#deleter?.stage(this.#draft.snapshotId, writes);
    const indexChanges = this.#upkeep.changes();
    checkCommitSize(indexChanges);
    const { changes } = this.#draft;
    if (this.#info.tellsDuckLake === true) widenColumnBounds(this.#draft);
    const info = { ...this.#info, inlinesAnew: this.#recordedSchemas.length > 0 };
    const state = stageCatalogRecords(this.#draft, info, writes);
    const versions = changes.schemaChangedIds.map((tableId) => [tableId, state.head.schemaVersion] as const);
    const facts: InlineFacts = { versions, schemas: this.#recordedSchemas };
    return { after: new Tip(state, this.#base, changes), changes, indexChanges, writes, facts };
  }

  #settle(op: InsertOp, writes: WriteSet): SettledInsert {
    const insert = this.#settled(op);
    const { version, recorded } = this.#placeOf(op);
    stageSchema(op.tableId, version, recorded, op.schema, writes);
    if (recorded === null) this.#recordedSchemas.push([op.tableId, version, op.schema]);
    return insert;
  }

  #settled(op: InsertOp): SettledInsert {
    const { version, recorded } = this.#placeOf(op);
    this.#refuseOutdatedColumns(op);
    return { op, schemaVersion: version, schema: recorded ?? op.schema, dead: this.#deadOffsets.get(op) ?? new Set() };
  }

  #placeOf(op: InsertOp): Place {
    const place = this.#places.get(op);
    if (place === undefined) throw new Error("an insert was staged before its schema was read");
    return place;
  }

  #indexInsert(insert: SettledInsert): void {
    const { op, dead } = insert;
    const builders = this.#upkeep.of(op.tableId);
    if (builders.length === 0 || dead.size === op.rowCount) return;
    const vectors = this.#vectorsOf(insert, builders);
    const rowIds = denseRowIds(op.rowIdStart, op.rowCount);
    for (const builder of builders) builder.addRows(vectors, rowIds, aliveRows(insert));
  }

  async #indexLargeInsert(op: InsertOp): Promise<void> {
    const insert = this.#settled(op);
    const derive = async (builders: readonly EntryBuilder[]): Promise<void> => {
      const vectors = this.#vectorsOf(insert, builders);
      const rowIds = denseRowIds(op.rowIdStart, op.rowCount);
      const alive = aliveRows(insert);
      for (const builder of builders)
        await inSlices(op.rowCount, alive, (slice) => builder.addRows(vectors, rowIds, slice));
    };
    const builders = this.#upkeep.of(op.tableId);
    if (insert.dead.size === op.rowCount) return;
    // Which rows die may differ from one run of the closure to the next.
    if (insert.dead.size > 0) {
      await derive(builders);
      return;
    }
    const { tableId, rowIdStart, rowCount: count } = op;
    // A stored chunk is the caller's own buffer.
    const unchanged = op.schemaVersion === undefined ? always : sameBytes([op.body]);
    const rows = { tableId, rowIdStart, count, origin: [op.body, insert.schema], unchanged };
    await addOnce(this.#draft, builders, rows, derive);
  }

  #vectorsOf({ op, schema }: SettledInsert, builders: readonly EntryBuilder[]): Map<bigint, ColumnVector> {
    const columns = IndexUpkeep.columnsOf(builders).map((columnId) => {
      const column = this.#draft.get("column", op.tableId, columnId);
      const name = column?.columnName;
      if (column === undefined || !schema.parsed.fields.some((field) => field.name === name)) {
        throw new InvalidArgumentError(`the inlined rows lack an indexed column of table ${op.tableId}`, {
          remedy: "Insert rows after the table's columns were changed, not before, and name every indexed column.",
        });
      }
      return { columnId, name, columnType: column.columnType, initialDefault: column.initialDefault };
    });
    return decodeChunk(schema.parsed, op.parts ?? decodeBody(op.body, op.rowCount), columns);
  }

  /** Rows are encoded when their verb runs. Columns that changed afterwards in the same commit would not match their names. */
  #refuseOutdatedColumns(op: InsertOp): void {
    if (!this.#draft.changes.schemaChangedIds.includes(op.tableId)) return;
    const { columns } = inlineShape(this.#draft, op.tableId);
    const fields = op.schema.parsed.fields;
    if (fields.length === columns.length && fields.every((field, i) => field.name === columns[i]?.name)) return;
    throw new ConstraintError(
      `rows were inlined into table ${op.tableId} before its columns changed in the same commit`,
      { remedy: "Change the columns first, then insert." },
    );
  }
}

/** Positions of a chunk's rows that outlive the commit; `undefined` for all. */
function aliveRows({ op, dead }: SettledInsert): Uint32Array | undefined {
  if (dead.size === 0) return undefined;
  return Uint32Array.from({ length: op.rowCount }, (_, i) => i).filter((i) => !dead.has(i));
}
