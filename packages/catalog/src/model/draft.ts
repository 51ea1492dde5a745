import {
  type EntityValue,
  type FileColumnStatsValue,
  type GcFileValue,
  type LooseRowValue,
  type SnapshotValue,
  ConstraintError,
  NotFoundError,
  entityMessages,
  equalValue,
} from "@moraine/codec";
import type { Change } from "./change.js";
import { ChangeSet } from "./changes.js";
import { type EntityChange, type StateKind, compareIds, diffOrder } from "./entities.js";
import { largestRowId } from "./limits.js";
import { CatalogState, ContentReader, type GcFileChange } from "./state.js";

/** Work beside the entities that a verb leaves for the engine: inline records, index entries. The engine knows the forms. */
export interface StagedOperation {
  readonly kind: string;
}

export interface DraftOptions<Memory = undefined> {
  /** Makes the uuid of a new schema, table or view. */
  readonly newUuid: () => string;
  /** What the commit keeps from one draft to the next, when its closure runs again. */
  readonly memory?: Memory;
}

/** A point to return to. Valid for the draft that made it, until the draft goes back behind it. */
export interface Savepoint {
  readonly steps: number;
  readonly recorded: number;
  readonly fileColumnStats: number;
  readonly inlineOps: number;
  readonly indexOps: number;
  readonly nextCatalogId: bigint;
  readonly nextFileId: bigint;
}

/** One mutation, kept so that it can be undone and so that the net change can be told. */
type Step =
  | {
      readonly [K in StateKind]: {
        readonly kind: K;
        readonly ids: readonly bigint[];
        readonly before: EntityValue[K] | undefined;
      };
    }[StateKind]
  | { readonly kind: "gc_file"; readonly dataFileId: bigint; readonly before: GcFileValue | undefined };

/**
 * The state in which one commit's verbs work: reads see the commit's own writes, and nothing is visible outside.
 *
 * Every mutation is appended to a list with what stood there before. Undoing is walking the list backwards, and the
 * net change of an entity is its first `before` against what stands there now, so several mutations of one entity
 * collapse and what is created and removed again leaves nothing.
 */
export class Draft<
  InlineOp extends StagedOperation = StagedOperation,
  IndexOp extends StagedOperation = StagedOperation,
  Memory = unknown,
> extends ContentReader {
  readonly base: CatalogState;
  readonly memory: Memory | undefined;
  /** The snapshot that this commit makes if it lands. */
  readonly snapshotId: bigint;
  readonly inlineOps: InlineOp[] = [];
  readonly indexOps: IndexOp[] = [];
  readonly #givenUuids: string[] = [];
  readonly #newUuid: () => string;
  readonly #steps: Step[] = [];
  readonly #recorded: Change[] = [];
  readonly #fileColumnStats: FileColumnStatsValue[] = [];
  #nextCatalogId: bigint;
  #nextFileId: bigint;
  /** Summaries of the lists above, asked for several times a commit; dropped by whatever adds to their list. */
  #netChanges: readonly EntityChange[] | undefined;
  #changeSet: ChangeSet | undefined;

  constructor(base: CatalogState, options: DraftOptions<Memory>) {
    super(base.cloneContent());
    this.base = base;
    this.memory = options.memory;
    this.snapshotId = base.head.snapshotId + 1n;
    this.#newUuid = options.newUuid;
    this.#nextCatalogId = base.head.nextCatalogId;
    this.#nextFileId = base.head.nextFileId;
  }

  put<K extends StateKind>(kind: K, ids: readonly bigint[], value: EntityValue[K]): void {
    this.#step(kind, ids, this.content.set(kind, ids, value));
  }

  /** Removes a live entity; one that is not there is the caller's mistake. */
  remove(kind: StateKind, ids: readonly bigint[]): void {
    const before = this.content.set(kind, ids, undefined);
    if (before === undefined) throw new NotFoundError(`${kind} ${ids.join("/")} is not live`);
    this.#step(kind, ids, before);
  }

  putGcFile(value: GcFileValue): void {
    this.#steps.push({ kind: "gc_file", dataFileId: value.dataFileId, before: this.content.putGcFile(value) });
  }

  removeGcFile(dataFileId: bigint): void {
    this.#steps.push({ kind: "gc_file", dataFileId, before: this.content.removeGcFile(dataFileId) });
  }

  /** Statistics of one column of one file. They are only ever added, and never held in memory after the commit. */
  addFileColumnStats(value: FileColumnStatsValue): void {
    this.#fileColumnStats.push(value);
  }

  /** Notes what a verb did, for the text, the class and the conflicts of the commit. */
  record(change: Change): void {
    this.#recorded.push(change);
    this.#changeSet = undefined;
  }

  newUuid(): string {
    return this.#givenUuids.shift() ?? this.#newUuid();
  }

  /** Has the next uuids be these, in order. */
  takeUuids(uuids: readonly string[]): void {
    this.#givenUuids.push(...uuids);
  }

  allocateCatalogId(): bigint {
    return this.#nextCatalogId++;
  }

  allocateFileId(): bigint {
    return this.#nextFileId++;
  }

  get nextCatalogId(): bigint {
    return this.#nextCatalogId;
  }

  get nextFileId(): bigint {
    return this.#nextFileId;
  }

  tableStats(tableId: bigint): EntityValue["table_stats"] {
    return this.get("table_stats", tableId) ?? { tableId, recordCount: 0n, nextRowId: 0n, fileSizeBytes: 0n };
  }

  /** Takes `count` consecutive row ids and counts the rows in. Gives the first id. */
  addRows(tableId: bigint, count: bigint, fileSizeBytes: bigint): bigint {
    const stats = this.tableStats(tableId);
    if (stats.nextRowId + count - 1n > largestRowId) {
      throw new ConstraintError(`table ${tableId} has no room for ${count} more row ids`, {
        remedy: "Copy the table's rows to a new table.",
      });
    }
    this.put("table_stats", [tableId], {
      ...stats,
      recordCount: stats.recordCount + count,
      nextRowId: stats.nextRowId + count,
      fileSizeBytes: stats.fileSizeBytes + fileSizeBytes,
    });
    return stats.nextRowId;
  }

  savepoint(): Savepoint {
    return {
      steps: this.#steps.length,
      recorded: this.#recorded.length,
      fileColumnStats: this.#fileColumnStats.length,
      inlineOps: this.inlineOps.length,
      indexOps: this.indexOps.length,
      nextCatalogId: this.#nextCatalogId,
      nextFileId: this.#nextFileId,
    };
  }

  rollback(savepoint: Savepoint): void {
    for (let at = this.#steps.length - 1; at >= savepoint.steps; at--) this.#undo(this.#steps[at] as Step);
    this.#steps.length = savepoint.steps;
    this.#recorded.length = savepoint.recorded;
    this.#netChanges = undefined;
    this.#changeSet = undefined;
    this.#fileColumnStats.length = savepoint.fileColumnStats;
    this.inlineOps.length = savepoint.inlineOps;
    this.indexOps.length = savepoint.indexOps;
    this.#nextCatalogId = savepoint.nextCatalogId;
    this.#nextFileId = savepoint.nextFileId;
  }

  /** Runs `verb`; when it throws, the draft is as it was before. */
  atomically<T>(verb: () => T): T {
    const savepoint = this.savepoint();
    try {
      return verb();
    } catch (error) {
      this.rollback(savepoint);
      throw error;
    }
  }

  get changes(): ChangeSet {
    this.#changeSet ??= ChangeSet.of(this.#recorded);
    return this.#changeSet;
  }

  /** Whether the commit makes a snapshot: any recorded operation does, options and scheduled deletions alone do not. */
  get mintsSnapshot(): boolean {
    return this.#recorded.length > 0;
  }

  /** True when the commit would write nothing at all. */
  get isEmpty(): boolean {
    return (
      this.#recorded.length === 0 &&
      this.inlineOps.length === 0 &&
      this.indexOps.length === 0 &&
      this.entityChanges().length === 0 &&
      this.gcChanges().length === 0
    );
  }

  get schemaBump(): boolean {
    return this.changes.schemaChanged;
  }

  get schemaVersionTables(): bigint[] {
    return this.changes.schemaChangedIds;
  }

  get deletedDataFileIds(): bigint[] {
    return this.changes.deletedDataFileIds;
  }

  /** Statistics of the files that are live at the end: a file that came and went within the commit leaves none. */
  get newFileColumnStats(): FileColumnStatsValue[] {
    return this.#fileColumnStats.filter(
      (stats) => this.get("data_file", stats.tableId, stats.dataFileId) !== undefined,
    );
  }

  /** Net changes, kind by kind in the order of writing, by ascending ids within a kind. */
  entityChanges(): readonly EntityChange[] {
    this.#netChanges ??= this.#sumUp();
    return this.#netChanges;
  }

  gcChanges(): GcFileChange[] {
    const seen = new Map<bigint, GcFileChange>();
    for (const step of this.#steps) {
      if (step.kind !== "gc_file" || seen.has(step.dataFileId)) continue;
      seen.set(step.dataFileId, {
        dataFileId: step.dataFileId,
        before: step.before,
        after: this.content.gcFile(step.dataFileId),
      });
    }
    return [...seen.values()]
      .filter((change) => change.before !== change.after)
      .sort((a, b) => (a.dataFileId < b.dataFileId ? -1 : 1));
  }

  /** The state once this commit has landed under that snapshot record and batch number. The draft is done with then. */
  toState(
    head: SnapshotValue,
    batchSeq: bigint,
    looseRows: readonly LooseRowValue[] = this.base.looseRows,
  ): CatalogState {
    return CatalogState.ofContent(this.content.clone(), head, batchSeq, looseRows);
  }

  #step<K extends StateKind>(kind: K, ids: readonly bigint[], before: EntityValue[K] | undefined): void {
    this.#steps.push({ kind, ids, before } as Step);
    this.#netChanges = undefined;
  }

  #sumUp(): EntityChange[] {
    const seen = new Map<StateKind, Map<string, EntityChange>>();
    for (const step of this.#steps) {
      if (step.kind === "gc_file") continue;
      const ofKind = seen.get(step.kind) ?? new Map<string, EntityChange>();
      seen.set(step.kind, ofKind);
      const key = step.ids.join("/");
      if (!ofKind.has(key)) {
        ofKind.set(key, { ...step, after: this.content.get(step.kind, step.ids) } as EntityChange);
      }
    }
    return diffOrder.flatMap((kind) => {
      const changes = [...(seen.get(kind)?.values() ?? [])].filter(isRealChange);
      return changes.sort((a, b) => compareIds(a.ids, b.ids));
    });
  }

  #undo(step: Step): void {
    if (step.kind !== "gc_file") this.content.set(step.kind, step.ids, step.before);
    else if (step.before === undefined) this.content.removeGcFile(step.dataFileId);
    else this.content.putGcFile(step.before);
  }
}

function isRealChange(change: EntityChange): boolean {
  if (change.before === undefined || change.after === undefined) return change.before !== change.after;
  return change.before !== change.after && !sameValue(change.kind, change.before, change.after);
}

function sameValue<K extends StateKind>(kind: K, a: EntityValue[StateKind], b: EntityValue[StateKind]): boolean {
  return equalValue(entityMessages[kind], a as EntityValue[K], b as EntityValue[K]);
}
